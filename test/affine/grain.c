// For processors alone launches keep the grain that their schedule gave, unless another is asked for; for GPUs there is a search.
// REQUIRES: cuda-toolkit
// RUN: %regrain -O2 --offload-arch=cpu -fregrain-parallelize -Rpass=regrain -Rpass=regrain-parallelize -c %s -o %t.o 2>&1 \
// RUN:     | FileCheck %s --check-prefix=KEPT
// RUN: %regrain -O2 --offload-arch=cpu -fregrain-parallelize -fregrain-alternatives=threads=1,2 -Rpass=regrain -c %s -o %t.o 2>&1 \
// RUN:     | FileCheck %s --check-prefix=ASKED
// RUN: %regrain -O2 --offload-arch=sm_80 -fregrain-parallelize -fregrain-search-budget=none -Rpass=regrain -c %s -o %t.o 2>&1 \
// RUN:     | FileCheck %s --check-prefix=GPU

// KEPT-NOT: is chosen
// KEPT: [[@LINE+5]]:{{.*}} remark: {{.*}} in parallel
// KEPT-NOT: is chosen
// ASKED: on cpu: grain {{.*}} is chosen by the model
// GPU: on sm_80: grain {{.*}} is chosen by the model
void add(int n, float *restrict a, const float *restrict b) {
  for (int i = 0; i < n; i++)
    a[i] += 2.0f * b[i];
}
