// Virtual functions, function pointers, lambdas, recursion on the device.
// RUN: %regrain -O2 --offload-arch=cpu %s -o %t
// RUN: %t
// RUN: env REGRAIN_CPU_MODE=coroutine %t
#include "check.h"

struct Shape {
  __device__ virtual ~Shape() {}
  __device__ virtual float area() const = 0;
  __device__ virtual int sides() const { return 0; }
};
struct Square : Shape {
  float a;
  __device__ Square(float a) : a(a) {}
  __device__ float area() const override { return a * a; }
  __device__ int sides() const override { return 4; }
};
struct Circle : Shape {
  float r;
  __device__ Circle(float r) : r(r) {}
  __device__ float area() const override { return 3 * r * r; }
};
struct Named {
  __device__ virtual int name() const { return 1000; }
};
struct Both : Square, Named {
  __device__ Both() : Square(5) {}
  __device__ int name() const override { return 2000 + int(a); }
};

__global__ void shapes(float *out) {
  int t = threadIdx.x;
  Shape *s = t % 3 == 0 ? (Shape *)new Square(t) : t % 3 == 1 ? (Shape *)new Circle(t) : new Both;
  Named *n = t % 3 == 2 ? static_cast<Both *>(s) : new Named;
  out[t] = s->area() + s->sides() * 10000 + n->name() * 1e5f;
  delete s;
}

// A virtual call that reaches a barrier.
struct Step {
  __device__ virtual int run(int *s, int v) = 0;
};
struct Rotate : Step {
  __device__ int run(int *s, int v) override {
    s[threadIdx.x] = v;
    __syncthreads();
    int r = s[(threadIdx.x + 1) % blockDim.x];
    __syncthreads();
    return r;
  }
};
struct Twice : Step {
  __device__ int run(int *, int v) override { return v * 2; }
};
__global__ void steps(int *out) {
  __shared__ int s[64];
  Rotate rotate;
  Twice twice;
  Step *list[] = {&rotate, &twice, &rotate, &rotate};
  int v = threadIdx.x;
  for (Step *step : list)
    v = step->run(s, v);
  out[threadIdx.x] = v;
}

typedef int (*Function)(int);
__device__ int increment(int x) { return x + 1; }
__device__ int square(int x) { return x * x; }
__device__ Function table[] = {increment, square};
__device__ Function chosen = square;
__device__ int apply(Function f, int x) { return f(x); }

__global__ void pointers(int *out, Function f) {
  int t = threadIdx.x;
  Function local = t & 1 ? increment : square;
  out[t] = table[t % 2](t) + apply(chosen, t) * 100 + local(3) * 100000 + f(t);
}

__device__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
__device__ int is_odd(int n);
__device__ int is_even(int n) { return n == 0 ? 1 : is_odd(n - 1); }
__device__ int is_odd(int n) { return n == 0 ? 0 : is_even(n - 1); }
__device__ int ackermann(int m, int n) {
  return m == 0 ? n + 1 : ackermann(m - 1, n == 0 ? 1 : ackermann(m, n - 1));
}
__device__ __noinline__ int deep(int n) {
  volatile char frame[64];
  frame[n % 64] = char(n);
  return n == 0 ? 0 : deep(n - 1) + frame[n % 64] - char(n) + 1;
}

__global__ void recursion(int *out) {
  int t = threadIdx.x;
  out[t] = fibonacci(t % 12) + 1000 * is_even(t) + 10000 * ackermann(2, t % 4) + deep(500);
}

template <typename F> __device__ int twice(F f, int x) { return f(f(x)); }

__global__ void lambdas(int *out) {
  int t = threadIdx.x, calls = 0;
  auto add = [=](int x) { return x + t; };
  auto count = [&calls](int x) {
    ++calls;
    return x * 3;
  };
  Function plain = [](int x) { return x - 7; };
  out[t] = twice(add, 1) + 1000 * twice(count, t) + plain(calls);
}

int main() {
  OK(cudaDeviceSetLimit(cudaLimitStackSize, 1 << 16)); // for what calls itself
  float *f = managed<float>(64);
  int *out = managed<int>(64);
  shapes<<<1, 64>>>(f);
  finish_kernel();
  for (int t = 0; t < 64; ++t) {
    float want[] = {t * t + 40000 + 1e8f, 3.f * t * t + 1e8f, 25 + 40000 + 2005e5f};
    EXPECT_AT(t, f[t], want[t % 3]);
  }
  steps<<<1, 64>>>(out);
  finish_kernel();
  for (int t = 0; t < 64; ++t)
    EXPECT_AT(t, out[t], (t + 3) % 64 * 2);
  Function host_copy;
  OK(cudaMemcpyFromSymbol(&host_copy, chosen, sizeof host_copy));
  pointers<<<1, 64>>>(out, host_copy);
  finish_kernel();
  for (int t = 0; t < 64; ++t)
    EXPECT_AT(t, out[t], (t % 2 ? t * t : t + 1) + t * t * 100 + (t & 1 ? 4 : 9) * 100000 + t * t);
  recursion<<<1, 64>>>(out);
  finish_kernel();
  int fib[] = {0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89};
  for (int t = 0; t < 64; ++t)
    EXPECT_AT(t, out[t], fib[t % 12] + 1000 * !(t & 1) + 10000 * (2 * (t % 4) + 3) + 500);
  lambdas<<<1, 64>>>(out);
  finish_kernel();
  for (int t = 0; t < 64; ++t)
    EXPECT_AT(t, out[t], 1 + 2 * t + 9000 * t - 5);
  return result();
}
