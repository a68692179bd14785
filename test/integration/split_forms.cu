// Control flow around synchronisation in every shape that the splitting of block loops knows: both modes give the same.
// RUN: %regrain -O2 --offload-arch=cpu %s -o %t
// RUN: %t > %t.split
// RUN: env REGRAIN_CPU_MODE=coroutine %t > %t.coroutine
// RUN: cmp %t.split %t.coroutine
#include <cstdio>
#include <cuda_runtime.h>

#define ALL 0xffffffffu

__device__ unsigned mix(unsigned a, unsigned b) { return (a ^ b) * 2654435761u + (a >> 7); }
__device__ int thread_number() { return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z); }
__device__ int threads() { return blockDim.x * blockDim.y * blockDim.z; }

// Carried values that change places, nested loops, bounds from arguments.
__global__ void carried(unsigned *out, int rounds, int inner) {
  __shared__ unsigned s[1024];
  int t = thread_number(), n = threads();
  unsigned a = t + 1, b = blockIdx.x * 77 + t;
  for (int i = 0; i < rounds; ++i) {
    s[t] = mix(a, b);
    __syncthreads();
    unsigned sum = 0;
    for (int j = 0; j < inner; ++j) {
      sum += s[(t + j + i) % n];
      __syncthreads();
      s[t] += j;
      __syncthreads();
    }
    unsigned old = a;
    a = b + sum;
    b = old;
  }
  out[blockIdx.x * n + t] = mix(a, b);
}

// A loop that ends when no thread changed anything.
__global__ void until_stable(unsigned *out) {
  __shared__ unsigned s[1024];
  int t = thread_number(), n = threads();
  s[t] = (t * 7919u + blockIdx.x) % 1000;
  __syncthreads();
  int rounds = 0;
  while (true) {
    unsigned left = t > 0 ? s[t - 1] : s[0], mine = s[t];
    bool change = left > mine;
    __syncthreads();
    if (change)
      s[t] = left;
    if (!__syncthreads_or(change))
      break;
    ++rounds;
  }
  out[blockIdx.x * n + t] = s[t] * 1000 + rounds + __syncthreads_count(s[t] > 500) + __syncthreads_and(t >= 0);
}

// Conditions and bounds that are the same for all threads, which only the data knows.
__global__ void from_memory(unsigned *out, const int *data) {
  __shared__ unsigned s[1024];
  int t = thread_number(), n = threads();
  unsigned v = t;
  int bound = data[blockIdx.x % 4];
  for (int i = bound & 1; i < bound; i += 2) {
    s[t] = v;
    __syncthreads();
    v = mix(v, s[n - 1 - t]) + i;
    __syncthreads();
  }
  if (data[4 + blockIdx.x % 4] > 3) {
    s[t] = v;
    __syncthreads();
    v += s[(t * 3) % n];
  } else {
    v ^= 0x55;
  }
  int left = data[blockIdx.x % 3];
  do {
    __syncthreads();
    s[t] = v * 3;
    __syncthreads();
    v += s[(t + left) % n];
    if (v == 12345 && left > 100)
      continue;
    --left;
  } while (left > 0);
  switch (data[blockIdx.x % 5]) {
  case 2:
    __syncthreads();
    s[t] = v;
    __syncthreads();
    v = s[n - 1 - t];
    break;
  case 5:
    v += 5;
  case 3:
    __syncthreads();
    s[t] = v + 1;
    __syncthreads();
    v += s[t / 2];
    break;
  default:
    v = ~v;
  }
  out[blockIdx.x * n + t] = v;
}

// Threads that leave early, and one that does more than the others between barriers.
__global__ void leaving(unsigned *out, int limit) {
  __shared__ unsigned s[1024];
  int t = thread_number(), n = threads();
  out[blockIdx.x * n + t] = 9;
  if (t >= limit)
    return;
  s[t] = t * t;
  __syncthreads();
  if (t == 0)
    for (int i = 1; i < limit; ++i)
      s[0] += s[i];
  __syncthreads();
  unsigned v = s[0] + t;
  if (v % 3 == 0)
    v = __popc(v);
  __syncthreads();
  s[t] = v;
  __syncthreads();
  out[blockIdx.x * n + t] = s[limit - 1 - t];
}

// An array of each thread that lives across barriers, and one that does not.
__global__ void local_arrays(unsigned *out, int k) {
  __shared__ unsigned s[1024];
  int t = thread_number(), n = threads();
  unsigned mine[9], brief[5];
  for (int i = 0; i < 9; ++i)
    mine[(i * k) % 9] = t * i;
  s[t] = mine[k % 9];
  __syncthreads();
  for (int i = 0; i < 5; ++i)
    brief[(i * k) % 5] = s[(t + i) % n];
  unsigned v = brief[k % 5] + brief[(k + 1) % 5];
  __syncthreads();
  mine[v % 9] += v;
  s[t] = v;
  __syncthreads();
  for (int i = 0; i < 9; ++i)
    v = mix(v, mine[(i + k) % 9] + s[(t + i) % n]);
  out[blockIdx.x * n + t] = v;
}

// Warp operations under conditions of the warp, in loops with carried values, in blocks that end within a warp.
__global__ void warps(unsigned *out, int rounds) {
  int t = thread_number(), n = threads(), lane = t % 32, warp = t / 32;
  unsigned live = t / 32 == n / 32 ? (1u << n % 32) - 1 : ALL;
  unsigned v = t * 31 + blockIdx.x;
  for (int i = 0; i < rounds; ++i) {
    unsigned up = __shfl_up_sync(live, v, 1 + i % 3), down = __shfl_down_sync(live, v, 2, 16);
    unsigned cross = __shfl_xor_sync(live, v, 1 << i % 5, 8);
    v = mix(lane >= 3 ? up : v, down) + cross;
    if (warp == i % 3)
      v += __ballot_sync(live, v & 1) + __any_sync(live, v == 3) + __all_sync(live, lane >= 0);
    else
      v ^= __shfl_sync(live, v, i, 4);
    __syncwarp(live);
  }
  unsigned same = __match_any_sync(live, v % 5);
  int agreed;
  unsigned all = __match_all_sync(live, warp, &agreed);
  out[blockIdx.x * n + t] = v + __popc(same) + (all == live) + agreed + __popc(__activemask());
}

// The reduction of old: within a warp without synchronisation, through volatile shared memory.
__global__ void lockstep(unsigned *out) {
  __shared__ unsigned s[1024];
  int t = thread_number(), n = threads();
  s[t] = t * 3 + blockIdx.x;
  __syncthreads();
  for (int half = n / 2; half > 32; half /= 2) {
    if (t < half)
      s[t] += s[t + half];
    __syncthreads();
  }
  __syncthreads();
  out[blockIdx.x * n + t] = s[t % 32] + s[0];
}

static unsigned *out;
static const int CAPACITY = 8 * 1024;

static void show(const char *name, dim3 block) {
  if (cudaError_t error = cudaDeviceSynchronize())
    printf("%s: %s\n", name, cudaGetErrorString(error));
  unsigned long long sum = 14695981039346656037ull;
  for (int i = 0; i < CAPACITY; ++i)
    sum = (sum ^ out[i]) * 1099511628211ull;
  printf("%s %dx%dx%d %016llx\n", name, block.x, block.y, block.z, sum);
  for (int i = 0; i < CAPACITY; ++i)
    out[i] = 0;
}

int main() {
  cudaMallocManaged(&out, CAPACITY * sizeof *out);
  int *data;
  cudaMallocManaged(&data, 8 * sizeof(int));
  for (int i = 0; i < 8; ++i)
    data[i] = (i * 5 + 2) % 7;
  dim3 shapes[] = {dim3(256), dim3(16, 16), dim3(5, 3, 7), dim3(1), dim3(33), dim3(64, 4)};
  for (dim3 block : shapes) {
    carried<<<8, block>>>(out, 5, 3);
    show("carried", block);
    until_stable<<<8, block>>>(out);
    show("until stable", block);
    from_memory<<<8, block>>>(out, data);
    show("from memory", block);
    leaving<<<8, block>>>(out, block.x * block.y * block.z * 2 / 3 + 1);
    show("leaving", block);
    local_arrays<<<8, block>>>(out, 4);
    show("local arrays", block);
    warps<<<8, block>>>(out, 6);
    show("warps", block);
    lockstep<<<8, block>>>(out);
    show("lockstep", block);
  }
}
