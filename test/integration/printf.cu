// printf with every format, in order within a thread.
// RUN: %regrain -O2 --offload-arch=cpu %s -o %t
// RUN: %t | FileCheck %s
// RUN: env REGRAIN_CPU_MODE=coroutine %t | FileCheck %s
#include <cstdio>

__global__ void formats(const char *text, long long big, void *p) {
  // CHECK: int -5 +7 00042 [   9] [9   ] 10
  int n = printf("int %d %+i %05d [%4d] [%-4d] %.*d\n", -5, 7, 42, 9, 9, 2, 10);
  // CHECK-NEXT: six 6
  printf("six %d\n", n > 0 ? 6 : n);
  // CHECK-NEXT: unsigned 4294967295 ff FF 0xff 17 0x0F
  printf("unsigned %u %x %X %#x %o 0x%02X\n", 0xffffffffu, 255, 255, 255, 15, 15);
  // CHECK-NEXT: long -1099511627776 18446744073709551615 100000000000 -3 200
  printf("long %lld %llu %lx %hd %hhu\n", big, ~0ULL, 0x100000000000L, short(-3), (unsigned char)200);
  // CHECK-NEXT: float 3.141593 2.50 1.000000e-03 0.001 1E+10 [   1.5] [1.5   ] +0.5
  printf("float %f %.2f %e %g %G [%6.1f] [%-6.1f] %+.1f\n", 3.14159265f, 2.5, 1e-3, 1e-3, 1e10, 1.5, 1.5f, 0.5);
  // CHECK-NEXT: special inf -inf nan 0x1.8p+1
  printf("special %f %f %f %a\n", 1.0 / 0.0 * big * big, -1e308 * 10 * big * big, __longlong_as_double(0x7ff8000000000000LL), 3.0);
  // CHECK-NEXT: text hello [  hi] [lo  ] x % constant
  printf("text %s [%4s] [%-4s] %c %% %s\n", text, "hi", "lo", 'x', "constant");
  // CHECK-NEXT: width [    3] [3    ] [  1.25]
  printf("width [%*d] [%*d] [%*.*f]\n", 5, 3, -5, 3, 6, 2, 1.25);
  // CHECK-NEXT: pointer 0x{{[0-9a-f]+}} same 1
  printf("pointer %p same %d\n", p, p == (void *)text);
  // CHECK-NEXT: size 12 -4
  printf("size %zu %td\n", size_t(12), ptrdiff_t(-4));
  // CHECK-NEXT: no arguments
  printf("no arguments\n");
  // CHECK-NEXT: many 1 2.5 3 4.5 5 6.5 7 8 9 10
  printf("many %d %g %d %g %d %g %lld %d %d %d\n", 1, 2.5, 3, 4.5, 5, 6.5, 7LL, 8, 9, 10);
}

// CHECK-DAG: thread 0 of block 0
// CHECK-DAG: thread 1 of block 0
// CHECK-DAG: thread 0 of block 1
// CHECK-DAG: thread 1 of block 1
__global__ void threads() { printf("thread %d of block %d\n", threadIdx.x, blockIdx.x); }

int main() {
  char *text;
  cudaMallocManaged(&text, 16);
  snprintf(text, 16, "hello");
  formats<<<1, 1>>>(text, -(1LL << 40), text);
  cudaDeviceSynchronize();
  threads<<<2, 2>>>();
  cudaDeviceSynchronize();
  // CHECK: done
  printf("done\n");
  return cudaGetLastError() != cudaSuccess;
}
