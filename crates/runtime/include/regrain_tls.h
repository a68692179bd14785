/* The state of the running CUDA thread: what generated code, the device library and the runtime share.
 * Its Rust view is `Tls` in src/abi.rs. */
#ifndef REGRAIN_TLS_H
#define REGRAIN_TLS_H

#include <stddef.h>
#include <stdint.h>

struct regrain_site;

struct regrain_tls {
  uint32_t tid[3];
  uint32_t ntid[3];
  uint32_t ctaid[3];
  uint32_t nctaid[3];
  uint32_t laneid;
  uint32_t warpid;
  uint32_t dynamic_shared_size;
  uint32_t grid_id;
  void *dynamic_shared;
  const struct regrain_site *site;
  void *runtime;
  uint32_t available;
  uint32_t taken;
  uint32_t hints;
  uint32_t streams;
};

_Static_assert(offsetof(struct regrain_tls, laneid) == 48, "regrain_tls is part of the ABI");
_Static_assert(offsetof(struct regrain_tls, dynamic_shared) == 64, "regrain_tls is part of the ABI");
_Static_assert(offsetof(struct regrain_tls, hints) == 96, "regrain_tls is part of the ABI");
_Static_assert(offsetof(struct regrain_tls, streams) == 100, "regrain_tls is part of the ABI");

/* Of the general model, which linkers make an offset from the thread pointer of in programs: a library that is loaded by
 * dlopen has no room among what is there from the start. */
extern _Thread_local struct regrain_tls __regrain_tls;

#endif
