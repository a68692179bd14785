// C++: templates, references, containers' memory.
// REQUIRES: cuda-toolkit
// RUN: %regrain -O2 --offload-arch=cpu -fregrain-parallelize -fregrain-parallelize-from=0 -Rpass=regrain-parallelize %s -o %t -lstdc++ \
// RUN:     2> %t.said && %t
// RUN: FileCheck %s < %t.said
// RUN: %regrain -O2 --offload-arch=cpu -fregrain-emulate=sm_80 -fregrain-parallelize -fregrain-parallelize-from=0 %s -o %t.sm -lstdc++ && %t.sm
#include <cstdio>
#include <vector>

// CHECK-DAG: templates.cpp:[[#@LINE+2]]:{{.*}}loop runs in parallel: launches of 1 kernel
template <typename T, int Step> __attribute__((noinline)) void scale(T *data, int n, T by) {
  for (int i = 0; i < n; i += Step)
    data[i] = data[i] * by + T(i);
}

// CHECK-DAG: templates.cpp:[[#@LINE+2]]:{{.*}}loop runs in parallel: launches of 1 kernel
template <typename T> void add(const T &n, const float *__restrict a, float *__restrict b) {
  for (T i = 0, end = n; i < end; ++i)
    b[i] += a[i];
}

int main() {
  const int n = 1000;
  std::vector<double> doubles(n, 1.5);
  std::vector<int> ints(n, 7);
  scale<double, 2>(doubles.data(), n, 3.0);
  scale<int, 3>(ints.data(), n, 5);
  std::vector<float> a(n), b(n);
  for (int i = 0; i < n; i++)
    a[i] = float(i), b[i] = 0.5f;
  add<std::size_t>(n, a.data(), b.data());
  int wrong = 0;
  for (int i = 0; i < n; i++) {
    wrong += doubles[i] != (i % 2 ? 1.5 : 4.5 + i);
    wrong += ints[i] != (i % 3 ? 7 : 35 + i);
    wrong += b[i] != float(i) + 0.5f;
  }
  std::printf("%d wrong\n", wrong);
  return wrong != 0;
}
