/* What stable Rust cannot say: a thread-local with C linkage, and weak references.
 * The thread-local is what generated code reads; its layout is checked here and in abi.rs. */
#include <stddef.h>
#include <stdint.h>

#include "regrain_tls.h"

_Thread_local struct regrain_tls __regrain_tls;

/* A block's dynamic shared memory: as large as any chip's opt-in limit (227 KiB). `extern __shared__` arrays are the symbol in it:
 * rows of threads reach a little before and behind what they use. */
_Thread_local char __regrain_dynamic_shared_room[1024 + 232448 + 1024] __attribute__((aligned(1024)));
__asm__(".globl __regrain_dynamic_shared\n"
        ".type __regrain_dynamic_shared, @object\n"
        ".set __regrain_dynamic_shared, __regrain_dynamic_shared_room + 1024\n");
extern _Thread_local char __regrain_dynamic_shared[];

void *__regrain_dynamic_shared_address(void) { return __regrain_dynamic_shared; }

/* For the Rust side of the runtime, which cannot name an extern thread-local on stable. */
struct regrain_tls *__regrain_tls_address(void) { return &__regrain_tls; }

/* Generated code calls this in loops around atomics and volatile accesses, and in rows for each lane: it is short. */
void __regrain_spin_hint_due(void);
void __regrain_spin_hint(void) {
  if (__regrain_tls.hints == 0)
    __regrain_spin_hint_due();
  else
    --__regrain_tls.hints;
}

/* The architecture that the source was compiled for (the value of __CUDA_ARCH__), where the compiler says it. */
extern const uint32_t __regrain_cuda_arch __attribute__((weak));

uint32_t __regrain_compiled_arch(void) { return &__regrain_cuda_arch ? __regrain_cuda_arch : 0; }

/* The version of CUDA's headers (CUDART_VERSION), where it is not 12: a header of the compiler's says it. */
extern const uint32_t __regrain_cuda_version __attribute__((weak));

uint32_t __regrain_compiled_version(void) { return &__regrain_cuda_version ? __regrain_cuda_version : 0; }

/* What programs have that time their launches: those are to be done when they return. */
extern int __regrain_profile_begin(void) __attribute__((weak));
extern int __regrain_adapt_begin(void) __attribute__((weak));

int __regrain_times_launches(void) { return __regrain_profile_begin || __regrain_adapt_begin; }

/* The C++ library's demangler, where the program has one; the result is malloc'ed. */
extern char *__cxa_demangle(const char *name, char *buffer, size_t *length, int *status) __attribute__((weak));

char *__regrain_demangle(const char *name) {
  int status = 0;
  return __cxa_demangle ? __cxa_demangle(name, NULL, NULL, &status) : NULL;
}
