/* The runtime's functions that modules may want which a program loads while it runs (`images::loaded`). */
#include <stddef.h>

#define FUNCTIONS(each) \
  each(active_mask) each(assertfail) each(barrier) each(barrier_arrive) each(barrier_red) each(clock64) \
  each(dynamic_shared_address) each(exit_thread) each(free) each(globaltimer) each(grid_barrier) each(is_local) \
  each(lockstep) each(malloc) each(nanosleep) each(next_thread) each(spin_hint) each(take_row) each(tls_address) \
  each(trap) each(unsupported) each(vprintf) each(wait) each(wait_loop) each(wait_of_block) each(warp_exchange) \
  each(wave_stop)

#define DECLARED(name) extern void __regrain_##name(void);
FUNCTIONS(DECLARED)

struct export {
  const char *name;
  void (*address)(void);
};

#define ROW(name) {"__regrain_" #name, __regrain_##name},
static const struct export exports[] = {FUNCTIONS(ROW){NULL, NULL}};

const struct export *__regrain_exports(void) { return exports; }
