// The model of waves of tiles: what it counts against counts of all iterations, and what decides about the sizes it chooses.
// RUN: clang -O2 -I %S/../../crates/compiler/src/parallelize %s -o %t && %t | FileCheck %s
#include <stdio.h>
#include <string.h>
#include "tiles.h"
#include "trials.h"

// The band [t, t + i] of a row: 0 <= t < n0, 1 <= i < n1 - 1.
static int skewed(const long *n, long b0, long e0, long *first, long *last) {
  const long low = b0 < 0 ? 0 : b0, high = e0 > n[0] - 1 ? n[0] - 1 : e0;
  *first = low + 1;
  *last = high + n[1] - 2;
  return low <= high && n[1] > 2;
}

// A triangle: 0 <= i < n0, i <= j < n1.
static int triangle(const long *n, long b0, long e0, long *first, long *last) {
  const long low = b0 < 0 ? 0 : b0, high = e0 > n[0] - 1 ? n[0] - 1 : e0;
  *first = low;
  *last = n[1] - 1;
  return low <= high && low < n[1];
}

// All of n0 rows: 0 <= i < n0, 0 <= j < n1.
static int rectangle(const long *n, long b0, long e0, long *first, long *last) {
  *first = 0;
  *last = n[1] - 1;
  return b0 < n[0] && e0 >= 0;
}

static int same(double one, double other) { return one - other < 1e-6 && other - one < 1e-6; }

// Tiles that have an iteration, waves that have a tile, and rounds, by going through all iterations.
static struct tile_waves all(const struct tile_band *band, long first_size, long second_size) {
  static char seen[400][400];
  struct tile_waves sum = {0, 0, 0, 0};
  memset(seen, 0, sizeof seen);
  for (long x = band->first; x <= band->last; x++) {
    long low, high;
    if (band->strip(band->numbers, x, x, &low, &high))
      for (long y = low; y <= high; y++)
        seen[x / first_size][y / second_size] = 1;
  }
  for (int wave = 0; wave < 799; wave++) {
    long tiles = 0;
    for (int strip = 0; strip < 400; strip++)
      tiles += wave - strip >= 0 && wave - strip < 400 && seen[strip][wave - strip];
    sum.tiles += tiles;
    sum.waves += tiles != 0;
    sum.alone += tiles == 1 || (tiles != 0 && band->workers == 1);
    sum.rounds += (tiles + band->workers - 1) / band->workers;
  }
  return sum;
}

static const struct tile_machine machine = {500, 3500, 100, 2, 0.08, 100, {32768, 1 << 20, 1 << 25, 1e15}, {0, 0.2, 1, 3}, {1e15, 1e15}, {0, 0}, {16, 64}, {3, 4}, 500, 150, 60, 5, 5};
static const struct tile_accesses row = {8, 1, {{1, 1}}, {2}}, plane = {8, 2, {{1, 1, 0}, {1, 0, 1}}, {2, 2}}, cube = {8, 3, {{1, 1, 0, 0}, {1, 0, 1, 0}, {1, 0, 0, 1}}, {2, 2, 2}};

static void counts(const char *name, int (*strip)(const long *, long, long, long *, long *)) {
  int wrong = 0, checked = 0;
  double worst = 0;
  for (long n0 = 1; n0 <= 130; n0 += 43)
    for (long n1 = 3; n1 <= 260; n1 += 64)
      for (long first = 1; first <= 140; first += first < 4 ? 1 : first / 2)
        for (long second = 1; second <= 300; second += second < 4 ? 1 : second / 2)
          for (long workers = 1; workers <= 4; workers += 3) {
            const long numbers[] = {n0, n1};
            const struct tile_band band = {0, n0 - 1, strip, numbers, 1.0 * n0 * n1, 7.0 * n0 * n1, 8.0 * n1, 2.5, 2, 0, 2, 1, &row, workers};
            const struct tile_waves made = tile_count(&band, first, second), wanted = all(&band, first, second);
            if ((n0 + first - 1) / first <= TILE_STRIPS) {
              checked++;
              wrong += !same(made.tiles, wanted.tiles) || !same(made.waves, wanted.waves) || !same(made.rounds, wanted.rounds) || !same(made.alone, wanted.alone);
            } else if (n1 > n0) {
              const double error = made.tiles / wanted.tiles - 1;
              worst = error > worst ? error : -error > worst ? -error : worst;
            }
          }
  printf("%s: %d of %s are wrong, tiles of many strips within %s\n", name, wrong, checked > 1000 ? "many" : "few",
         worst < 0.05 ? "5 percent" : "more");
}

static struct tile_sizes waiting(struct tile_machine with, long workers, long n0, long n1, double wait, double through) {
  const long numbers[] = {n0, n1};
  const struct tile_band band = {0, n0 - 1, skewed, numbers, 1.0 * n0 * n1, 7.0 * n0 * n1, 8.0 * n1, wait, 2, through, 2, 1, &row, workers};
  return tile_search(&band, &with);
}
static struct tile_sizes chosen(struct tile_machine with, long workers, long n0, long n1, double wait) {
  return waiting(with, workers, n0, n1, wait, 0);
}

// A cube of n numbers in each dimension, relaxed in eight steps; the sizes of a tile and of pieces are stated, or searched where they are 0.
static struct tile_sizes relaxed(struct tile_machine with, long n, long first, long second, long piece) {
  const long numbers[] = {8, n};
  const double points = 8.0 * (n - 2) * (n - 2) * (n - 2);
  const struct tile_band band = {0, 7, skewed, numbers, points, 15 * points, 8.0 * n * n * n, 5, 7, 0, 4, 1, &cube, 1};
  return first ? tile_pieces(&band, &with, first, second, piece, piece) : tile_search(&band, &with);
}

// The box of a plane that is relaxed.
static long plane_boxes(const long *numbers, const long *sizes, long *count) {
  double bytes = 8;
  for (int at = 0; at < 2; at++)
    bytes *= count[at] = sizes[0] + sizes[at + 1] + 1;
  return bytes < 1L << 30 ? (long)bytes : 1L << 30;
}

int main(void) {
  // CHECK: skewed: 0 of many are wrong, tiles of many strips within 5 percent
  counts("skewed", skewed);
  // CHECK: triangle: 0 of many are wrong, tiles of many strips within 5 percent
  counts("triangle", triangle);
  // Strips of one tile each, more than are looked at, follow one another.
  // CHECK: one tile at a time: as many rounds as tiles 1
  const long square[] = {3000, 3000};
  const struct tile_band rows = {0, 2999, rectangle, square, 9e6, 63e6, 72e6, 2.5, 2, 0, 2, 1, &row, 2};
  const struct tile_waves one = tile_count(&rows, 22, 4096);
  printf("one tile at a time: as many rounds as tiles %d\n", one.rounds > 0.9 * one.tiles);
  struct tile_machine slow = machine, fast = machine, empty = machine, narrow = machine, small = machine;
  slow.launch *= 50;
  fast.launch /= 50;
  empty.row *= 100;
  narrow.window /= 8;
  small.level_bytes[2] = 1 << 23;
  struct tile_machine flat = small;
  for (int level = 0; level < 4; level++)
    flat.level_stream[level] = 0;
  flat.astray[0] = flat.astray[1] = 0;
  const struct tile_sizes usual = chosen(machine, 2, 200, 100000, 2.5), few = chosen(slow, 2, 200, 100000, 2.5);
  const struct tile_sizes many = chosen(fast, 2, 200, 100000, 2.5), wide = chosen(machine, 16, 200, 100000, 2.5);
  // CHECK: launches that cost more: larger tiles 1, smaller where they cost less 1
  printf("launches that cost more: larger tiles %d, smaller where they cost less %d\n",
         few.first * few.second > usual.first * usual.second, many.first * many.second < usual.first * usual.second);
  // CHECK: more workers: more strips 1, less time 1
  printf("more workers: more strips %d, less time %d\n", wide.first < usual.first, wide.time < usual.time);
  // CHECK: rows that cost more: longer pieces 1
  printf("rows that cost more: longer pieces %d\n", chosen(empty, 2, 200, 100000, 2.5).piece > usual.piece);
  // CHECK: iterations that wait longer: shorter pieces 1, longer where they do not wait 1, shorter where few are under way 1
  printf("iterations that wait longer: shorter pieces %d, longer where they do not wait %d, shorter where few are under way %d\n",
         chosen(machine, 2, 200, 100000, 20).piece < usual.piece, chosen(machine, 2, 200, 100000, 0).piece > usual.piece,
         chosen(narrow, 2, 200, 100000, 2.5).piece < usual.piece);
  // CHECK: rows that wait for rows: longer pieces 1, more time 1
  const struct tile_sizes through = waiting(machine, 2, 200, 100000, 2.5, 9);
  printf("rows that wait for rows: longer pieces %d, more time %d\n", through.piece > usual.piece, through.time > usual.time);
  // CHECK: one worker: not less than the work 1
  printf("one worker: not less than the work %d\n", chosen(machine, 1, 200, 100000, 2.5).time >= 7.0 * 200 * 100000 * machine.operation);
  // CHECK: little to do: slower than alone 1
  const long numbers[] = {4, 30};
  const struct tile_band little = {0, 3, skewed, numbers, 112, 784, 240, 2.5, 2, 0, 2, 1, &row, 2};
  printf("little to do: slower than alone %d\n", tile_search(&little, &machine).time > tile_alone(&little, &machine));
  // CHECK: memory: a tile that does not fit is slower 1, with fewer levels 1, no slower where memory takes no time 1, chosen smaller 1
  struct tile_machine fewer = small;
  fewer.level_bytes[1] = 1 << 23, fewer.level_bytes[2] = 1e15;
  fewer.level_stream[1] = 1, fewer.level_stream[2] = 3;
  printf("memory: a tile that does not fit is slower %d, with fewer levels %d, no slower where memory takes no time %d, chosen smaller %d\n",
         relaxed(small, 150, 2, 256, 8).time > 1.3 * relaxed(small, 150, 2, 8, 8).time,
         relaxed(fewer, 150, 2, 256, 8).time > 1.3 * relaxed(fewer, 150, 2, 8, 8).time,
         relaxed(flat, 150, 2, 256, 8).time <= relaxed(flat, 150, 2, 8, 8).time,
         relaxed(small, 150, 0, 0, 0).second < relaxed(flat, 150, 0, 0, 0).second);
  // CHECK: pages: many at once are slower 1, chosen fewer 1
  struct tile_machine paged = flat;
  paged.pages[0] = 64, paged.pages[1] = 1536, paged.page[0] = 5, paged.page[1] = 20;
  printf("pages: many at once are slower %d, chosen fewer %d\n",
         relaxed(paged, 150, 8, 64, 8).time - relaxed(flat, 150, 8, 64, 8).time > 2 * (relaxed(paged, 150, 1, 4, 8).time - relaxed(flat, 150, 1, 4, 8).time),
         relaxed(paged, 150, 0, 0, 0).second < relaxed(flat, 150, 0, 0, 0).second);
  // CHECK: again: small ones have no tiles at first 1, some then 1, large ones at once 1, as the last time 1, of other sizes again 1
  const long short_row[] = {20, 500}, long_row[] = {200, 100000}, other_row[] = {20, 501};
  const struct tile_band brief = {0, 19, skewed, short_row, 20.0 * 498, 7.0 * 20 * 498, 4000, 2.5, 2, 0, 2, 1, &row, 2};
  const struct tile_band lasting = {0, 199, skewed, long_row, 200.0 * 99998, 7.0 * 200 * 99998, 8e5, 2.5, 2, 0, 2, 1, &row, 2};
  const struct tile_band other = {0, 19, skewed, other_row, 20.0 * 499, 7.0 * 20 * 499, 4008, 2.5, 2, 0, 2, 1, &row, 2};
  struct tile_choices last = {0}, large = {0};
  const double first_time = tile_chosen(&brief, &machine, &last).time, second_time = tile_chosen(&brief, &machine, &last).time;
  const double at_once = tile_chosen(&lasting, &machine, &large).time;
  large.of[large.last].tile.time = 7;
  printf("again: small ones have no tiles at first %d, some then %d, large ones at once %d, as the last time %d, of other sizes again %d\n",
         first_time == 0, second_time != 0, at_once != 0, tile_chosen(&lasting, &machine, &large).time == 7, tile_chosen(&other, &machine, &last).time == 0);
  // Threads of a block together: a block has no more than it may, and more of them where there is more to do.
  // CHECK: together: few rounds 1, threads in range 1, steps decide 1
  const long steps[] = {100, 1000};
  const struct tile_band blocks = {0, 99, skewed, steps, 100.0 * 998 * 998, 1e9, 8e6, 5, 5, 0, 3, 1, &plane, 100};
  const struct tile_chip plain = {2048, 2048, 164 << 10, 48 << 10, 0}, chip = {2048, 2048, 164 << 10, 48 << 10, plane_boxes};
  const struct tile_sizes block = tile_search_together(&blocks, &machine, &plain);
  const unsigned threads = tile_row_threads(&blocks, &block) * tile_block_rows(&blocks, &block);
  printf("together: few rounds %d, threads in range %d, steps decide %d\n", tile_count(&blocks, block.first, block.second).rounds < 1000,
         threads >= 1 && threads <= TILE_THREADS && block.room == 0, tile_together(&blocks, &machine, &plain, 1, 1, 0).time > block.time);
  // CHECK: shared memory: taken 1, has room 1, less time 1, not where it is small 1, smaller where less is resident 1
  const struct tile_sizes staged = tile_search_together(&blocks, &machine, &chip);
  const struct tile_chip little_chip = {2048, 2048, 164 << 10, 1 << 10, plane_boxes}, few_threads = {2048, 256, 164 << 10, 48 << 10, plane_boxes};
  long count[TILE_BOXES];
  printf("shared memory: taken %d, has room %d, less time %d, not where it is small %d, smaller where less is resident %d\n", staged.room > 0,
         staged.room <= chip.most && staged.room == tile_room(&blocks, &chip, &staged, count), staged.time < block.time,
         tile_search_together(&blocks, &machine, &little_chip).room == 0,
         tile_resident(&few_threads, &staged) < tile_resident(&chip, &staged) || staged.threads == TILE_THREADS);
  // CHECK: again together: as the last time 1, of other steps again 1
  struct tile_choices kept = {0};
  struct tile_band fewer_steps = blocks;
  fewer_steps.last = 49, fewer_steps.points /= 2;
  const double searched = tile_chosen_together(&blocks, &machine, &chip, &kept).time;
  kept.of[kept.last].tile.time = 7;
  const double as_last = tile_chosen_together(&blocks, &machine, &chip, &kept).time, anew = tile_chosen_together(&fewer_steps, &machine, &chip, &kept).time;
  printf("again together: as the last time %d, of other steps again %d\n", searched == staged.time && as_last == 7, anew != 7 && anew != 0);
  // CHECK: stated: piece 1, of the device 1
  const struct tile_sizes stated = tile_together(&blocks, &machine, &chip, 4, 6, 10), large_piece = tile_together(&blocks, &machine, &chip, 4, 6, 1000);
  printf("stated: piece %d, of the device %d\n", stated.piece == 10 && stated.room > 0, large_piece.piece == 1000 && large_piece.room == 0);
  // Sizes in range for sizes of a problem at the ends of what they may be.
  // CHECK: large: sizes in range 1
  const struct tile_sizes huge = chosen(machine, 2, 1L << 30, 1L << 30, 2.5);
  printf("large: sizes in range %d\n", huge.first >= 1 && huge.first <= 1 << 20 && huge.second >= 1 && huge.second <= 1 << 20 && huge.piece >= 1 && huge.piece <= 1 << 20);
  return 0;
}
