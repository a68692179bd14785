// Measures what launches, blocks and iterations take on a device, and prints it: a name and a number on a line, nanoseconds unless said otherwise.
//
// The iterations are those of recurrences along a row, a tile of which a thread goes through by pieces, as the compiler writes it for loops whose
// iterations wait for one another: with few operations, with more of which few wait, and with many that do. Each figure is the least of several, what
// else goes on makes it larger.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <ctime>

// Tile and row of a piece.
constexpr long STEPS = 64, WIDTH = 4096;
// Threads of a block that have a tile together, and their points; numbers of a line.
constexpr long THREADS = 256, POINTS = 9, LINE = 8;
constexpr int REPEATS = 5;

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

template <typename Body> static double once(Body body) {
  double start = now();
  body();
  check(cudaDeviceSynchronize());
  double time = now() - start;
  check(cudaGetLastError());
  return time;
}

template <typename Body> static double least(Body body) {
  double best = once(body);
  for (int repeat = 1; repeat < REPEATS; repeat++)
    best = std::min(best, once(body));
  return best;
}

// An iteration of each kind: its operations as the compiler counts them, those that wait for the one before, and the sums before the last product on the
// way from what the row before stored; `b` is read alone.
struct Few {
  static constexpr int OPERATIONS = 7, WAITING = 2, SUMS = 1;
  static __device__ void at(double *a, const double *, long i) { a[i] = 0.3 * (a[i - 1] + a[i + 1]) + 0.4 * a[i]; }
};

struct Many {
  static constexpr int OPERATIONS = 13, WAITING = 2, SUMS = 5;
  static __device__ void at(double *a, const double *b, long i) {
    a[i] = 0.2 * ((a[i] + a[i + 1] + b[i - 1] + b[i] + b[i + 1]) + a[i - 1]);
  }
};

struct Long {
  static constexpr int OPERATIONS = 11, WAITING = 5, SUMS = 3;
  static __device__ void at(double *a, const double *b, long i) { a[i] = 0.2 * (a[i] + a[i - 1] + a[i + 1] + b[i - 1] + b[i]); }
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

// A number that is stored and loaded again, which the compiler does not know: the stride is 0.
static __global__ void forward(double *a, long stride, double y, long count) {
  for (long i = 0; i < count; i++)
    a[i * stride] = a[i * stride] + y;
}

// The rows of an order of chance, each of which says which is next: their number has no other factors than 2 and 3.
static __global__ void link(long *a, long rows, long stride) {
  for (long row = 0; row < rows; row++)
    a[row * stride] = (13 * row + 1) % rows;
}

// Lines, one of each row, each of which is known when the one before is there. Several of an order side by side, as memory that is shared with others does
// not keep for long what nobody comes back to.
static __global__ void chase(long *a, long rows, long stride, long count) {
  constexpr int PLACES = 16;
  long row[PLACES], sum = 0;
  for (int place = 0; place < PLACES; place++)
    row[place] = place * (rows / PLACES);
  for (long step = 0; step < count; step++)
#pragma unroll
    for (int place = 0; place < PLACES; place++)
      row[place] = a[row[place] * stride];
  for (int place = 0; place < PLACES; place++)
    sum += row[place];
  a[1] = sum;
}

// Lines, one of each row, in order: nobody waits for one.
static __global__ void visit(double *a, long rows, long stride, long times) {
  for (long time = 0; time < times; time++)
    for (long row = 0; row < rows; row++)
      for (long i = 0; i < 8; i++)
        a[row * stride + i] = 0.5 * a[row * stride + i] + 1;
}

// A piece of each row, and then the next ones. What is done for a number is no less than in a tile, where each is computed alone.
static __global__ void advance(double *a, long rows, long stride, long pieces, long piece) {
  for (long at = 0; at < pieces * piece; at += piece)
    for (long row = 0; row < rows; row++) {
      double *from = a + row * stride + at, sum = 0;
      for (long i = 0; i < piece; i++) {
        sum = 0.5 * from[i] + sum;
        from[i] = sum;
      }
    }
}

// A number of each row.
static __global__ void touch(double *a, long rows, long stride, long times) {
  for (long time = 0; time < times; time++)
    for (long row = 0; row < rows; row++)
      a[row * stride] = 0.5 * a[row * stride] + 1;
}

// Steps of the threads of a block, which read what others of them stored in the one before; so many points of each thread. In the memory of the device
// neighbours are in lines of their own, as the points of a wave are.
template <bool CHIP> static __global__ void step(double *a, long steps, long points) {
  constexpr long APART = CHIP ? 1 : LINE;
  __shared__ double rows[CHIP ? 2 * THREADS * (POINTS + 1) : 1];
  double *memory = a;
  if constexpr (CHIP) {
    memory = rows;
    for (long i = threadIdx.x; i < 2 * THREADS * (points + 1); i += THREADS)
      rows[i] = a[i];
    __syncthreads();
  }
  for (long at = 0; at < steps; at++) {
    double *to = memory + (at & 1) * THREADS * (points + 1) * APART;
    const double *from = memory + (~at & 1) * THREADS * (points + 1) * APART;
    for (long i = threadIdx.x; i < THREADS * points; i += THREADS)
      to[i * APART] = 0.5 * from[(i + 1) * APART] + 1;
    __syncthreads();
  }
  if (CHIP)
    a[threadIdx.x] = memory[threadIdx.x];
}

// The threads of a block bring so many numbers to shared memory, part by part.
static __global__ void bring(double *a, long count) {
  constexpr long PART = 2 * THREADS * (POINTS + 1);
  __shared__ double part[PART];
  double sum = 0;
  for (long at = 0; at + PART <= count; at += PART) {
    for (long i = threadIdx.x; i < PART; i += THREADS)
      part[i] = a[at + i];
    __syncthreads();
    sum += part[(threadIdx.x * 7 + at) % PART];
    __syncthreads();
  }
  a[threadIdx.x] = sum;
}

// Rows of so many iterations; sums, products and stores keep the next ones waiting as stated.
template <typename Kind> static void rows(double *memory, double add, double multiply, double forward) {
  const double through = Kind::SUMS * add + multiply + forward;
  const auto of = [&](long piece) { return least([&] { relax<Kind><<<1, 1>>>(memory, WIDTH + STEPS + 64, STEPS, WIDTH, piece); }) / (STEPS * WIDTH); };
  const double wait = of(STEPS + WIDTH);
  for (long piece : {4L, 6L, 8L, 12L, 16L, 24L, 32L, 48L, 64L})
    printf("row %d %d %g %g %ld %g\n", Kind::OPERATIONS, Kind::WAITING, wait, through, piece, of(piece) * piece);
}

constexpr long COUNT = 20000;

template <typename Kind, typename Number> static double wait(const char *name, double *memory, int operations) {
  const Number numbers[] = {1, 1};
  check(cudaMemcpy(memory, numbers, sizeof numbers, cudaMemcpyHostToDevice));
  const double time = least([&] { chain<Kind><<<1, 1>>>((Number *)memory, COUNT); }) / COUNT / operations;
  printf("%s %g\n", name, time);
  return time;
}

// A launch of one block with nothing to do, and what one with a block for each worker takes longer than one with a block alone: of many pairs of some
// launches, one behind the other so that both have the machine as it is then, the difference that a quarter is below. What else goes on makes single
// ones larger or smaller. A block has no more to do than a small tile, or what it takes would hide the difference.
static void launches(double *memory, long stride, int workers) {
  constexpr int LAUNCHES = 100, PAIRS = 100, SMALL = 2;
  const auto each = [&](int blocks, long steps) {
    double start = now();
    for (int number = 0; number < LAUNCHES; number++)
      relax<Few><<<blocks, 1>>>(memory, stride, steps, WIDTH, WIDTH);
    check(cudaDeviceSynchronize());
    return (now() - start) / LAUNCHES;
  };
  double start = 1e300, further[PAIRS];
  for (double &pair : further) {
    const double nothing = each(1, 0), alone = each(1, SMALL);
    start = nothing < start ? nothing : start;
    pair = each(workers, SMALL) - alone;
  }
  check(cudaGetLastError());
  std::sort(further, further + PAIRS);
  const double together = further[PAIRS / 4];
  printf("start %g\nlaunch %g\n", start, start + (together > 0 ? together : 0));
}

// Lines that are waited for, some apart, and one beside others that is not.
static void lines(double *memory, long most) {
  constexpr long STRIDE = 3 * LINE, COUNT = 1L << 17;
  for (long rows = 256; rows * STRIDE <= most; rows += rows % 3 == 0 ? rows / 3 : rows / 2) {
    link<<<1, 1>>>((long *)memory, rows, STRIDE);
    const double waited = least([&] { chase<<<1, 1>>>((long *)memory, rows, STRIDE, COUNT / 4); }) / (COUNT / 4);
    const long times = rows < COUNT ? COUNT / rows : 1;
    check(cudaMemset(memory, 0, rows * STRIDE * sizeof *memory));
    const double visited = least([&] { visit<<<1, 1>>>(memory, rows, LINE, times); }) / (rows * times);
    printf("line %ld %g %g\n", rows * 64, waited, visited);
  }
}

// A line of far memory where so many rows, each in pages of its own, are gone through side by side: all memory in each run, so that nothing of it is near.
static void streams(double *memory, long most) {
  constexpr long PAGE = 4096 / 8;
  for (long rows = 8; rows <= 4096 && rows * 2 * PAGE <= most; rows *= 2) {
    // Rows are not apart by a power of two, or they would share places of caches and banks of memory.
    const long length = most / rows * 10 / 13 / LINE * LINE, pieces = length / LINE;
    printf("stream %ld %g\n", rows, once([&] { advance<<<1, 1>>>(memory, rows, length, pieces, LINE); }) / (rows * pieces));
  }
}

// What a line of a page of its own takes longer than one of those that are side by side, of so many.
static void pages(double *memory, long most) {
  constexpr long PAGE = 4096 / 8, COUNT = 1L << 17;
  for (long rows = 16; rows * (PAGE + LINE) <= most && rows <= COUNT; rows *= 2) {
    const auto each = [&](long stride) { return least([&] { touch<<<1, 1>>>(memory, rows, stride, COUNT / rows); }) / COUNT; };
    printf("page %ld %g\n", rows, each(PAGE + LINE) - each(LINE));
  }
}

// A step of a block's threads, and a further point of each.
template <bool CHIP> static void steps(const char *name, double *memory) {
  constexpr long STEPS_OF_ALL = 2000;
  const auto of = [&](long points) { return least([&] { step<CHIP><<<1, THREADS>>>(memory, STEPS_OF_ALL, points); }) / STEPS_OF_ALL; };
  const double one = of(1), point = (of(POINTS) - one) / (POINTS - 1);
  printf("%s %g %g\n", name, one - point, point);
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
  const double add = wait<Add, double>("add", memory, 1), multiply = wait<Multiply, double>("multiply", memory, 1);
  wait<Divide, double>("divide", memory, 1);
  wait<Other, long>("other", memory, 2);
  const double passed = least([&] { forward<<<1, 1>>>(memory, 0, 1, COUNT); }) / COUNT - add, stored = passed > 0 ? passed : 0;
  printf("forward %g\n", stored);
  rows<Few>(memory, add, multiply, stored);
  rows<Many>(memory, add, multiply, stored);
  rows<Long>(memory, add, multiply, stored);
  lines(memory, most);
  pages(memory, most);
  streams(memory, most);
  steps<false>("device", memory);
  steps<true>("chip", memory);
  printf("copied %g\n", once([&] { bring<<<1, THREADS>>>(memory, most); }) / (most / LINE));
  check(cudaFree(memory));
}
