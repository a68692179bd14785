/* Wave operations of emulated chips of AMD's.
 *
 * `llvm.amdgcn.a.b` with one or more lanes is `__regrain_amdgcn_a_b`: all arguments and the result travel as 64-bit integers, and the site
 * comes last: bit 31 says that a wave has 64 lanes, bit 30 that it waits for the other waves, the rest is the place in the
 * order of the kernel's wave operations. A lane stops at each; those go on together that the hardware would run together.
 */
#ifndef REGRAIN_EMULATION_WAVE_H
#define REGRAIN_EMULATION_WAVE_H

#include "abi.h"

enum { SITE_WAVE64 = 1u << 31, SITE_BARRIER = 1 << 30 };

struct wave {
  uint64_t value[64];
  /* The lanes that are active; others have deposited 0. */
  uint64_t active;
};

/* Stops the lane; when it goes on, `out` has what each active lane has deposited. */
CONVERGENT void __regrain_wave_stop(uint32_t site, uint64_t value, struct wave *out);

#define WAVE(name) CONVERGENT uint64_t __regrain_amdgcn_##name
#define LANE(name) INLINE uint64_t __regrain_amdgcn_##name

static INLINE uint32_t wave_lanes(uint32_t site) { return site & SITE_WAVE64 ? 64 : 32; }
static INLINE uint32_t lane_of(uint32_t site) {
  return __regrain_tls.laneid + (site & SITE_WAVE64 ? (__regrain_tls.warpid & 1) * 32 : 0);
}
static INLINE bool is_active(const struct wave *all, uint32_t lane) { return all->active >> lane & 1; }

#endif
