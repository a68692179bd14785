// Sizes of tiles that are tried while a nest runs again and again: against times that are made up, with noise of a fifth.
// RUN: clang -O2 -I %S/../../crates/compiler/src/parallelize %s -o %t -lm && %t | FileCheck %s
// RUN: env REGRAIN_ADAPTIVE=off %t off | FileCheck %s --check-prefix=OFF
#include <math.h>
#include <stdio.h>
#include "tiles.h"
#include "trials.h"

// The band [t, t + i] of a row: 0 <= t < n0, 1 <= i < n1 - 1.
static int skewed(const long *n, long b0, long e0, long *first, long *last) {
  const long low = b0 < 0 ? 0 : b0, high = e0 > n[0] - 1 ? n[0] - 1 : e0;
  *first = low + 1;
  *last = high + n[1] - 2;
  return low <= high && n[1] > 2;
}

static const struct tile_machine machine = {500, 3500, 100, 2, 0.08, 100, {32768, 1 << 20, 1 << 25, 1e15}, {0, 0.2, 1, 3}, {1e15, 1e15}, {0, 0}, {16, 64}, {3, 4}, 500, 150, 60, 5, 5};
static const struct tile_accesses row = {8, 1, {{1, 1}}, {2}};

static double noise(void) {
  static unsigned state = 12345;
  state = state * 1664525 + 1013904223;
  return (state >> 8) / (double)(1 << 24);
}

// What a run takes, in nanoseconds: least at the sizes that are meant, a fifth more for each doubling of one of them.
static struct tile_sizes meant;
static double taken(const struct tile_sizes *tile) {
  const double apart = fabs(log2((double)tile->first / meant.first)) + fabs(log2((double)tile->second / meant.second)) + fabs(log2((double)tile->piece / meant.piece));
  return 1e6 * pow(1.2, apart);
}

// A nest that runs so many times, of n numbers in each row; its sizes at last, and what all runs took beyond those with the first sizes.
static struct tile_choices choices;
static double beyond;
static long other_runs;
static struct tile_sizes runs(long n, long count) {
  const long numbers[] = {200, n};
  const struct tile_band band = {0, 199, skewed, numbers, 200.0 * (n - 2), 7.0 * 200 * (n - 2), 8.0 * n, 2.5, 2, 0, 2, 1, &row, 2};
  struct tile_sizes first = {0, 0, 0, 0}, tile = first;
  beyond = other_runs = 0;
  for (long run = 0; run < count; run++) {
    tile = tile_chosen(&band, &machine, &choices);
    first = run == 0 ? tile : first;
    beyond += taken(&tile) / taken(&first) - 1;
    other_runs += !tile_equal(&tile, &first);
    tile_took(&choices, taken(&tile) * (1 + 0.2 * noise()));
  }
  return choices.of[choices.last].tile;
}

// How many times longer than at the sizes that are meant.
static double slower(struct tile_sizes tile) { return taken(&tile) / 1e6; }

int main(int count, char **arguments) {
  (void)arguments;
  meant = (struct tile_sizes){25, 1024, 12, 0};
  // OFF: with the model's sizes 1
  const struct tile_sizes modelled = runs(100000, 1);
  if (count > 1) {
    printf("with the model's sizes %d\n", tile_equal(&modelled, (runs(100000, 1000), &choices.of[choices.last].tile)) && other_runs == 0);
    return 0;
  }
  // CHECK: few runs: with the model's sizes 1
  runs(100000, 8);
  printf("few runs: with the model's sizes %d\n", other_runs == 0);
  // CHECK: many: near the best 1, faster than the model's 1, over 1
  const struct tile_sizes many = runs(100000, 1000);
  printf("many: near the best %d, faster than the model's %d, over %d\n", slower(many) < 1.1, slower(many) < slower(modelled), choices.of[choices.last].trials.is_over);
  // Sizes of two problems in turn.
  // CHECK: in turn: kept apart 1
  struct tile_sizes one = many, two = many;
  for (int turn = 0; turn < 500; turn++)
    one = runs(100000, 1), two = runs(60000, 1);
  printf("in turn: kept apart %d\n", tile_equal(&one, &many) && slower(two) < 1.1);
  // The best by the model is the best: nothing is gained, and little is lost.
  // CHECK: nothing to gain: little lost 1, tried 1
  meant = runs(80000, 1);
  runs(80000, 300);
  printf("nothing to gain: little lost %d, tried %d\n", beyond < 0.06 * 300, other_runs > 0);
  // What is far worse than the model says costs no more.
  // CHECK: many worst cases: little lost 1
  double most = 0;
  for (long n = 50000; n < 51000; n += 50) {
    meant = runs(n, 1);
    runs(n, 40);
    most = beyond > most ? beyond : most;
  }
  printf("many worst cases: little lost %d\n", most < 0.08 * 40);
  return 0;
}
