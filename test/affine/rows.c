// On processors what goes once through a box of memory goes along its rows; what is read again, has corners alone or short rows goes by smaller boxes.
// RUN: %regrain -O2 --offload-arch=cpu -fregrain-parallelize -c %s -o %t.o -fregrain-emit-cuda=%t.cu && FileCheck %s < %t.cu
// RUN: %regrain -O2 --offload-arch=cpu -fregrain-emulate=sm_80 -fregrain-parallelize -c %s -o %t.o -fregrain-emit-cuda=%t.cu && FileCheck %s --check-prefix=GPU < %t.cu

// CHECK: run_once_region0{{.*}}<<<{{.*}}, dim3(256, 1)>>>
// GPU: run_once_region0{{.*}}<<<{{.*}}, dim3(32, 8)>>>
void run_once(int n, double a[n][n], double b[n][n]) {
  for (int i = 1; i < n; i++)
    for (int j = 0; j < n; j++)
      a[i][j] += b[i][j] - b[i - 1][j];
}

// CHECK: corner_region0{{.*}}<<<{{.*}}, dim3(32, 8)>>>
void corner(int n, double a[n][n], double b[n][n]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < i; j++)
      a[i][j] += b[i][j];
}

// CHECK: few_region0{{.*}}<<<{{.*}}, dim3(32, 8)>>>
void few(int n, double a[n][36], double b[n][36]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < 36; j++)
      a[i][j] += b[i][j];
}

// CHECK: sums_region0{{.*}}<<<{{.*}}, dim3(32, 8)>>>
void sums(int n, double a[n][n], double b[n][n]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++)
        a[i][j] += b[k][j];
}

// Each statement has a box of its own, the last one all of a row.
// CHECK: ends_region0{{.*}}<<<{{.*}}, dim3(256, 1)>>>
void ends(int n, int m, double a[n][n], double b[n][n]) {
  for (int t = 0; t < m; t++) {
    for (int j = 0; j < n; j++)
      a[0][j] = t;
    for (int i = 1; i < n; i++)
      for (int j = 1; j < n; j++)
        a[i][j] += b[i][j] - b[i - 1][j];
    for (int i = 0; i < n - 1; i++)
      for (int j = 0; j < n - 1; j++)
        b[i][j] -= a[i + 1][j + 1] - a[i][j];
  }
}
