// What test programs of the device share: checks, and launches of "add".
#pragma once
#include "images.h"
#include <cstdio>

static int failures;
#define CHECK(c) do { if (!(c)) { std::printf("%s:%d: failed: %s\n", __FILE__, __LINE__, #c); failures++; } } while (0)
#define OK(c) \
  do { cudaError_t err = (c); if (err) { std::printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #c, \
      cudaGetErrorString(err)); failures++; } } while (0)
#define IS(c, error) \
  do { cudaError_t err = (c); if (err != (error)) { std::printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #c, \
      cudaGetErrorName(err)); failures++; } } while (0)
template <class T> static void **out(T **p) { return reinterpret_cast<void **>(p); }
static const char *name(cudaError_t error) { return cudaGetErrorName(error); }

// Arguments of "add".
struct Args {
  void *pointer;
  int value = -7;
  double real = 0;
  short small = 11;
  void *list[4] = {&pointer, &value, &real, &small};
  explicit Args(void *p = nullptr) : pointer(p) {}
};
static cudaError_t launch(int stub, Args &args, cudaStream_t stream = nullptr) {
  return cudaLaunchKernel(stubs + stub, 2, 32, args.list, 0, stream);
}

// The end of a program: says how it went.
static int verdict() {
  if (failures) std::printf("%d failed\n", failures); else std::printf("passed\n");
  return failures != 0;
}
