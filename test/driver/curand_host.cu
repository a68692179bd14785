// cuRAND's functions for the host, linked with -lcurand, against its generators for device code.
// REQUIRES: cuda-toolkit
// RUN: %regrain -O2 --offload-arch=cpu -w -I %root/test/integration %s -o %t -lcurand && %t
#include "check.h"
#include <algorithm>
#include <cmath>
#include <curand.h>
#include <curand_kernel.h>
#include <vector>

#define RAND(call) do { curandStatus_t status = (call); if (status != CURAND_STATUS_SUCCESS) { printf("%s:%d: %s is %d\n", __FILE__, __LINE__, #call, status); ++failures; } } while (0)
static bool same(const char *what, bool is) {
  if (!is) printf("%s differs\n", what), ++failures;
  return is;
}

constexpr int N = 1 << 17;

enum What { WORDS, UNIFORM, UNIFORM_DOUBLE, NORMAL, LOG_NORMAL_DOUBLE, POISSON };

// What each subsequence gives, in turn.
template <class State> __global__ void device(What what, unsigned lanes, unsigned long long seed, unsigned long long offset, double *out, int n) {
  int lane = blockIdx.x * blockDim.x + threadIdx.x;
  if (lane >= lanes) return;
  State state;
  curand_init(seed, lane, (offset + lanes - 1 - lane) / lanes, &state);
  int step = what == NORMAL || what == LOG_NORMAL_DOUBLE ? 2 : 1;
  int first = (lane + lanes - offset % lanes) % lanes;
  for (int i = first * step; i < n; i += lanes * step) {
    switch (what) {
    case WORDS: out[i] = curand(&state); break;
    case UNIFORM: out[i] = curand_uniform(&state); break;
    case UNIFORM_DOUBLE: out[i] = curand_uniform_double(&state); break;
    case NORMAL: { float2 pair = curand_normal2(&state); out[i] = 3 + 2 * pair.x, out[i + 1] = 3 + 2 * pair.y; break; }
    case LOG_NORMAL_DOUBLE: { double2 pair = curand_log_normal2_double(&state, 1., .5); out[i] = pair.x, out[i + 1] = pair.y; break; }
    case POISSON: out[i] = curand_poisson(&state, 20.); break;
    }
  }
}

template <class State> static void check(const char *name, curandRngType_t type, unsigned lanes, unsigned long long offset) {
  double *expected = managed<double>(N);
  unsigned *words;
  float *floats;
  double *doubles;
  cudaMalloc(&words, N * 4), cudaMalloc(&floats, N * 4), cudaMalloc(&doubles, N * 8);
  const unsigned long long SEED = 0x123456789abcdefull;
  curandGenerator_t generator;
  RAND(curandCreateGenerator(&generator, type));
  auto begin = [&](What what) {
    RAND(curandSetPseudoRandomGeneratorSeed(generator, SEED));
    RAND(curandSetGeneratorOffset(generator, offset));
    device<State><<<(lanes + 127) / 128, 128>>>(what, lanes, SEED, offset, expected, N);
    cudaDeviceSynchronize();
  };
  auto compare = [&](auto *found, double tolerance) {
    std::vector<std::remove_pointer_t<decltype(found)>> host(N);
    cudaMemcpy(host.data(), found, N * sizeof *found, cudaMemcpyDeviceToHost);
    for (int i = 0; i < N; ++i)
      if (!(std::fabs(host[i] - expected[i]) <= tolerance * std::max(1., std::fabs(expected[i])))) return printf("%s at %d: %.17g, expected %.17g\n", name, i, double(host[i]), expected[i]), false;
    return true;
  };
  begin(WORDS);
  // In two parts, one after the other.
  RAND(curandGenerate(generator, words, 1001));
  RAND(curandGenerate(generator, words + 1001, N - 1001));
  same("words", compare(words, 0));
  begin(UNIFORM);
  RAND(curandGenerateUniform(generator, floats, N));
  same("uniform", compare(floats, 0));
  begin(UNIFORM_DOUBLE);
  RAND(curandGenerateUniformDouble(generator, doubles, N));
  same("uniform double", compare(doubles, 0));
  begin(NORMAL);
  RAND(curandGenerateNormal(generator, floats, N, 3, 2));
  // Sines and logarithms are the host's there.
  same("normal", compare(floats, 1e-4));
  begin(LOG_NORMAL_DOUBLE);
  RAND(curandGenerateLogNormalDouble(generator, doubles, N, 1, .5));
  same("log normal", compare(doubles, 1e-12));
  same("odd", curandGenerateNormal(generator, floats, 7, 0, 1) == CURAND_STATUS_LENGTH_NOT_MULTIPLE);
  if (lanes < 10000) {
    begin(POISSON);
    RAND(curandGeneratePoisson(generator, words, N, 20));
    same("poisson", compare(words, .5));
  }
  // The host's own memory, from a generator of the host.
  curandGenerator_t other;
  std::vector<float> host(N);
  RAND(curandCreateGeneratorHost(&other, type));
  RAND(curandSetPseudoRandomGeneratorSeed(other, SEED));
  RAND(curandSetGeneratorOffset(other, offset));
  RAND(curandGenerateUniform(other, host.data(), N));
  begin(UNIFORM);
  RAND(curandGenerateUniform(generator, floats, N));
  same("host", compare(floats, 0) && host[5] == float(expected[5]) && host[N - 1] == float(expected[N - 1]));
  RAND(curandDestroyGenerator(other));
  RAND(curandDestroyGenerator(generator));
  cudaFree(words), cudaFree(floats), cudaFree(doubles), cudaFree(expected);
}

int main() {
  check<curandStateXORWOW_t>("XORWOW", CURAND_RNG_PSEUDO_DEFAULT, 4096, 0);
  check<curandStateXORWOW_t>("XORWOW", CURAND_RNG_PSEUDO_XORWOW, 4096, 10007);
  check<curandStatePhilox4_32_10_t>("Philox", CURAND_RNG_PSEUDO_PHILOX4_32_10, 1, 5);
  check<curandStateMRG32k3a_t>("MRG32k3a", CURAND_RNG_PSEUDO_MRG32K3A, 81920, 0);
  curandGenerator_t generator;
  for (curandRngType_t type : {CURAND_RNG_PSEUDO_MTGP32, CURAND_RNG_PSEUDO_MT19937, CURAND_RNG_QUASI_SOBOL32, CURAND_RNG_QUASI_SCRAMBLED_SOBOL64})
    same("refused", curandCreateGenerator(&generator, type) == CURAND_STATUS_ARCH_MISMATCH);
  same("unknown", curandCreateGenerator(&generator, curandRngType_t(7)) == CURAND_STATUS_TYPE_ERROR);
  RAND(curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_DEFAULT));
  same("order", curandSetGeneratorOrdering(generator, CURAND_ORDERING_PSEUDO_SEEDED) == CURAND_STATUS_ARCH_MISMATCH);
  same("long", curandGenerateLongLong(generator, nullptr, 0) == CURAND_STATUS_TYPE_ERROR);
  same("binomial", curandGenerateBinomial(generator, nullptr, 0, 1, .5) == CURAND_STATUS_ARCH_MISMATCH);
  int version = 0;
  RAND(curandGetVersion(&version));
  same("version", version == CURAND_VERSION);
  return result();
}
