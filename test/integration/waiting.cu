// Threads and blocks that wait for one another in the middle of a kernel, in the thread loops of a block and as coroutines.
// NOT-HIP: the stand-in runs one block after the other.
// RUN: %regrain -O2 --offload-arch=cpu %s -o %t
// RUN: %t
// RUN: env REGRAIN_CPU_THREADS=1 %t
// RUN: env REGRAIN_CPU_THREADS=5 %t
// RUN: env REGRAIN_CPU_MODE=coroutine %t
#include "check.h"

#include <vector>

constexpr int WIDTH = 128;

// The sum of a tile alone (status 1), and with all that is before it (2). Who saw status 1 reads the former, whatever comes meanwhile.
struct Tile {
  int status, own, all;
};

__device__ void publish(volatile Tile *tile, int status, int value) {
  (status == 1 ? tile->own : tile->all) = value;
  __threadfence();
  tile->status = status;
}

// The sum of what is before a tile: a warp looks back over 32 tiles at once.
__device__ int look_back(Tile *tiles, int tile) {
  int sum = 0, lane = threadIdx.x % 32;
  for (int window = tile - 1;; window -= 32) {
    volatile Tile *mine = tiles + (window - lane);
    int status = 2;
    while (__any_sync(~0u, window - lane >= 0 && (status = mine->status) == 0))
      ;
    __threadfence();
    int value = window - lane < 0 ? 0 : status == 1 ? mine->own : mine->all;
    unsigned complete = __ballot_sync(~0u, status == 2);
    int last = complete ? __ffs(complete) - 1 : 31;
    value = lane <= last ? value : 0;
    for (int step = 16; step > 0; step /= 2)
      value += __shfl_down_sync(~0u, value, step);
    sum += value;
    if (complete)
      return __shfl_sync(~0u, sum, 0);
  }
}

// An inclusive scan in one pass.
__global__ void __launch_bounds__(WIDTH) scan(const int *in, int *out, Tile *tiles, int n) {
  __shared__ int warps[WIDTH / 32];
  __shared__ int before;
  int i = blockIdx.x * WIDTH + threadIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  int value = i < n ? in[i] : 0;
  for (int step = 1; step < 32; step *= 2) {
    int other = __shfl_up_sync(~0u, value, step);
    value += lane >= step ? other : 0;
  }
  if (lane == 31)
    warps[warp] = value;
  __syncthreads();
  int total = 0;
  for (int w = 0; w < WIDTH / 32; ++w) {
    value += w < warp ? warps[w] : 0;
    total += warps[w];
  }
  if (warp == 0) {
    if (lane == 0)
      publish(tiles + blockIdx.x, blockIdx.x == 0 ? 2 : 1, total);
    if (blockIdx.x > 0) {
      int sum = look_back(tiles, blockIdx.x);
      if (lane == 0) {
        publish(tiles + blockIdx.x, 2, sum + total);
        before = sum;
      }
    } else if (lane == 0) {
      before = 0;
    }
  }
  __syncthreads();
  if (i < n)
    out[i] = value + before;
}

// Each thread looks back on its own; those that have found a total leave the others, who meet at a ballot.
__global__ void __launch_bounds__(WIDTH) columns(const int *in, int *out, int *totals) {
  int own = in[blockIdx.x * WIDTH + threadIdx.x], sum = 0;
  volatile int *mine = totals + blockIdx.x * WIDTH + threadIdx.x;
  *mine = (blockIdx.x == 0 ? 2 << 28 : 1 << 28) | own;
  unsigned left = ~0u;
  for (int block = int(blockIdx.x) - 1; block >= 0; --block) {
    int seen;
    do
      seen = ((volatile int *)totals)[block * WIDTH + threadIdx.x];
    while (seen == 0);
    sum += seen & ((1 << 28) - 1);
    left = __ballot_sync(left, (seen >> 28) != 2);
    if ((seen >> 28) == 2)
      break;
  }
  *mine = 2 << 28 | (sum + own);
  out[blockIdx.x * WIDTH + threadIdx.x] = sum + own;
}

// A block waits for the next one.
__global__ void backwards(int *flags, int *order) {
  int next = blockIdx.x + 1;
  if (threadIdx.x == 0) {
    if (next < int(gridDim.x))
      while (((volatile int *)flags)[next] == 0)
        ;
    order[blockIdx.x] = next < int(gridDim.x) ? ((volatile int *)order)[next] + 1 : 1;
    __threadfence();
    ((volatile int *)flags)[blockIdx.x] = 1;
  }
}

// A barrier of the whole grid, by hand.
__global__ void rounds(int *arrived, int *a, int *b, int times) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
  for (int round = 0; round < times; ++round) {
    (round % 2 ? a : b)[i] = (round % 2 ? b : a)[(i + 37) % n] + 1;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
      atomicAdd(arrived, 1);
      while (atomicAdd(arrived, 0) < (round + 1) * int(gridDim.x))
        ;
    }
    __syncthreads();
  }
}

// The same with a loop that all threads of the block make.
__global__ void rounds_together(int *arrived, int *out) {
  __shared__ int seen;
  if (threadIdx.x == 0)
    atomicAdd(arrived, 1);
  do {
    __syncthreads();
    if (threadIdx.x == 0)
      seen = *(volatile int *)arrived;
    __syncthreads();
  } while (seen < int(gridDim.x));
  out[blockIdx.x * blockDim.x + threadIdx.x] = seen;
}

// A thread waits for a later one of its block, which waits for an earlier one, and so on.
__global__ void ping_pong(int *flag, int *out) {
  int last = blockDim.x - 1, here = threadIdx.x;
  if (here == 0 || here == last)
    for (int turn = here == 0 ? 0 : 1; turn < 20; turn += 2) {
      while (atomicAdd(flag + blockIdx.x, 0) != turn)
        ;
      atomicAdd(flag + blockIdx.x, 1);
    }
  out[blockIdx.x * blockDim.x + here] = here;
}

// Producers are the upper half of the block, consumers the lower one; what goes between them is in shared memory.
__global__ void produce(const int *in, int *out) {
  __shared__ int box[256], full[256];
  int half = blockDim.x / 2, here = threadIdx.x % half;
  full[threadIdx.x] = 0;
  __syncthreads();
  if (threadIdx.x >= half) {
    box[here] = in[blockIdx.x * half + here] * 3;
    __threadfence_block();
    atomicExch(full + here, 1);
  } else {
    while (atomicOr(full + here, 0) == 0)
      ;
    out[blockIdx.x * half + here] = box[here] + 1;
  }
}

// A lane waits for another lane of its warp, beside operations of warps.
__global__ void __launch_bounds__(64) within_warp(int *flags, int *out) {
  int lane = threadIdx.x % 32, i = blockIdx.x * 64 + threadIdx.x;
  int sum = lane;
  if (lane == 0) {
    int seen;
    while ((seen = atomicAdd(flags + i + 31, 0)) == 0)
      ;
    sum += seen;
  } else if (lane == 31) {
    atomicExch(flags + i, 7);
  }
  out[i] = __shfl_sync(~0u, sum, 0);
}

// Blocks in order, with threads that sleep while they wait.
__global__ void ordered(int *next, int *out) {
  if (threadIdx.x == 0) {
    while (atomicAdd(next, 0) != int(blockIdx.x))
      __nanosleep(100);
    out[blockIdx.x] = blockIdx.x * 2;
    __threadfence();
    atomicAdd(next, 1);
  }
}

static int resident(const void *kernel, int threads) {
  int blocks = 0, processors = 0;
  OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, 0));
  OK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0));
  return blocks * processors;
}

// Waits in a function that is called.
__device__ __noinline__ void wait_for(int *flag) {
  while (atomicAdd(flag, 0) == 0) {
  }
}

__global__ void waits_in_a_call(int *flags, int *out) {
  int *flag = flags + blockIdx.x;
  if (threadIdx.x == 0)
    wait_for(flag);
  if (threadIdx.x == blockDim.x - 1)
    atomicExch(flag, 1);
  out[blockIdx.x * blockDim.x + threadIdx.x] = 3;
}

int main() {
  for (int n : {1, 1000, 100003}) {
    int blocks = (n + WIDTH - 1) / WIDTH;
    int *in = managed<int>(n), *out = managed<int>(n);
    Tile *tiles = managed<Tile>(blocks);
    for (int i = 0; i < n; ++i)
      in[i] = i % 13 - 5;
    scan<<<blocks, WIDTH>>>(in, out, tiles, n);
    OK(cudaDeviceSynchronize());
    for (int i = 0, sum = 0; i < n; ++i)
      EXPECT_AT(i, out[i], sum += in[i]);
  }
  {
    int blocks = 60, n = blocks * WIDTH;
    int *in = managed<int>(n), *out = managed<int>(n), *totals = managed<int>(n);
    for (int i = 0; i < n; ++i)
      in[i] = i % 11;
    columns<<<blocks, WIDTH>>>(in, out, totals);
    OK(cudaDeviceSynchronize());
    std::vector<int> sums(WIDTH);
    for (int i = 0; i < n; ++i)
      EXPECT_AT(i, out[i], sums[i % WIDTH] += in[i]);
  }
  {
    int blocks = std::min(resident((const void *)backwards, 64), 40);
    int *flags = managed<int>(blocks), *order = managed<int>(blocks);
    backwards<<<blocks, 64>>>(flags, order);
    OK(cudaDeviceSynchronize());
    for (int b = 0; b < blocks; ++b)
      EXPECT_AT(b, order[b], blocks - b);
  }
  {
    int blocks = std::min(resident((const void *)rounds, 64), 24), n = blocks * 64, times = 6;
    int *arrived = managed<int>(1), *a = managed<int>(n), *b = managed<int>(n);
    rounds<<<blocks, 64>>>(arrived, a, b, times);
    OK(cudaDeviceSynchronize());
    for (int i = 0; i < n; ++i)
      EXPECT_AT(i, a[i], times);
    int *again = managed<int>(1);
    rounds_together<<<blocks, 64>>>(again, a);
    OK(cudaDeviceSynchronize());
    for (int i = 0; i < n; ++i)
      EXPECT_AT(i, a[i], blocks);
  }
  {
    int *flags = managed<int>(8), *out = managed<int>(8 * 96);
    ping_pong<<<8, 96>>>(flags, out);
    OK(cudaDeviceSynchronize());
    for (int b = 0; b < 8; ++b)
      EXPECT_AT(b, flags[b], 20);
    for (int i = 0; i < 8 * 96; ++i)
      EXPECT_AT(i, out[i], i % 96);
  }
  {
    int *in = managed<int>(8 * 128), *out = managed<int>(8 * 128);
    for (int i = 0; i < 8 * 128; ++i)
      in[i] = i;
    produce<<<8, 256>>>(in, out);
    OK(cudaDeviceSynchronize());
    for (int i = 0; i < 8 * 128; ++i)
      EXPECT_AT(i, out[i], i * 3 + 1);
  }
  {
    int *flags = managed<int>(4 * 64), *out = managed<int>(4 * 64);
    within_warp<<<4, 64>>>(flags, out);
    OK(cudaDeviceSynchronize());
    for (int i = 0; i < 4 * 64; ++i)
      EXPECT_AT(i, out[i], 7);
  }
  {
    int *next = managed<int>(1), *out = managed<int>(50);
    ordered<<<50, 32>>>(next, out);
    OK(cudaDeviceSynchronize());
    for (int b = 0; b < 50; ++b)
      EXPECT_AT(b, out[b], b * 2);
  }
  {
    int *flags = managed<int>(3), *out = managed<int>(3 * 64);
    waits_in_a_call<<<3, 64>>>(flags, out);
    OK(cudaDeviceSynchronize());
    for (int i = 0; i < 3 * 64; ++i)
      EXPECT_AT(i, out[i], 3);
  }
  return result();
}
