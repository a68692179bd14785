// Measures what launches, blocks and iterations take on a device, and prints it: a name and a number on a line, nanoseconds unless said otherwise.
//
// The iterations are those of recurrences along a row, a tile of which a thread goes through by pieces, as the compiler writes it for loops whose
// iterations wait for one another: one with few operations that all wait, one with more of which few do. Each figure is the least of several, what
// else goes on makes it larger.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <ctime>

// Tile and row of a piece; operations of an iteration of both kinds as the compiler counts them.
constexpr long STEPS = 64, WIDTH = 4096, FEW = 7, MANY = 13;
constexpr int REPEATS = 9;

static void check(cudaError_t error) {
  if (error != cudaSuccess) {
    fprintf(stderr, "%s\n", cudaGetErrorString(error));
    exit(1);
  }
}

static double now() {
  timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  return 1e9 * at.tv_sec + at.tv_nsec;
}

template <typename Body> static double least(Body body) {
  double best = 1e300;
  for (int repeat = 0; repeat < REPEATS; repeat++) {
    double start = now();
    body();
    check(cudaDeviceSynchronize());
    double time = now() - start;
    best = time < best ? time : best;
  }
  check(cudaGetLastError());
  return best;
}

// An iteration of each kind; `b` is read alone.
struct Few {
  static __device__ void at(double *a, const double *, long i) { a[i] = 0.3 * (a[i - 1] + a[i + 1]) + 0.4 * a[i]; }
};

struct Many {
  static __device__ void at(double *a, const double *b, long i) {
    a[i] = 0.2 * ((a[i] + a[i + 1] + b[i - 1] + b[i] + b[i + 1]) + a[i - 1]);
  }
};

// Each block goes through a row of its own, `steps` times.
template <typename Kind> static __global__ void relax(double *rows, long stride, long steps, long width, long piece) {
  double *a = rows + blockIdx.x * stride;
  const double *b = rows + gridDim.x * stride;
  for (long b1 = 1; b1 < width + steps; b1 += piece) {
    const long e1 = b1 + piece - 1;
    for (long t = 0; t < steps; t++) {
      const long first = b1 > t + 1 ? b1 : t + 1, last = e1 < t + width ? e1 : t + width;
      for (long x = first; x <= last; x++)
        Kind::at(a, b, x - t);
    }
  }
}

// Operations each of which waits for the one before.
struct Add {
  static __device__ double next(double x, double y) { return x + y; }
};

struct Multiply {
  static __device__ double next(double x, double y) { return x * y; }
};

struct Divide {
  static __device__ double next(double x, double y) { return y / x; }
};

struct Other {
  static __device__ long next(long x, long y) { return (x ^ y) + y; }
};

template <typename Kind, typename Number> static __global__ void chain(Number *numbers, long count) {
  Number x = numbers[0];
  const Number y = numbers[1];
  for (long i = 0; i < count; i++)
    x = Kind::next(x, y);
  numbers[0] = x;
}

// Lines, one of each row, in an order of chance, each of which is known when the one before is there; all numbers are 0.
static __global__ void chase(long *a, long rows, long stride, long count) {
  long row = 0;
  for (long step = 0; step < count; step++)
    row = (5 * row + 1 + a[row * stride]) & (rows - 1);
  a[1] = row;
}

// Rows of so many iterations.
template <typename Kind> static void rows(double *memory, long operations) {
  const auto of = [&](long piece) { return least([&] { relax<Kind><<<1, 1>>>(memory, WIDTH + STEPS + 64, STEPS, WIDTH, piece); }) / (STEPS * WIDTH); };
  const double wait = of(STEPS + WIDTH);
  for (long piece : {4L, 6L, 8L, 12L, 16L, 24L, 32L, 48L, 64L})
    printf("row %ld %g %ld %g\n", operations, wait, piece, of(piece) * piece);
}

template <typename Kind, typename Number> static void wait(const char *name, double *memory, int operations) {
  constexpr long COUNT = 20000;
  const Number numbers[] = {1, 1};
  check(cudaMemcpy(memory, numbers, sizeof numbers, cudaMemcpyHostToDevice));
  printf("%s %g\n", name, least([&] { chain<Kind><<<1, 1>>>((Number *)memory, COUNT); }) / COUNT / operations);
}

// A launch of one block with nothing to do, and what one with a block for each worker takes longer than one with a block alone: of many pairs of few
// launches, one behind the other so that both have the machine as it is then, the difference that a quarter is below. What else goes on makes single
// ones larger or smaller.
static void launches(double *memory, long stride, int workers) {
  constexpr int LAUNCHES = 30, PAIRS = 60;
  const auto each = [&](int blocks, long steps) {
    double start = now();
    for (int number = 0; number < LAUNCHES; number++)
      relax<Few><<<blocks, 1>>>(memory, stride, steps, WIDTH, WIDTH);
    check(cudaDeviceSynchronize());
    return (now() - start) / LAUNCHES;
  };
  double start = 1e300, further[PAIRS];
  for (double &pair : further) {
    const double nothing = each(1, 0), alone = each(1, 16);
    start = nothing < start ? nothing : start;
    pair = each(workers, 16) - alone;
  }
  check(cudaGetLastError());
  std::sort(further, further + PAIRS);
  const double together = further[PAIRS / 4];
  printf("start %g\nlaunch %g\n", start, start + (together > 0 ? together : 0));
}

// A line that is waited for, of rows that are many lines apart.
static void lines(double *memory, long most) {
  check(cudaMemset(memory, 0, most * sizeof *memory));
  constexpr long STRIDE = 19 * 8, COUNT = 1L << 17;
  for (long rows = 256; rows * STRIDE <= most; rows *= 2)
    printf("line %ld %g\n", rows * 64, least([&] { chase<<<1, 1>>>((long *)memory, rows, STRIDE, COUNT); }) / COUNT);
}

int main() {
  int device, workers;
  check(cudaGetDevice(&device));
  check(cudaDeviceGetAttribute(&workers, cudaDevAttrMultiProcessorCount, device));
  const long stride = WIDTH + STEPS + 64;
  const long usual = 32L << 20, wanted = stride * (workers + 1);
  const long most = usual > wanted ? usual : wanted;
  double *memory;
  check(cudaMalloc(&memory, most * sizeof *memory));
  check(cudaMemset(memory, 0, most * sizeof *memory));
  printf("workers %d\n", workers);
  launches(memory, stride, workers);
  const long blocks = 4000L * workers;
  printf("block %g\n", least([&] { relax<Few><<<blocks, 1>>>(memory, 0, 0, 0, 1); }) * workers / blocks);
  rows<Few>(memory, FEW);
  rows<Many>(memory, MANY);
  wait<Add, double>("add", memory, 1);
  wait<Multiply, double>("multiply", memory, 1);
  wait<Divide, double>("divide", memory, 1);
  wait<Other, long>("other", memory, 2);
  lines(memory, most);
  check(cudaFree(memory));
}
