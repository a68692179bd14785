#include "grains.h"
#include <cstdio>
#include <cuda_runtime.h>
int main() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) return puts("no device"), 2;
  float result = run(64);
  printf("sum %g\n", result);
  return result == 2016 ? 0 : 1;
}
