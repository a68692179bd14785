/* The runtime's functions that modules may want which a program loads while it runs (`images::loaded`). */
#include <stddef.h>

#define FUNCTIONS(each) \
  each(active_mask) each(assertfail) each(barrier) each(barrier_arrive) each(barrier_red) each(clock64) \
  each(dynamic_shared_address) each(exit_thread) each(free) each(globaltimer) each(grid_barrier) each(is_local) \
  each(lockstep) each(malloc) each(nanosleep) each(next_thread) each(spin_hint) each(take_row) each(tls_address) \
  each(trap) each(unsupported) each(vprintf) each(wait) each(wait_loop) each(wait_of_block) each(warp_exchange) \
  each(wave_stop) each(cuda_DeviceGetAttribute) each(cuda_DeviceGetCacheConfig) each(cuda_DeviceGetLimit) \
  each(cuda_DeviceGetSharedMemConfig) each(cuda_DeviceSynchronize) each(cuda_EventCreateWithFlags) \
  each(cuda_EventDestroy) each(cuda_EventRecord) each(cuda_EventRecordWithFlags) each(cuda_Free) \
  each(cuda_FuncGetAttributes) each(cuda_GetDevice) each(cuda_GetDeviceCount) each(cuda_GetErrorName) \
  each(cuda_GetErrorString) each(cuda_GetLastError) each(cuda_GetParameterBuffer) each(cuda_GetParameterBufferV2) \
  each(cuda_GraphSetConditional) \
  each(cuda_LaunchDevice) each(cuda_LaunchDeviceV2) each(cuda_Malloc) each(cuda_Memcpy2DAsync) \
  each(cuda_Memcpy3DAsync) each(cuda_MemcpyAsync) each(cuda_Memset2DAsync) each(cuda_Memset3DAsync) \
  each(cuda_MemsetAsync) each(cuda_OccupancyMaxActiveBlocksPerMultiprocessor) \
  each(cuda_OccupancyMaxActiveBlocksPerMultiprocessorWithFlags) each(cuda_PeekAtLastError) \
  each(cuda_RuntimeGetVersion) each(cuda_StreamCreateWithFlags) each(cuda_StreamDestroy) \
  each(cuda_StreamWaitEvent)

#define DECLARED(name) extern void __regrain_##name(void);
FUNCTIONS(DECLARED)

struct export {
  const char *name;
  void (*address)(void);
};

#define ROW(name) {"__regrain_" #name, __regrain_##name},
static const struct export exports[] = {FUNCTIONS(ROW){NULL, NULL}};

const struct export *__regrain_exports(void) { return exports; }
