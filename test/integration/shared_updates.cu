// Updates of a block's own memory by indices of all widths and signs, of all threads and of some: as one thread after the other makes them.
// RUN: %regrain -O2 --offload-arch=cpu %s -o %t
// RUN: %t
// RUN: env REGRAIN_CPU_MODE=coroutine %t
// RUN: %regrain -O2 --offload-arch=cpu -fregrain-coarsen-blocks=3 -fregrain-coarsen-threads=2 %s -o %t.b
// RUN: %t.b
#include <cstdio>
#include <cstring>
#include <vector>

constexpr int threads = 96, rounds = 40, bins = 304;

template <class Index> __device__ __host__ Index index_of(unsigned x) { return Index(x % 200) - (Index(-1) < Index(0) ? Index(100) : Index(0)); }

enum Operation { Add, Sub, Or, Xor, Max, Min };

template <Operation operation, class T> __device__ __host__ void update(T *at, T value) {
#ifdef __CUDA_ARCH__
  if constexpr (operation == Add)
    atomicAdd(at, value);
  if constexpr (operation == Sub)
    atomicSub(at, value);
  if constexpr (operation == Or)
    atomicOr(at, value);
  if constexpr (operation == Xor)
    atomicXor(at, value);
  if constexpr (operation == Max)
    atomicMax(at, value);
  if constexpr (operation == Min)
    atomicMin(at, value);
#else
  if constexpr (operation == Add)
    *at += value;
  if constexpr (operation == Sub)
    *at -= value;
  if constexpr (operation == Or)
    *at |= value;
  if constexpr (operation == Xor)
    *at ^= value;
  if constexpr (operation == Max)
    *at = *at > value ? *at : value;
  if constexpr (operation == Min)
    *at = *at < value ? *at : value;
#endif
}

// Whether a thread takes part: all, none, one in a block, one in three, by what it reads.
__device__ __host__ bool takes_part(unsigned x, int thread, int kind) {
  return kind == 0 || kind == 2 && thread == 37 || kind == 3 && thread % 3 == 1 || kind == 4 && (x & 0x800);
}

template <class Index, class T, Operation operation> __global__ void kernel(const unsigned *in, T *out, int kind, T same) {
  __shared__ T counts[bins];
  for (int i = threadIdx.x; i < bins; i += threads)
    counts[i] = 0;
  __syncthreads();
  T *middle = counts + 100;
  for (int round = 0; round < rounds; ++round) {
    unsigned x = in[(blockIdx.x * rounds + round) * threads + threadIdx.x];
    if (takes_part(x, threadIdx.x, kind)) {
      update<operation>(&middle[index_of<Index>(x)], T(x >> 7));
      update<operation>(&middle[index_of<Index>(x + 1)], same);
    }
  }
  __syncthreads();
  for (int i = threadIdx.x; i < bins; i += threads)
    out[blockIdx.x * bins + i] = counts[i];
}

template <class Index, class T, Operation operation> bool check(const std::vector<unsigned> &in, unsigned *d_in, int blocks) {
  std::vector<T> wanted(blocks * bins), got(blocks * bins);
  T *d_out;
  cudaMalloc(&d_out, got.size() * sizeof(T));
  bool right = true;
  for (int kind = 0; kind < 5; ++kind) {
    wanted.assign(wanted.size(), 0);
    for (int at = 0; at < blocks * rounds * threads; ++at) {
      T *middle = wanted.data() + at / (rounds * threads) * bins + 100;
      if (takes_part(in[at], at % threads, kind)) {
        update<operation>(&middle[index_of<Index>(in[at])], T(in[at] >> 7));
        update<operation>(&middle[index_of<Index>(in[at] + 1)], T(5));
      }
    }
    kernel<Index, T, operation><<<blocks, threads>>>(d_in, d_out, kind, T(5));
    cudaMemcpy(got.data(), d_out, got.size() * sizeof(T), cudaMemcpyDeviceToHost);
    if (memcmp(got.data(), wanted.data(), got.size() * sizeof(T)) != 0) {
      printf("FAIL: index of %zu bytes, element of %zu, operation %d, kind %d\n", sizeof(Index), sizeof(T), operation, kind);
      right = false;
    }
  }
  cudaFree(d_out);
  return right;
}

template <class Index> bool check_all(const std::vector<unsigned> &in, unsigned *d_in, int blocks) {
  return check<Index, int, Add>(in, d_in, blocks) & check<Index, int, Sub>(in, d_in, blocks) & check<Index, unsigned, Max>(in, d_in, blocks);
}

int main() {
  constexpr int blocks = 5;
  std::vector<unsigned> in(blocks * rounds * threads);
  unsigned state = 7;
  for (unsigned &x : in)
    x = (state = state * 1664525 + 1013904223) >> 4;
  unsigned *d_in;
  cudaMalloc(&d_in, in.size() * sizeof(unsigned));
  cudaMemcpy(d_in, in.data(), in.size() * sizeof(unsigned), cudaMemcpyHostToDevice);
  bool right = check_all<signed char>(in, d_in, blocks) & check_all<unsigned short>(in, d_in, blocks) & check_all<int>(in, d_in, blocks) &
               check<unsigned, unsigned long long, Add>(in, d_in, blocks) & check<long long, unsigned, Add>(in, d_in, blocks) &
               check<int, int, Xor>(in, d_in, blocks) & check<int, unsigned, Or>(in, d_in, blocks) & check<int, int, Min>(in, d_in, blocks);
  puts(right ? "PASS" : "FAIL");
  return right ? 0 : 1;
}
