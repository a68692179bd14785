// The CPU ABI as generated code sees it, for hand-written kernels in tests. See src/abi.rs.
#pragma once
#include <cstdint>
#include <cuda_runtime_api.h>

struct regrain_site { const char *file; uint32_t line; const char *function; };
struct regrain_tls {
  uint32_t tid[3], ntid[3], ctaid[3], nctaid[3];
  uint32_t laneid, warpid, dynamic_shared_size, grid_id;
  void *dynamic_shared;
  const regrain_site *site;
  void *runtime;
};
struct regrain_cpu_variant { uint32_t block[3]; void (*block_entry)(void **); };
struct regrain_cpu_kernel {
  const char *name;
  void (*thread_entry)(void **);
  void (*block_entry)(void **);
  const uint32_t *param_sizes;
  uint32_t num_params, flags, max_threads, static_shared, local_bytes;
  const regrain_cpu_variant *variants;
  uint32_t num_variants;
  const void *address;
};
struct regrain_cpu_var { const char *name; void *address; uint64_t size; };
struct regrain_cpu_image {
  uint64_t magic;
  const regrain_cpu_kernel *kernels;
  uint32_t num_kernels, num_vars;
  const regrain_cpu_var *vars;
};
struct fatbin_wrapper { uint32_t magic, version; const void *data, *unused; };

extern "C" {
extern __attribute__((tls_model("initial-exec"))) thread_local regrain_tls __regrain_tls;
void __regrain_barrier(uint32_t id, uint32_t nthreads);
void __regrain_barrier_arrive(uint32_t id, uint32_t nthreads);
uint32_t __regrain_barrier_red(uint32_t op, uint32_t id, uint32_t nthreads, uint32_t pred);
uint32_t __regrain_warp_exchange(uint32_t mask, uint64_t value, uint64_t *out);
uint32_t __regrain_active_mask(void);
void __regrain_grid_barrier(void);
void __regrain_spin_hint(void);
int32_t __regrain_vprintf(const char *, const void *);
void __regrain_assertfail(const char *, const char *, uint32_t, const char *, uint64_t);
void __regrain_trap(void);
void __regrain_blocks_per_task(uint32_t);
void **__cudaRegisterFatBinary(const fatbin_wrapper *);
void __cudaRegisterFatBinaryEnd(void **);
void __cudaUnregisterFatBinary(void **);
void __cudaRegisterFunction(void **, const char *, char *, const char *, int, uint3 *, uint3 *, dim3 *, dim3 *, int *);
void __cudaRegisterVar(void **, char *, char *, const char *, int, size_t, int, int);
void __cudaRegisterManagedVar(void **, void **, char *, const char *, int, size_t, int, int);
uint32_t __regrain_device_kind(void);
int32_t __regrain_keeps_grain(void);
unsigned __cudaPushCallConfiguration(dim3, dim3, size_t, void *);
unsigned __cudaPopCallConfiguration(dim3 *, dim3 *, size_t *, void *);
}

#define SITE(n) do { static const regrain_site s = {"kernel.cu", n, "f"}; __regrain_tls.site = &s; } while (0)
#define BARRIER(n) do { SITE(n); __regrain_barrier(0, 0); } while (0)
