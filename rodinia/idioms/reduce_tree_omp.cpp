// The sum of an array.
#include "twins.h"

int twin::reduce_tree(const int *values, int count) {
  int sum = 0;
#pragma omp parallel for simd reduction(+ : sum) schedule(static)
  for (int i = 0; i < count; ++i)
    sum += values[i];
  return sum;
}
