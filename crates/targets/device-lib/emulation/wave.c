/* What lanes of a wave say to each other, after the ISA manuals of CDNA 2 and RDNA 2. */
#include "wave.h"

WAVE(readfirstlane)(uint64_t value, uint32_t site) {
  struct wave all;
  __regrain_wave_stop(site, value, &all);
  return all.value[__builtin_ctzll(all.active)];
}

/* A register of a lane that is not active holds what it held; here that is 0. */
WAVE(readlane)(uint64_t value, uint64_t from, uint32_t site) {
  struct wave all;
  __regrain_wave_stop(site, value, &all);
  return all.value[from & (wave_lanes(site) - 1)];
}

LANE(writelane)(uint64_t value, uint64_t to, uint64_t old, uint32_t site) {
  return lane_of(site) == (to & (wave_lanes(site) - 1)) ? value : old;
}

WAVE(ballot)(uint64_t predicate, uint32_t site) {
  struct wave all;
  __regrain_wave_stop(site, predicate, &all);
  uint64_t votes = 0;
  for (int lane = 0; lane < 64; ++lane) votes |= (all.value[lane] & 1) << lane;
  return votes & all.active;
}
LANE(inverse_ballot)(uint64_t mask, uint32_t site) { return mask >> lane_of(site) & 1; }

/* Lanes that are not active have stored nothing: 0 is read of them. */
WAVE(ds_bpermute)(uint64_t address, uint64_t value, uint32_t site) {
  struct wave all;
  __regrain_wave_stop(site, value, &all);
  return all.value[(uint32_t)address / 4 & (wave_lanes(site) - 1)];
}

/* Of several lanes that send to one the last wins. */
WAVE(ds_permute)(uint64_t address, uint64_t value, uint32_t site) {
  struct wave all;
  uint32_t lanes = wave_lanes(site), got = 0;
  __regrain_wave_stop(site, (uint64_t)((uint32_t)address / 4 & (lanes - 1)) << 32 | (uint32_t)value, &all);
  for (uint32_t lane = 0; lane < lanes; ++lane)
    if (is_active(&all, lane) && all.value[lane] >> 32 == lane_of(site)) got = (uint32_t)all.value[lane];
  return got;
}

/* Four lanes in any order, or 32 by masks, or a rotation of 32. */
WAVE(ds_swizzle)(uint64_t value, uint64_t pattern, uint32_t site) {
  struct wave all;
  __regrain_wave_stop(site, value, &all);
  uint32_t lane = lane_of(site), in = lane & 31, p = (uint32_t)pattern & 0xffff;
  if (p >= 0xe000) __regrain_trap(); /* the order of an FFT */
  if (p >= 0xc000) {
    uint32_t fixed = p & 31, n = p >> 5 & 31, turned = p & 0x400 ? in - n : in + n;
    in = (in & fixed) | (turned & 31 & ~fixed);
  } else if (p & 0x8000) {
    in = (in & ~3u) | (p >> 2 * (in & 3) & 3);
  } else {
    in = ((in & p & 31) | (p >> 5 & 31)) ^ (p >> 10 & 31);
  }
  return all.value[(lane & 32) | in];
}

/* The lane that a DPP control reads; -1 where there is none. */
static int32_t dpp_source(uint32_t control, uint32_t lane, uint32_t lanes) {
  uint32_t row = lane & ~15u, in = lane & 15, n = control & 15;
  if (control < 0x100) return (int32_t)((lane & ~3u) | (control >> 2 * (lane & 3) & 3));
  switch (control >> 4) {
  case 0x10: return in + n < 16 ? (int32_t)(lane + n) : -1;       /* row_shl */
  case 0x11: return in >= n ? (int32_t)(lane - n) : -1;           /* row_shr */
  case 0x12: return (int32_t)(row | ((in - n) & 15));             /* row_ror */
  case 0x15: return (int32_t)(row | n);                           /* row_share, row_newbcast */
  case 0x16: return (int32_t)(row | (in ^ n));                    /* row_xmask */
  }
  switch (control) {
  case 0x130: return lane + 1 < lanes ? (int32_t)lane + 1 : -1;   /* wave_shl */
  case 0x134: return (int32_t)((lane + 1) & (lanes - 1));         /* wave_rol */
  case 0x138: return (int32_t)lane - 1;                           /* wave_shr */
  case 0x13c: return (int32_t)((lane - 1) & (lanes - 1));         /* wave_ror */
  case 0x140: return (int32_t)(row | (15 - in));                  /* row_mirror */
  case 0x141: return (int32_t)((lane & ~7u) | (7 - (lane & 7)));  /* row_half_mirror */
  case 0x142: return (int32_t)row - 1;                            /* row_bcast:15 */
  case 0x143: return lane >= 32 ? 31 : -1;                        /* row_bcast:31 */
  }
  __regrain_trap();
}

static bool dpp_writes(uint32_t lane, uint64_t rows, uint64_t banks) {
  return rows >> lane / 16 & banks >> lane / 4 % 4 & 1;
}

WAVE(update_dpp)(uint64_t old, uint64_t value, uint64_t control, uint64_t rows, uint64_t banks, uint64_t bound, uint32_t site) {
  struct wave all;
  __regrain_wave_stop(site, value, &all);
  uint32_t lane = lane_of(site);
  int32_t from = dpp_source((uint32_t)control, lane, wave_lanes(site));
  if (!dpp_writes(lane, rows, banks)) return old;
  if (from < 0 || !is_active(&all, (uint32_t)from)) return bound ? 0 : old;
  return all.value[from];
}
WAVE(mov_dpp)(uint64_t value, uint64_t control, uint64_t rows, uint64_t banks, uint64_t bound, uint32_t site) {
  return __regrain_amdgcn_update_dpp(0, value, control, rows, banks, bound, site);
}
WAVE(mov_dpp8)(uint64_t value, uint64_t choice, uint32_t site) {
  struct wave all;
  __regrain_wave_stop(site, value, &all);
  uint32_t lane = lane_of(site);
  return all.value[(lane & ~7u) | (choice >> 3 * (lane & 7) & 7)];
}

/* Any lane of a row of 16, of this row or of its neighbour. */
CONVERGENT static uint64_t permute_row(uint32_t other, uint64_t old, uint64_t value, uint64_t low, uint64_t high, uint64_t bound, uint32_t site) {
  struct wave all;
  __regrain_wave_stop(site, value, &all);
  uint32_t lane = lane_of(site), choice = (uint32_t)(((high & 0xffffffff) << 32 | (low & 0xffffffff)) >> 4 * (lane & 15)) & 15;
  uint32_t from = ((lane & ~15u) ^ other) | choice;
  if (!is_active(&all, from)) return bound ? 0 : old;
  return all.value[from];
}
WAVE(permlane16)(uint64_t old, uint64_t value, uint64_t low, uint64_t high, uint64_t fetch, uint64_t bound, uint32_t site) {
  return permute_row(0, old, value, low, high, bound | fetch, site);
}
WAVE(permlanex16)(uint64_t old, uint64_t value, uint64_t low, uint64_t high, uint64_t fetch, uint64_t bound, uint32_t site) {
  return permute_row(16, old, value, low, high, bound | fetch, site);
}
WAVE(permlane64)(uint64_t value, uint32_t site) {
  struct wave all;
  __regrain_wave_stop(site, value, &all);
  return all.value[site & SITE_WAVE64 ? lane_of(site) ^ 32 : lane_of(site)];
}

/* The end of a round of a loop in which lanes may stop. */
WAVE(latch)(uint32_t site) {
  struct wave all;
  __regrain_wave_stop(site, 0, &all);
  return 0;
}
WAVE(wave_barrier)(uint32_t site) { return __regrain_amdgcn_latch(site); }
WAVE(s_barrier)(uint32_t site) { return __regrain_amdgcn_latch(site | SITE_BARRIER); }

LANE(wavefrontsize)(uint32_t site) { return wave_lanes(site); }
LANE(mbcnt_lo)(uint64_t mask, uint64_t base, uint32_t site) {
  uint32_t lane = lane_of(site);
  uint32_t below = lane >= 32 ? ~0u : (1u << lane) - 1;
  return (uint32_t)base + (uint32_t)__builtin_popcount((uint32_t)mask & below);
}
LANE(mbcnt_hi)(uint64_t mask, uint64_t base, uint32_t site) {
  uint32_t lane = lane_of(site);
  uint32_t below = lane <= 32 ? 0 : (1u << (lane - 32)) - 1;
  return (uint32_t)base + (uint32_t)__builtin_popcount((uint32_t)mask & below);
}
