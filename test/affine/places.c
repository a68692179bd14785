// What is said of launches that stand for a loop is said of the loop.
// REQUIRES: cuda-toolkit
// RUN: %regrain -O2 --offload-arch=cpu,sm_80 -fregrain-parallelize -Rpass=regrain -Rpass-analysis=regrain -c %s -o %t.o 2>&1 | FileCheck %s --implicit-check-not=launches.cu
// RUN: %regrain -O2 -g --offload-arch=cpu -fregrain-parallelize -c %s -o %t.g.o && llvm-dwarfdump --debug-line %t.g.o | FileCheck %s --check-prefix=LINES --implicit-check-not=launches.cu
// LINES: places.c
// RUN: %regrain -O2 -g --offload-arch=cpu -fregrain-parallelize -Rpass=regrain-parallelize -c %s -o %t.g.o 2>&1 | FileCheck %s --check-prefix=DEBUG
// DEBUG-COUNT-2: loop runs in parallel

void scale(float *restrict a, const float *restrict b, int n) {
  // CHECK-DAG: {{^}}{{.*}}places.c:[[@LINE+4]]:1: remark: loop runs in parallel: launches of 1 kernel stand for it
  // CHECK-DAG: {{^}}{{.*}}places.c:[[@LINE+3]]:1: remark: kernel '{{.*}}scale{{.*}}: threads go in rows of
  // CHECK-DAG: {{^}}{{.*}}places.c:[[@LINE+2]]:1: remark: kernel '{{.*}}scale{{.*}} on cpu: grain
  // CHECK-DAG: {{^}}{{.*}}places.c:[[@LINE+1]]:1: remark: kernel '{{.*}}scale{{.*}} on sm_80: grain
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      a[i * n + j] = 2 * b[i * n + j];
}

// A file of another name, as tools that write C name what they read.
// CHECK-DAG: {{^}}a "name".dsl:41:1: remark: kernel '{{.*}}raise{{.*}}: threads go in rows of
void raise(float *restrict a, const float *restrict b, int n) {
#line 41 "a \"name\".dsl"
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      a[i * n + j] = 1 + b[i * n + j];
}
