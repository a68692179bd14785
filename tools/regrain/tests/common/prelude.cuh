// What all random kernels use.
#include <cstdio>
#include <cstdlib>

#define SLOTS 160u
#define CELLS 8u

struct Params {
  unsigned a[4];
  short s;
  float f;
  double d;
};

struct Packed {
  unsigned char c;
  unsigned v;
};

#define PARAMETERS(restrict)                                                                                           \
  const unsigned *restrict in, unsigned *restrict all_out, unsigned *restrict all_global, unsigned *restrict acc,      \
      unsigned long long *restrict wide, Params p, int n

#define INDICES                                                                                                        \
  const unsigned nt = blockDim.x * blockDim.y * blockDim.z;                                                            \
  const unsigned tid = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);                            \
  const unsigned bid = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);                                 \
  const unsigned lane = tid % 32u, warp = tid / 32u;                                                                   \
  const unsigned wn = min(32u, nt - warp * 32u), full = wn == 32u ? ~0u : (1u << wn) - 1u;                             \
  unsigned *out = all_out + (bid * SLOTS + tid) * CELLS;                                                               \
  (void)lane, (void)full;

#define VARIABLES                                                                                                      \
  unsigned u0 = tid + 1u, u1 = in[tid], u2 = 7u, s0 = (unsigned)n, s1 = 3u, la[4] = {1u, tid, 2u, 9u};                 \
  float f0 = tid * 0.25f, f1 = 1.5f;                                                                                   \
  double d0 = 0.75;

#define RESULTS                                                                                                        \
  out[0] += u0 ^ s0;                                                                                                   \
  out[1] += u1 ^ s1 * 5u;                                                                                              \
  out[2] += u2 ^ bits(f0) ^ bits(f1) * 3u;                                                                             \
  out[3] += la[0] ^ la[1] * 3u ^ la[2] * 5u ^ la[3] * 7u ^ bits((float)d0);

static __device__ unsigned bits(float x) { return x != x ? 0x7fc00000u : __float_as_uint(x); }

static __device__ unsigned from_float(float x) { return x > -1e9f && x < 1e9f ? (unsigned)(int)x : 7u; }

static __device__ unsigned shuffle_xor(unsigned v, unsigned m, unsigned lane, unsigned wn) {
  const unsigned got = __shfl_xor_sync(~0u, v, m);
  return (lane ^ m) < wn ? got : v;
}

static __device__ unsigned shuffle_down(unsigned v, unsigned by, unsigned lane, unsigned wn) {
  const unsigned got = __shfl_down_sync(~0u, v, by);
  return lane + by < wn ? got : v;
}

static __device__ unsigned among_first(unsigned few, unsigned v, unsigned from, unsigned wn) {
  const unsigned n = few < wn ? few : wn, mask = n < 32u ? (1u << n) - 1u : ~0u;
  return __shfl_sync(mask, v, from % n) + __popc(__ballot_sync(mask, v & 1u));
}

static __device__ unsigned rotate(unsigned *s, unsigned v, unsigned by, unsigned tid, unsigned nt) {
  __syncthreads();
  s[tid] = v;
  __syncthreads();
  return s[(tid + by) % nt];
}

static __device__ __noinline__ unsigned rotate_packed(Packed *s, unsigned v, unsigned by, unsigned tid, unsigned nt) {
  __syncthreads();
  if (v % 3u != 0u) s[tid].v = v;
  __syncthreads();
  return s[(tid + by) % nt].v;
}

// The memory of one launch. The digest is of all that the kernel may have written.
struct Memory {
  enum { BLOCKS = 12, OUT = BLOCKS * 160 * 8, GLOBAL = BLOCKS * 160, ACC = 48 };
  unsigned *in, *out, *global, *acc;
  unsigned long long *wide;

  Memory() {
    unsigned words[256], start[OUT];
    for (unsigned i = 0; i < 256; ++i) words[i] = i * 2654435761u >> (i % 3 * 10);
    for (unsigned i = 0; i < OUT; ++i) start[i] = i;
    in = copy(words, 256);
    out = copy(start, OUT);
    global = copy(start, GLOBAL);
    acc = copy(start, ACC);
    wide = (unsigned long long *)copy(start, 2 * ACC);
  }

  static unsigned *copy(const unsigned *from, unsigned count) {
    void *to;
    cudaMalloc(&to, count * 4);
    cudaMemcpy(to, from, count * 4, cudaMemcpyHostToDevice);
    return (unsigned *)to;
  }

  void report(const char *launch) {
    cudaError_t error = cudaDeviceSynchronize();
    unsigned long long digest = 14695981039346656037u;
    const unsigned *parts[] = {out, global, acc, (unsigned *)wide};
    const unsigned sizes[] = {OUT, GLOBAL, ACC, 2 * ACC};
    for (int part = 0; part < 4; ++part) {
      unsigned words[OUT];
      cudaMemcpy(words, parts[part], sizes[part] * 4, cudaMemcpyDeviceToHost);
      for (unsigned i = 0; i < sizes[part]; ++i) digest = (digest ^ words[i]) * 1099511628211u;
      if (getenv("SHOW_WORDS"))
        for (unsigned i = 0; i < sizes[part]; ++i) printf("%s %d %u: %u\n", launch, part, i, words[i]);
    }
    printf("%s %s %016llx\n", launch, cudaGetErrorName(error), digest);
    cudaFree(in), cudaFree(out), cudaFree(global), cudaFree(acc), cudaFree(wide);
  }
};

static const Params params = {{3u, 5u, 77u, 0x80000001u}, -3, 2.5f, -0.125};
