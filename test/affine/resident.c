// Arrays stay on a device whose memory is its own while a loop of the host goes on that accesses no memory of theirs itself.
// REQUIRES: cuda-toolkit
// RUN: %regrain -O2 --offload-arch=cpu -fregrain-emulate=sm_80 -fregrain-parallelize -fregrain-parallelize-from=0 -fregrain-emit-cuda=%t.cu %s \
// RUN:     -Wl,--wrap=cudaDeviceGetAttribute,--wrap=cudaMemcpy -o %t && %t | FileCheck %s
// RUN: FileCheck %s --check-prefix=CODE < %t.cu
// With debug information, too.
// RUN: %regrain -O2 -g --offload-arch=cpu -fregrain-emulate=gfx90a -fregrain-parallelize -fregrain-parallelize-from=0 %s \
// RUN:     -Wl,--wrap=cudaDeviceGetAttribute,--wrap=cudaMemcpy -o %t.g && %t.g | FileCheck %s
// Processors share the host's memory.
// RUN: %regrain -O2 --offload-arch=cpu -fregrain-parallelize -fregrain-parallelize-from=0 -fregrain-emit-cuda=%t.cpu.cu -c %s -o %t.o
// RUN: FileCheck %s --check-prefix=NONE < %t.cpu.cu
// NONE-NOT: resident_
#include "Inputs/twins.h"

// CODE: resident_expect(
// CODE: extern "C" void regrain_begin_
// CODE: int solve_group0_{{[0-9a-f]+}}_launches(
// CODE: resident_expect((char *)(host_A0 + first_A0), (end_A0 - first_A0) * sizeof *host_A0);
// CODE: char *stays = resident_at((char *)(host_A0 + first_A0), bytes, true);
// CODE: extern "C" int regrain_solve_group0_
// CODE: resident_leave();

// The device of these programs has memory of its own, and says what is copied.
static long bytes;
int __real_cudaDeviceGetAttribute(int *, int, int);
int __wrap_cudaDeviceGetAttribute(int *value, int which, int device) {
  if (which != 88)
    return __real_cudaDeviceGetAttribute(value, which, device);
  *value = 0;
  return 0;
}
int __real_cudaMemcpy(void *, const void *, unsigned long, int);
int __wrap_cudaMemcpy(void *to, const void *from, unsigned long count, int kind) {
  bytes += count;
  return __real_cudaMemcpy(to, from, count, kind);
}

#define FOR(i, from, to) for (int i = (from); i < (to); i++)
#define BOTH(name, parameters, ...)                                                                                    \
  static __attribute__((noinline)) void name parameters __VA_ARGS__                                                    \
  static __attribute__((noinline, optnone)) void name##_twin parameters __VA_ARGS__

// A loop until nothing moves, or for so many rounds.
BOTH(solve, (int n, int rounds, int *restrict a, int *restrict b), {
  int moved = 1;
  for (int round = 0; round < rounds && moved; round++) {
    FOR(i, 1, n - 1) b[i] = (a[i - 1] + a[i + 1]) / 2;
    moved = 0;
    FOR(i, 1, n - 1) moved |= a[i] != b[i];
    FOR(i, 1, n - 1) a[i] = b[i];
  }
})

// Through functions, and arrays that change places.
BOTH(sweep, (int n, int *restrict a, int *restrict b), { FOR(i, 1, n - 1) b[i] = (a[i - 1] + a[i + 1]) / 2; })
static __attribute__((noinline)) void swap(int n, int rounds, int *a, int *b) {
  for (int round = 0; round < rounds; round++) {
    sweep(n, a, b);
    int *before = a;
    a = b, b = before;
  }
}
static __attribute__((noinline, optnone)) void swap_twin(int n, int rounds, int *a, int *b) {
  for (int round = 0; round < rounds; round++) {
    sweep_twin(n, a, b);
    int *before = a;
    a = b, b = before;
  }
}

// The host reads what a nest stores.
static int seen;
static __attribute__((noinline)) void look(int n, int rounds, int *a, int *b) {
  for (int round = 0; round < rounds; round++) {
    sweep(n, a, b);
    seen += b[n / 2];
    sweep(n, b, a);
  }
}
static __attribute__((noinline, optnone)) void look_twin(int n, int rounds, int *a, int *b) {
  for (int round = 0; round < rounds; round++) {
    sweep_twin(n, a, b);
    seen -= b[n / 2];
    sweep_twin(n, b, a);
  }
}

// A nest that has to run on the host: its arrays overlap.
BOTH(shift, (int n, int *a, int *b), { FOR(i, 0, n - 2) b[i] = a[i + 1] - a[i]; })
static __attribute__((noinline)) void fall(int n, int rounds, int *a, int *b) {
  for (int round = 0; round < rounds; round++) {
    sweep(n, a, b);
    shift(n, b, b + 1);
    sweep(n, b, a);
  }
}
static __attribute__((noinline, optnone)) void fall_twin(int n, int rounds, int *a, int *b) {
  for (int round = 0; round < rounds; round++) {
    sweep_twin(n, a, b);
    shift_twin(n, b, b + 1);
    sweep_twin(n, b, a);
  }
}

// Memory of a function that the loop calls is gone when it returns.
static __attribute__((noinline)) void through(int n, int *restrict a, int *restrict b) {
  int local[80];
  FOR(i, 0, n) local[i] = a[i] + 1;
  FOR(i, 0, n) b[i] = local[n - 1 - i];
}
static __attribute__((noinline, optnone)) void through_twin(int n, int *restrict a, int *restrict b) {
  int local[80];
  FOR(i, 0, n) local[i] = a[i] + 1;
  FOR(i, 0, n) b[i] = local[n - 1 - i];
}
static __attribute__((noinline)) void stack(int n, int rounds, int *a, int *b) {
  for (int round = 0; round < rounds; round++) {
    through(n, a, b);
    sweep(n, b, a);
  }
}
static __attribute__((noinline, optnone)) void stack_twin(int n, int rounds, int *a, int *b) {
  for (int round = 0; round < rounds; round++) {
    through_twin(n, a, b);
    sweep_twin(n, b, a);
  }
}

// Parts of arrays: first single numbers and halves, then more; loops in loops.
BOTH(part, (int from, int to, int *a), { FOR(i, from, to) a[i] = a[i] * 3 + 1; })
static __attribute__((noinline)) void parts(int n, int rounds, int *a, int *b) {
  for (int round = 0; round < rounds; round++)
    for (int to = 1; to < n; to *= 2) {
      part(to - 1, to, a);
      part(0, to, b);
      part(n / 2, n, a);
      part(0, n, a);
      sweep(n, a, b);
    }
}
static __attribute__((noinline, optnone)) void parts_twin(int n, int rounds, int *a, int *b) {
  for (int round = 0; round < rounds; round++)
    for (int to = 1; to < n; to *= 2) {
      part_twin(to - 1, to, a);
      part_twin(0, to, b);
      part_twin(n / 2, n, a);
      part_twin(0, n, a);
      sweep_twin(n, a, b);
    }
}

// More arrays than there is room for.
static __attribute__((noinline)) void many(int n, int rounds, int *a, int *b) {
  for (int round = 0; round < rounds; round++)
    for (int at = 0; at + 3 < n; at += 3)
      part(at, at + 3, a);
}
static __attribute__((noinline, optnone)) void many_twin(int n, int rounds, int *a, int *b) {
  for (int round = 0; round < rounds; round++)
    for (int at = 0; at + 3 < n; at += 3)
      part_twin(at, at + 3, a);
}

typedef void (*Loop)(int, int, int *, int *);
// Rounds behind the first few copy next to nothing, or all.
static const struct {
  const char *name;
  Loop mine, twin;
} loops[] = {
    {"solve", solve, solve_twin}, // CHECK: solve: more rounds copy few bytes more
    {"swap", swap, swap_twin},    // CHECK: swap: more rounds copy few bytes more
    {"look", look, look_twin},    // CHECK: look: more rounds copy all again
    {"fall", fall, fall_twin},    // CHECK: fall: more rounds copy all again
    {"stack", stack, stack_twin}, // CHECK: stack: more rounds copy all again
    {"parts", parts, parts_twin}, // CHECK: parts: more rounds copy few bytes more
    {"many", many, many_twin},    // CHECK: many: more rounds copy all again
};

int main(void) {
  for (unsigned at = 0; at < sizeof loops / sizeof *loops; at++) {
    long copied[2];
    EACH(n) for (int more = 0; more < 2; more++) {
      const size_t row = (n + 8) * sizeof(int);
      fresh(2, row, row);
      bytes = 0;
      loops[at].mine(n, more ? 12 : 4, mine(0), mine(1));
      copied[more] = bytes;
      loops[at].twin(n, more ? 12 : 4, twin(0), twin(1));
      same(loops[at].name, n);
      failures += seen != 0;
    }
    // Of the last size.
    printf("%s: more rounds copy %s\n", loops[at].name, copied[1] < copied[0] + 8 * 40 ? "few bytes more" : "all again");
  }
  return failures != 0;
}
