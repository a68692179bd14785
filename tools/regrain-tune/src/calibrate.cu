// Measures what launches, blocks and iterations take on a device, and prints it: a name and a number on a line, nanoseconds unless said otherwise.
//
// The iterations are those of the relaxation of a row, a tile of which a thread goes through by pieces, as the compiler writes it for loops whose
// iterations wait for one another. Each figure is the least of several, what else goes on makes it larger.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <ctime>

// Tile and row of a piece; operations of an iteration as the compiler counts them.
constexpr long STEPS = 64, WIDTH = 4096, OPERATIONS = 7;
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

// Each block relaxes a row of its own, `steps` times.
static __global__ void relax(double *rows, long stride, long steps, long width, long piece) {
  double *a = rows + blockIdx.x * stride;
  for (long b1 = 1; b1 < width + steps; b1 += piece) {
    const long e1 = b1 + piece - 1;
    for (long t = 0; t < steps; t++) {
      const long first = b1 > t + 1 ? b1 : t + 1, last = e1 < t + width ? e1 : t + width;
      for (long x = first; x <= last; x++) {
        const long i = x - t;
        a[i] = 0.3 * (a[i - 1] + a[i + 1]) + 0.4 * a[i];
      }
    }
  }
}

// Each thread reads and writes its part of an array.
static __global__ void stream(double *a, long each) {
  const long first = (blockIdx.x * (long)blockDim.x + threadIdx.x) * each;
  for (long i = first; i < first + each; i++)
    a[i] = a[i] * 0.999;
}

// An iteration, in pieces of so many.
static double iteration(double *rows, long piece) {
  return least([&] { relax<<<1, 1>>>(rows, 0, STEPS, WIDTH, piece); }) / (STEPS * WIDTH);
}

// A launch of one block with nothing to do, and what one with a block for each worker takes longer than one with a block alone.
static double launch(double *rows, long stride, int workers) {
  constexpr int LAUNCHES = 200;
  const auto each = [&](int blocks, long steps) {
    return least([&] {
             for (int number = 0; number < LAUNCHES; number++)
               relax<<<blocks, 1>>>(rows, stride, steps, WIDTH, WIDTH);
           }) / LAUNCHES;
  };
  const double together = each(workers, 16) - each(1, 16);
  return each(1, 0) + (together > 0 ? together : 0);
}

static void bytes(double *memory) {
  for (long size : {16L << 10, 512L << 10, 16L << 20, 128L << 20}) {
    const long each = size / (long)sizeof(double);
    const long rounds = (8L << 20) / size + 1;
    const double time = least([&] {
      for (long round = 0; round < rounds; round++)
        stream<<<1, 1>>>(memory, each);
    });
    printf("byte %ld %g\n", size * 2, time / (rounds * size));
  }
}

int main() {
  int device, workers;
  check(cudaGetDevice(&device));
  check(cudaDeviceGetAttribute(&workers, cudaDevAttrMultiProcessorCount, device));
  const long stride = WIDTH + STEPS + 64;
  const size_t most = 128L << 20, wanted = stride * workers * sizeof(double);
  double *memory;
  check(cudaMalloc(&memory, most > wanted ? most : wanted));
  check(cudaMemset(memory, 0, most > wanted ? most : wanted));
  printf("workers %d\n", workers);
  printf("launch %g\n", launch(memory, stride, workers));
  const long blocks = 4000L * workers;
  printf("block %g\n", least([&] { relax<<<blocks, 1>>>(memory, 0, 0, 0, 1); }) * workers / blocks);
  for (long piece : {4L, 8L, 12L, 16L, 24L, 32L, 64L})
    printf("piece %ld %g\n", piece, iteration(memory, piece) / OPERATIONS);
  printf("alone %g\n", iteration(memory, STEPS + WIDTH) / OPERATIONS);
  bytes(memory);
  check(cudaFree(memory));
}
