/* Environment registers, which NVIDIA's driver fills: llvm.nvvm.read.ptx.sreg.envreg*
 *
 * Cooperative groups take the address of the grid's workspace from registers 1 (high) and 2 (low). Only that it is not null
 * matters: the lowering sends the barrier of the grid to each target's own (`__regrain_grid_barrier_arrive` and `_wait`).
 */
#include "abi.h"

static uint32_t grid_workspace[2];

#define ENVREG(n, value) \
  NVVM(uint32_t, read_ptx_sreg_envreg##n)(void) { return (value); }
#define EMPTY(n) ENVREG(n, 0)

EMPTY(0)
ENVREG(1, (uint32_t)((uintptr_t)grid_workspace >> 32))
ENVREG(2, (uint32_t)(uintptr_t)grid_workspace)
EMPTY(3) EMPTY(4) EMPTY(5) EMPTY(6) EMPTY(7) EMPTY(8) EMPTY(9) EMPTY(10) EMPTY(11)
EMPTY(12) EMPTY(13) EMPTY(14) EMPTY(15) EMPTY(16) EMPTY(17) EMPTY(18) EMPTY(19) EMPTY(20)
EMPTY(21) EMPTY(22) EMPTY(23) EMPTY(24) EMPTY(25) EMPTY(26) EMPTY(27) EMPTY(28) EMPTY(29)
EMPTY(30) EMPTY(31)
