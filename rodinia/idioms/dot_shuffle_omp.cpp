// The dot product in single precision, as BLAS has it.
#include "twins.h"

float twin::dot_shuffle(const float *a, const float *b, int count) {
  float sum = 0.0f;
#pragma omp parallel for simd reduction(+ : sum) schedule(static)
  for (int i = 0; i < count; ++i)
    sum += a[i] * b[i];
  return sum;
}
