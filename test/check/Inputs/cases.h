// A program of cases: without an argument it runs itself once for each.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <string>

#define CHECKED(call)                                                        \
  do {                                                                       \
    if (cudaError_t error = (call)) fprintf(stderr, "%s\n", cudaGetErrorName(error)); \
  } while (0)

template <typename T> T *device(int count, const T *from = nullptr) {
  T *memory;
  CHECKED(cudaMalloc(&memory, count * sizeof(T)));
  if (from) CHECKED(cudaMemcpy(memory, from, count * sizeof(T), cudaMemcpyHostToDevice));
  return memory;
}
template <typename T> T *zeros(int count) {
  T *memory = device<T>(count);
  CHECKED(cudaMemset(memory, 0, count * sizeof(T)));
  return memory;
}

using Case = void (*)();
inline int run(int argc, char **argv, const Case *cases, int count) {
  if (argc > 1) {
    cases[atoi(argv[1]) - 1]();
    cudaDeviceSynchronize();
    return 0;
  }
  for (int i = 1; i <= count; ++i) {
    fprintf(stderr, "case %d\n", i);
    int status = std::system((std::string(argv[0]) + " " + std::to_string(i)).c_str());
    fprintf(stderr, "exit %d\n", status / 256);
  }
  return 0;
}
#define RUN(cases) \
  int main(int argc, char **argv) { return run(argc, argv, cases, sizeof(cases) / sizeof(*cases)); }
