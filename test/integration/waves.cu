// Warp operations of lanes that went apart: chips of AMD's with waves of 64 and 32 lanes, run as they are shipped.
// CPU-ONLY: chips are emulated
// RUN: %regrain -O2 --offload-arch=cpu -fregrain-emulate=gfx90a %s -o %t && %t
// RUN: %regrain -O2 --offload-arch=cpu -fregrain-emulate=gfx1030 %s -o %t && %t
// RUN: %regrain -O2 --offload-arch=cpu -fregrain-emulate=gfx1030 -mwavefrontsize64 %s -o %t && %t
// RUN: %regrain -O2 --offload-arch=cpu -fregrain-emulate=gfx90a -fregrain-coarsen-blocks=2 %s -o %t && %t
#include "check.h"

// Each side of a branch sees itself alone, and all meet behind it; two warps share a wave of 64 and do not see each other.
__global__ void sides(unsigned *out) {
  unsigned i = threadIdx.x, warp = i / 32;
  unsigned seen;
  if ((i + warp) % 2)
    seen = __activemask();
  else
    seen = ~__activemask();
  out[i] = seen;
  out[blockDim.x + i] = __ballot_sync(~0u, i % 3 == warp);
}

// Lanes leave a loop one after the other; who is still in it adds up who is.
__global__ void rounds(unsigned *out) {
  unsigned i = threadIdx.x, lane = i % 32, sum = 0;
  for (unsigned round = 0; round <= lane % 5; ++round)
    sum += __popc(__activemask());
  out[i] = sum;
  unsigned total = 0;
  // Only some rounds have the operation, others for other lanes.
  for (unsigned round = 0; round < 8; ++round)
    if ((round ^ lane) & 1)
      total += __popc(__ballot_sync(__activemask(), true));
  out[blockDim.x + i] = total;
}

// Some return, some break out, the rest shuffle on.
__global__ void leaving(unsigned *out) {
  unsigned i = threadIdx.x, lane = i % 32, value = i;
  if (lane >= 24)
    return;
  for (unsigned round = 0; round < 4; ++round) {
    if (lane >= 16 && round == 2)
      break;
    value += __shfl_xor_sync(__activemask(), value, 1);
  }
  out[i] = value;
}

int main() {
  const unsigned n = 128;
  unsigned *out = managed<unsigned>(2 * n);
  sides<<<1, n>>>(out);
  finish_kernel();
  for (unsigned i = 0; i < n; ++i) {
    unsigned warp = i / 32, odd = (i + warp) % 2, mask = warp % 2 ? 0x55555555u : 0xaaaaaaaau;
    EXPECT_AT(i, out[i], odd ? mask : mask);
    unsigned votes = 0;
    for (unsigned lane = 0; lane < 32; ++lane)
      votes |= unsigned((warp * 32 + lane) % 3 == warp) << lane;
    EXPECT_AT(i, out[n + i], votes);
  }
  rounds<<<1, n>>>(out);
  finish_kernel();
  for (unsigned i = 0; i < n; ++i) {
    unsigned lane = i % 32, sum = 0;
    for (unsigned round = 0; round <= lane % 5; ++round)
      for (unsigned other = 0; other < 32; ++other)
        sum += other % 5 >= round;
    EXPECT_AT(i, out[i], sum);
    EXPECT_AT(i, out[n + i], 4u * 16u);
  }
  leaving<<<1, n>>>(out);
  finish_kernel();
  for (unsigned i = 0; i < n; ++i) {
    unsigned lane = i % 32, own = i, other = i ^ 1;
    if (lane >= 24)
      continue;
    for (unsigned round = 0; round < (lane >= 16 ? 2u : 4u); ++round)
      own = other = own + other;
    EXPECT_AT(i, out[i], own);
  }
  return result();
}
