// cuRAND's functions for the host, over the generators of the toolkit's own curand_kernel.h: compiled where a program is linked with
// -lcurand and has no library of that name to run with.
//
// Results are made by the host. Those of XORWOW and MRG32k3a come from 4096 and 81920 subsequences in turn, as cuRAND's guide has it
// (result n is number n / 4096 of subsequence n % 4096); those of Philox from one sequence. Two normal results that follow one another are of
// one pair.

#define QUALIFIERS static inline
#include <cuda_runtime.h>
#include <curand.h>
#include <curand_kernel.h>

#include <algorithm>
#include <memory>
#include <new>
#include <vector>

namespace {

// How many results are made before they are copied.
constexpr size_t ROOM = 1 << 16;

// The subsequences of a generator, and whose turn it is.
template <class State, unsigned LANES> struct Lanes {
  std::vector<State> states;
  size_t next = 0;

  void start(unsigned long long seed, unsigned long long offset) {
    states.resize(LANES);
    for (unsigned lane = 0; lane < LANES; ++lane) curand_init(seed, lane, (offset + LANES - 1 - lane) / LANES, &states[lane]);
    next = offset % LANES;
  }
  State *take() {
    State *state = &states[next];
    next = next + 1 == LANES ? 0 : next + 1;
    return state;
  }
};

using Xorwow = Lanes<curandStateXORWOW_t, 4096>;
using Mrg = Lanes<curandStateMRG32k3a_t, 81920>;
using Philox = Lanes<curandStatePhilox4_32_10_t, 1>;

} // namespace

struct curandGenerator_st {
  curandRngType_t type;
  bool on_host;
  bool is_ready = false;
  unsigned long long seed = 0, offset = 0;
  cudaStream_t stream = nullptr;
  Xorwow xorwow;
  Mrg mrg;
  Philox philox;

  void start() {
    if (is_ready) return;
    switch (type) {
    case CURAND_RNG_PSEUDO_MRG32K3A: mrg.start(seed, offset); break;
    case CURAND_RNG_PSEUDO_PHILOX4_32_10: philox.start(seed, offset); break;
    default: xorwow.start(seed, offset);
    }
    is_ready = true;
  }
};

namespace {

// Makes `count` results, `step` of them at a time.
template <class T, class Make> curandStatus_t generate(curandGenerator_t generator, T *to, size_t count, size_t step, Make make) {
  if (!generator) return CURAND_STATUS_NOT_INITIALIZED;
  if (count % step != 0) return CURAND_STATUS_LENGTH_NOT_MULTIPLE;
  generator->start();
  auto fill = [&](T *at, size_t number) {
    for (size_t i = 0; i < number; i += step) {
      switch (generator->type) {
      case CURAND_RNG_PSEUDO_MRG32K3A: make(generator->mrg.take(), at + i); break;
      case CURAND_RNG_PSEUDO_PHILOX4_32_10: make(generator->philox.take(), at + i); break;
      default: make(generator->xorwow.take(), at + i);
      }
    }
  };
  if (generator->on_host) return fill(to, count), CURAND_STATUS_SUCCESS;
  std::unique_ptr<T[]> room(new (std::nothrow) T[std::min(count, ROOM) + 1]);
  if (!room) return CURAND_STATUS_ALLOCATION_FAILED;
  for (size_t done = 0; done < count;) {
    size_t number = std::min(count - done, ROOM);
    fill(room.get(), number);
    // The memory is the device's, in the order of the stream.
    if (cudaMemcpyAsync(to + done, room.get(), number * sizeof(T), cudaMemcpyHostToDevice, generator->stream) != cudaSuccess ||
        cudaStreamSynchronize(generator->stream) != cudaSuccess)
      return CURAND_STATUS_LAUNCH_FAILURE;
    done += number;
  }
  return CURAND_STATUS_SUCCESS;
}

curandStatus_t create(curandGenerator_t *generator, curandRngType_t type, bool on_host) {
  if (!generator) return CURAND_STATUS_NOT_INITIALIZED;
  switch (type) {
  case CURAND_RNG_PSEUDO_DEFAULT: type = CURAND_RNG_PSEUDO_XORWOW; break;
  case CURAND_RNG_PSEUDO_XORWOW:
  case CURAND_RNG_PSEUDO_MRG32K3A:
  case CURAND_RNG_PSEUDO_PHILOX4_32_10: break;
  // Their tables are in NVIDIA's library alone.
  case CURAND_RNG_PSEUDO_MTGP32:
  case CURAND_RNG_PSEUDO_MT19937:
  case CURAND_RNG_QUASI_DEFAULT:
  case CURAND_RNG_QUASI_SOBOL32:
  case CURAND_RNG_QUASI_SCRAMBLED_SOBOL32:
  case CURAND_RNG_QUASI_SOBOL64:
  case CURAND_RNG_QUASI_SCRAMBLED_SOBOL64: return CURAND_STATUS_ARCH_MISMATCH;
  default: return CURAND_STATUS_TYPE_ERROR;
  }
  *generator = new (std::nothrow) curandGenerator_st{type, on_host};
  return *generator ? CURAND_STATUS_SUCCESS : CURAND_STATUS_ALLOCATION_FAILED;
}

unsigned word(curandStateMRG32k3a_t *state) { return curand(state); }
unsigned word(curandStateXORWOW_t *state) { return curand(state); }
unsigned word(curandStatePhilox4_32_10_t *state) { return curand(state); }

} // namespace

extern "C" {

curandStatus_t curandCreateGenerator(curandGenerator_t *generator, curandRngType_t type) { return create(generator, type, false); }
curandStatus_t curandCreateGeneratorHost(curandGenerator_t *generator, curandRngType_t type) { return create(generator, type, true); }
curandStatus_t curandDestroyGenerator(curandGenerator_t generator) {
  if (!generator) return CURAND_STATUS_NOT_INITIALIZED;
  delete generator;
  return CURAND_STATUS_SUCCESS;
}
curandStatus_t curandGetVersion(int *version) {
  if (!version) return CURAND_STATUS_OUT_OF_RANGE;
  *version = CURAND_VERSION;
  return CURAND_STATUS_SUCCESS;
}
curandStatus_t curandGetProperty(libraryPropertyType type, int *value) {
  if (!value) return CURAND_STATUS_OUT_OF_RANGE;
  switch (type) {
  case MAJOR_VERSION: *value = CURAND_VER_MAJOR; break;
  case MINOR_VERSION: *value = CURAND_VER_MINOR; break;
  case PATCH_LEVEL: *value = CURAND_VER_PATCH; break;
  default: return CURAND_STATUS_OUT_OF_RANGE;
  }
  return CURAND_STATUS_SUCCESS;
}
curandStatus_t curandSetStream(curandGenerator_t generator, cudaStream_t stream) {
  if (!generator) return CURAND_STATUS_NOT_INITIALIZED;
  generator->stream = stream;
  return CURAND_STATUS_SUCCESS;
}
curandStatus_t curandSetPseudoRandomGeneratorSeed(curandGenerator_t generator, unsigned long long seed) {
  if (!generator) return CURAND_STATUS_NOT_INITIALIZED;
  generator->seed = seed, generator->is_ready = false;
  return CURAND_STATUS_SUCCESS;
}
curandStatus_t curandSetGeneratorOffset(curandGenerator_t generator, unsigned long long offset) {
  if (!generator) return CURAND_STATUS_NOT_INITIALIZED;
  generator->offset = offset, generator->is_ready = false;
  return CURAND_STATUS_SUCCESS;
}
// There is one order.
curandStatus_t curandSetGeneratorOrdering(curandGenerator_t generator, curandOrdering_t order) {
  if (!generator) return CURAND_STATUS_NOT_INITIALIZED;
  switch (order) {
  case CURAND_ORDERING_PSEUDO_BEST:
  case CURAND_ORDERING_PSEUDO_DEFAULT:
  case CURAND_ORDERING_PSEUDO_LEGACY:
  case CURAND_ORDERING_PSEUDO_DYNAMIC: return CURAND_STATUS_SUCCESS;
  case CURAND_ORDERING_PSEUDO_SEEDED: return CURAND_STATUS_ARCH_MISMATCH;
  default: return CURAND_STATUS_OUT_OF_RANGE;
  }
}
curandStatus_t curandSetQuasiRandomGeneratorDimensions(curandGenerator_t generator, unsigned) {
  return generator ? CURAND_STATUS_TYPE_ERROR : CURAND_STATUS_NOT_INITIALIZED;
}
curandStatus_t curandGenerateSeeds(curandGenerator_t generator) {
  if (!generator) return CURAND_STATUS_NOT_INITIALIZED;
  generator->start();
  return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandGenerate(curandGenerator_t generator, unsigned *to, size_t count) {
  return generate(generator, to, count, 1, [](auto *state, unsigned *at) { *at = word(state); });
}
// Of generators of 64 bits alone, none of which there is.
curandStatus_t curandGenerateLongLong(curandGenerator_t generator, unsigned long long *, size_t) {
  return generator ? CURAND_STATUS_TYPE_ERROR : CURAND_STATUS_NOT_INITIALIZED;
}
curandStatus_t curandGenerateUniform(curandGenerator_t generator, float *to, size_t count) {
  return generate(generator, to, count, 1, [](auto *state, float *at) { *at = curand_uniform(state); });
}
curandStatus_t curandGenerateUniformDouble(curandGenerator_t generator, double *to, size_t count) {
  return generate(generator, to, count, 1, [](auto *state, double *at) { *at = curand_uniform_double(state); });
}
curandStatus_t curandGenerateNormal(curandGenerator_t generator, float *to, size_t count, float mean, float deviation) {
  return generate(generator, to, count, 2, [=](auto *state, float *at) {
    float2 pair = curand_normal2(state);
    at[0] = mean + deviation * pair.x, at[1] = mean + deviation * pair.y;
  });
}
curandStatus_t curandGenerateNormalDouble(curandGenerator_t generator, double *to, size_t count, double mean, double deviation) {
  return generate(generator, to, count, 2, [=](auto *state, double *at) {
    double2 pair = curand_normal2_double(state);
    at[0] = mean + deviation * pair.x, at[1] = mean + deviation * pair.y;
  });
}
curandStatus_t curandGenerateLogNormal(curandGenerator_t generator, float *to, size_t count, float mean, float deviation) {
  return generate(generator, to, count, 2, [=](auto *state, float *at) {
    float2 pair = curand_log_normal2(state, mean, deviation);
    at[0] = pair.x, at[1] = pair.y;
  });
}
curandStatus_t curandGenerateLogNormalDouble(curandGenerator_t generator, double *to, size_t count, double mean, double deviation) {
  return generate(generator, to, count, 2, [=](auto *state, double *at) {
    double2 pair = curand_log_normal2_double(state, mean, deviation);
    at[0] = pair.x, at[1] = pair.y;
  });
}
curandStatus_t curandGeneratePoisson(curandGenerator_t generator, unsigned *to, size_t count, double lambda) {
  if (!(lambda > 0)) return CURAND_STATUS_OUT_OF_RANGE;
  return generate(generator, to, count, 1, [=](auto *state, unsigned *at) { *at = curand_poisson(state, lambda); });
}

// What is not there.
curandStatus_t curandGeneratePoissonMethod(curandGenerator_t, unsigned *, size_t, double, curandMethod_t) { return CURAND_STATUS_ARCH_MISMATCH; }
curandStatus_t curandGenerateBinomial(curandGenerator_t, unsigned *, size_t, unsigned, double) { return CURAND_STATUS_ARCH_MISMATCH; }
curandStatus_t curandGenerateBinomialMethod(curandGenerator_t, unsigned *, size_t, unsigned, double, curandMethod_t) { return CURAND_STATUS_ARCH_MISMATCH; }
curandStatus_t curandCreatePoissonDistribution(double, curandDiscreteDistribution_t *) { return CURAND_STATUS_ARCH_MISMATCH; }
curandStatus_t curandDestroyDistribution(curandDiscreteDistribution_t) { return CURAND_STATUS_ARCH_MISMATCH; }
curandStatus_t curandGetDirectionVectors32(curandDirectionVectors32_t **, curandDirectionVectorSet_t) { return CURAND_STATUS_ARCH_MISMATCH; }
curandStatus_t curandGetScrambleConstants32(unsigned **) { return CURAND_STATUS_ARCH_MISMATCH; }
curandStatus_t curandGetDirectionVectors64(curandDirectionVectors64_t **, curandDirectionVectorSet_t) { return CURAND_STATUS_ARCH_MISMATCH; }
curandStatus_t curandGetScrambleConstants64(unsigned long long **) { return CURAND_STATUS_ARCH_MISMATCH; }
}
