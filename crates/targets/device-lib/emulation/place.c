/* Where a work-item is, and what the hardware and the runtime tell a kernel of its launch. */
#include "abi.h"

#define AMD(ret, name) INLINE ret __regrain_llvm_amdgcn_##name

#define PLACE(kind, field)                                                        \
  AMD(uint32_t, kind##_x)(void) { return __regrain_tls.field[0]; }                \
  AMD(uint32_t, kind##_y)(void) { return __regrain_tls.field[1]; }                \
  AMD(uint32_t, kind##_z)(void) { return __regrain_tls.field[2]; }
PLACE(workitem_id, tid)
PLACE(workgroup_id, ctaid)

/* hsa_kernel_dispatch_packet_t */
struct packet {
  uint16_t header, setup, workgroup_size[3], reserved;
  uint32_t grid_size[3], private_segment_size, group_segment_size;
  uint64_t kernel_object, kernarg_address, reserved2, completion_signal;
};
_Static_assert(offsetof(struct packet, grid_size) == 12 && sizeof(struct packet) == 64, "the format of HSA's packets");

static _Thread_local struct packet packet;

AMD(const void *, dispatch_ptr)(void) {
  packet.setup = 3;
  for (int i = 0; i < 3; ++i) {
    packet.workgroup_size[i] = (uint16_t)__regrain_tls.ntid[i];
    packet.grid_size[i] = __regrain_tls.ntid[i] * __regrain_tls.nctaid[i];
  }
  packet.group_segment_size = __regrain_tls.dynamic_shared_size;
  return &packet;
}

/* The arguments behind a kernel's own, from code object version 5 on. */
struct implicit {
  uint32_t block_count[3];
  uint16_t group_size[3], remainder[3];
  uint64_t reserved[2], global_offset[3];
  uint16_t grid_dims, pad[3];
  uint64_t printf_buffer, hostcall_buffer, multigrid, heap, default_queue, completion_action;
  uint32_t dynamic_lds_size;
  uint8_t pad2[132];
};
_Static_assert(offsetof(struct implicit, global_offset) == 40, "the format of implicit arguments");
_Static_assert(offsetof(struct implicit, dynamic_lds_size) == 120 && sizeof(struct implicit) == 256, "the same");

static _Thread_local struct implicit implicit;

AMD(const void *, implicitarg_ptr)(void) {
  for (int i = 0; i < 3; ++i) {
    implicit.block_count[i] = __regrain_tls.nctaid[i];
    implicit.group_size[i] = (uint16_t)__regrain_tls.ntid[i];
  }
  implicit.grid_dims = 3;
  implicit.dynamic_lds_size = __regrain_tls.dynamic_shared_size;
  return &implicit;
}

/* Up to version 4: global offsets and addresses, all 0. */
static const uint64_t implicit_4[7];
INLINE const void *__regrain_amdgcn_implicitarg_ptr_4(void) { return implicit_4; }

/* The packet counts dynamic shared memory alone. */
AMD(uint32_t, groupstaticsize)(void) { return 0; }

AMD(uint64_t, dispatch_id)(void) { return __regrain_tls.grid_id; }

/* Time. The shader clock and the constant one (100 MHz) both count nanoseconds here but for the latter's scale. */
AMD(uint64_t, s_memtime)(void) { return __regrain_clock64(); }
AMD(uint64_t, s_memrealtime)(void) { return __regrain_globaltimer() / 10; }
INLINE uint64_t __regrain_llvm_readcyclecounter(void) { return __regrain_clock64(); }
INLINE uint64_t __regrain_llvm_readsteadycounter(void) { return __regrain_globaltimer() / 10; }
AMD(void, s_sleep)(uint32_t n) {
  (void)n;
  __regrain_nanosleep(1);
}
AMD(void, s_sethalt)(uint32_t n) {
  (void)n;
  __regrain_trap();
}
AMD(void, endpgm)(void) { __regrain_exit_thread(); }

bool __regrain_is_shared(const void *ptr);
bool __regrain_is_local(const void *ptr);
AMD(bool, is_shared)(const void *ptr) { return __regrain_is_shared(ptr); }
AMD(bool, is_private)(const void *ptr) { return __regrain_is_local(ptr); }

/* Orders of instructions and caches: nothing to do. */
#define NOTHING(name) \
  AMD(void, name)(void) {}
#define NOTHING1(name) \
  AMD(void, name)(uint32_t n) { (void)n; }
NOTHING(buffer_wbinvl1) NOTHING(buffer_wbinvl1_vol) NOTHING(s_dcache_inv) NOTHING(s_dcache_wb) NOTHING(s_ttracedata_imm)
NOTHING1(s_waitcnt) NOTHING1(sched_barrier) NOTHING1(iglp_opt) NOTHING1(s_setprio) NOTHING1(s_incperflevel)
NOTHING1(s_decperflevel) NOTHING1(s_nop)
AMD(void, sched_group_barrier)(uint32_t mask, uint32_t size, uint32_t id) { (void)mask, (void)size, (void)id; }
