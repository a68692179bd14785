// Leaks, suppressions, files, limits and exit statuses; what a program without lines says.

// REQUIRES: cuda-toolkit
// RUN: %regrain --offload-arch=cpu -g -O2 -fregrain-check=all %s -o %t
// RUN: not %t 2>&1 | FileCheck %s
// RUN: %regrain-nvcc --offload-arch=cpu -O2 -fregrain-check=all %s -o %t.plain && not %t.plain 2>&1 | FileCheck %s --check-prefix=PLAIN
// RUN: env REGRAIN_CHECK_EXIT=0 %t 2>&1 | FileCheck %s
// RUN: env REGRAIN_CHECK_REPORTS=1 REGRAIN_CHECK_EXIT=0 REGRAIN_CHECK_JSON=%t.json %t 2>&1 | FileCheck %s --check-prefix=FIRST
// RUN: %python -c "import json, sys; print([(r['kind'], r['line'], r.get('thread')) for r in map(json.loads, open(sys.argv[1]))])" %t.json | FileCheck %s --check-prefix=JSON
// RUN: echo "memory reports.cu:28" > %t.known && echo "leak reports.cu:32" >> %t.known
// RUN: env REGRAIN_CHECK_SUPPRESS=%t.known REGRAIN_CHECK_EXIT=0 %t 2>&1 | FileCheck %s --check-prefix=KNOWN
// RUN: echo wrong > %t.wrong && env REGRAIN_CHECK_SUPPRESS=%t.wrong REGRAIN_CHECK_EXIT=0 %t 2>&1 | FileCheck %s --check-prefix=WRONG
// RUN: env REGRAIN_CHECK_REPORTS=many REGRAIN_CHECK_EXIT=0 REGRAIN_CHECK_JSON=no/such/f %t 2>&1 | FileCheck %s --check-prefix=VALUES

// JSON: [('memory', 28, [4, 0, 0]), ('leak', 32, None), ('leak', 33, None)]
// KNOWN-NOT: cu:28
// KNOWN: ========= Leaked 12 bytes
// KNOWN: SUMMARY: 1 error{{$}}
// WRONG: regrain runtime: warning: REGRAIN_CHECK_SUPPRESS: expected 'kind file:line', got 'wrong'
// VALUES-DAG: regrain runtime: warning: expected REGRAIN_CHECK_REPORTS to be a number, got 'many'
// VALUES-DAG: regrain runtime: warning: REGRAIN_CHECK_JSON: no/such/f: No such file or directory
// FIRST: Invalid __global__ write
// FIRST-NOT: Leaked
// FIRST: 2 further errors are not shown (REGRAIN_CHECK_REPORTS)
// FIRST-NEXT: SUMMARY: 3 errors
#include <cstdio>
__global__ void k(int *p) {
  p[threadIdx.x] = 1;
}
int main() {
  int *p, *q, *kept;
  cudaMalloc(&p, 16);
  cudaMallocManaged(&q, 12);
  cudaMallocHost(&kept, 8);
  k<<<1, 5>>>(p);
  cudaFreeHost(kept);
  return cudaDeviceSynchronize();
}
// CHECK: Invalid __global__ write of size 4 bytes
// CHECK: right behind an allocation of 16 bytes made by cudaMalloc at {{.*}}reports.cu:32
// CHECK: ========= Leaked 16 bytes at 0x{{.*}} made by cudaMalloc at {{.*}}reports.cu:32
// CHECK-NEXT: at main in {{.*}}reports.cu:32
// CHECK-NEXT: ========= Leaked 12 bytes at 0x{{.*}} made by cudaMallocManaged at {{.*}}reports.cu:33
// CHECK: SUMMARY: 3 errors
// PLAIN: Invalid __global__ write
// PLAIN-NEXT: at k(int*) in {{.*}}reports.cu:28:18
// PLAIN: made by cudaMalloc in main (compile with -g for its line)
