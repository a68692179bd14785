// Bounds and arrays that variables of the program hold, as where all of it is global: what nothing in a loop changes is known before.
// RUN: %regrain -O2 --offload-arch=cpu -fregrain-parallelize -fregrain-parallelize-from=0 -Rpass=regrain-parallelize -Rpass-missed=regrain-parallelize %s -o %t 2> %t.err && %t
// RUN: FileCheck %s < %t.err
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEQUENTIAL __attribute__((noinline, optnone))
#define LOOP __attribute__((noinline))

enum { MOST = 40 };
static int points[3] = {MOST, 35, 30};
static double u[MOST][MOST][MOST], v[MOST][MOST][MOST];
static double factor = 0.25;
static double *rows;
static int counts[MOST], last;

#define SMOOTH(name, kind)                                                                                             \
  static kind void name(void) {                                                                                        \
    for (int i = 1; i < points[0] - 1; i++)                                                                            \
      for (int j = 1; j < points[1] - 1; j++)                                                                          \
        for (int k = 1; k < points[2] - 1; k++)                                                                        \
          v[i][j][k] = u[i][j][k] + factor * (u[i - 1][j][k] + u[i + 1][j][k]);                                        \
  }
SMOOTH(smooth_twin, SEQUENTIAL)
// CHECK-DAG: global-sizes.c:[[#@LINE+1]]:1: remark: loop runs in parallel: launches of 1 kernel stand for it
SMOOTH(smooth, LOOP)

// The array's place is in a variable, too.
#define FILL(name, kind)                                                                                               \
  static kind void name(void) {                                                                                        \
    for (int i = 0; i < points[0]; i++)                                                                                \
      for (int j = 0; j < MOST; j++)                                                                                   \
        rows[i * MOST + j] = i * factor + j;                                                                           \
  }
FILL(fill_twin, SEQUENTIAL)
// CHECK-DAG: global-sizes.c:[[#@LINE+1]]:1: remark: loop runs in parallel: launches of 1 kernel stand for it
FILL(fill, LOOP)

// The bound is one of the elements, or changes on the way.
#define SHRINK(name, kind)                                                                                             \
  static kind void name(void) {                                                                                        \
    for (int i = 0; i < counts[5]; i++)                                                                                \
      counts[i] = counts[i] / 2 + 1;                                                                                   \
    for (int i = 0; i < last; i++)                                                                                     \
      last = last - counts[i] % 2;                                                                                     \
  }
SHRINK(shrink_twin, SEQUENTIAL)
// CHECK-DAG: global-sizes.c:[[#@LINE+1]]:1: remark: loop stays sequential: how often it goes round is not known before
SHRINK(shrink, LOOP)

static double before[MOST][MOST][MOST];

int main(void) {
  for (int i = 0; i < MOST * MOST * MOST; i++)
    (&u[0][0][0])[i] = 0.5 + i % 97, (&before[0][0][0])[i] = (&v[0][0][0])[i] = 7;
  for (int i = 0; i < MOST; i++)
    counts[i] = 37 + i;
  last = 30;
  int saved[MOST], failed = 0;
  memcpy(saved, counts, sizeof counts);
  smooth();
  memcpy(before, v, sizeof v);
  memset(v, 0, sizeof v);
  for (int i = 0; i < MOST * MOST * MOST; i++)
    (&v[0][0][0])[i] = 7;
  smooth_twin();
  failed |= memcmp(before, v, sizeof v) != 0;
  shrink();
  int mine[MOST], mine_last = last;
  memcpy(mine, counts, sizeof counts);
  memcpy(counts, saved, sizeof counts), last = 30;
  shrink_twin();
  failed |= 2 * (memcmp(mine, counts, sizeof counts) != 0 || mine_last != last);
  double *one = calloc(MOST * MOST, sizeof(double)), *other = calloc(MOST * MOST, sizeof(double));
  rows = one, fill();
  rows = other, fill_twin();
  failed |= 4 * (memcmp(one, other, MOST * MOST * sizeof(double)) != 0);
  // A loop that does not run reads no more than it would.
  points[0] = 0, rows = NULL;
  fill(), smooth();
  printf("failed: %d\n", failed);
  return failed;
}
