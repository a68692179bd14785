// The time that waves of tiles take, as a function of the sizes of a tile (paper 002, section 3, for processors), and the search for the
// sizes that take least. All times are in nanoseconds.
//
//   time  = sum over waves (launch + (ceil(tiles of the wave / workers) - 1) * tile + largest), largest = tile where a wave has one
//   tile  = block + max(rows * row, sum over levels of memory (lines that do not stay in it * stream)) + pages
//   row   = (work^4 + waits^4 + through^4)^(1/4), work = row + length * operations * operation, waits = filled * length * wait,
//           filled = length / (length + window / waiting)
//   pages = sum over tables of addresses (visits of pages that are not in it * page)
//           + sum over what follows pages (rows of others that have lines from the last level * astray * filled)
//
// A thread goes through its tile by pieces of the last dimension, so a row is short: as long as the next ones are in the processor's window, it
// does not wait for its own sums or for memory, but for what it has to do, and lines of the next level come meanwhile. The window is what operations that
// wait have room in: where it holds those of w = window / waiting iterations, the next row has done w * length / (length + w) of its own when one is done.
// The next row may need what this one stores: then it is not done before what it computes of that has gone through its point and a store to a load. What
// a row has to do, what it waits for and what goes through it all bound it; near one another none is reached. Which lines stay in a level is
// told by what the loops inside of each access. Tiles at a border are counted by their share: the work of all tiles is known, and so is how many there
// are; but those of a wave are waited for together, so one of them is taken to be whole. The tiles of each wave are counted from the ends of each strip
// of tiles; of many strips only some are looked at.

// The dimensions of a band that are looked at, and of an array; the bytes of a line.
enum { TILE_DEPTH = 6, TILE_SUBSCRIPTS = 4, TILE_LINE = 64 };

// The bytes of a page of memory.
enum { TILE_PAGE = 4096 };

struct tile_machine {
  double start, launch, block;   // a launch of one block, of one for each processor, and a further block
  double row, operation, window; // of a row, of an operation, and how many operations may wait at once
  double level_bytes[4], level_stream[4]; // what fits into a level, and a line of many from it; the last ones hold everything
  double pages[2], page[2]; // how many pages are in tables of addresses, and one that is not in the first, nor in the second
  double followed[2], astray[2]; // of how many pages lines are fetched ahead, one way and another, and what a row of a line of one more takes longer
  // Of threads that have a tile together, in the memory of the device and in shared memory: a step, and a point beside what it waits for; and a line that
  // they bring from the one to the other.
  double step, point, chip_step, chip_point, copied;
};

// Accesses that differ by constants: how much each subscript grows with each dimension, and how far they are apart.
struct tile_accesses {
  double bytes; // of an element
  int subscripts;
  double growth[TILE_SUBSCRIPTS][TILE_DEPTH], apart[TILE_SUBSCRIPTS];
};

struct tile_band {
  long first, last;                                                             // the first dimension
  int (*strip)(const long *numbers, long b0, long e0, long *first, long *last); // the second, where the first is from b0 to e0
  const long *numbers;
  double points, operations, bytes; // of the nest; of all arrays
  double wait, waiting;             // that a point waits for the one before it, and how many of its operations do
  double through;                   // that a row waits for the row before it, or 0
  int depth;                        // the dimensions, of the last of which pieces are
  int accesses;
  const struct tile_accesses *access;
  long workers;
  int uneven; // whether points have loops of their own, which take longer for some than for others
};

struct tile_sizes {
  long first, second, piece;
  double time;
  long threads, room; // of a block: its threads, and the bytes of shared memory
};

// Sizes that are tried beside those of a choice (`trials.h`).
struct tile_trials {
  struct tile_sizes other, left, model; // whose time is 0 where none are tried; those before the choice, and the first ones
  double spent, lost, ahead, times[2]; // all runs, and how much longer those with other sizes took; what a round is expected to cost; a round
  int way, in_vain;                    // how the others are made of those of the choice, and how many ways led nowhere since one did
  int lead, ran, runs;                 // rounds in which the others were faster less those in which they were slower; runs of this round, and of all
  int is_round, is_other, is_over;     // whether this run is of a round, and with the others; whether nothing more is tried
  unsigned random;
};

// What was chosen when a nest ran, and for what: how much there was to do, and what its first and its last strip have.
struct tile_choice {
  double points, operations, bytes;
  long first, last, ends[4], workers;
  int is_seen, is_known; // whether the nest has run with this before, and whether sizes were searched
  struct tile_sizes tile;
  struct tile_trials trials;
};

// What was chosen for the sizes of a nest's problem, as many as a program is taken to go through in turn; those of the last run, and the newest ones.
enum { TILE_PROBLEMS = 8 };
struct tile_choices {
  struct tile_choice of[TILE_PROBLEMS];
  int last, newest;
};

struct tile_waves {
  double tiles, waves, alone, rounds; // alone: waves of one tile
};

static inline double tile_larger(double a, double b) { return a > b ? a : b; }
static inline double tile_smaller(double a, double b) { return a < b ? a : b; }
static inline long tile_below(long a, long b) { return a >= 0 ? a / b : -((b - 1 - a) / b); }

// The waves of the first and the last tile of a strip; whether it has any.
static inline int tile_strip(const struct tile_band *band, long strip, long size, long second, long *first, long *last) {
  if (!band->strip(band->numbers, strip * size, strip * size + size - 1, first, last) || *first > *last)
    return 0;
  *first = strip + tile_below(*first, second);
  *last = strip + tile_below(*last, second);
  return 1;
}

// The sizes of pieces that are looked at, and the largest of other sizes.
enum { TILE_LEAST = 4, TILE_MOST = 1024, TILE_LARGEST = 1 << 20 };
// Strips for each worker where some take longer than others: the last ones leave an eighth of the workers idle at most.
enum { TILE_SHARES = 8 };
// Nanoseconds of a nest for which sizes are searched at once: a search takes some ten thousand. Of a smaller one they are when it runs again.
enum { TILE_SMALL = 30000 };

#ifdef TILE_LINKED
// A processor's runtime has the rest (`tiles.c`).
extern "C" {
struct tile_waves __regrain_tile_count(const struct tile_band *band, long first_size, long second_size);
struct tile_sizes __regrain_tile_pieces(const struct tile_band *band, const struct tile_machine *machine, long first, long second,
                                        long least, long most);
int __regrain_tile_pays(const struct tile_band *band, const struct tile_machine *machine, const struct tile_sizes *tile);
struct tile_sizes __regrain_tile_search(const struct tile_band *band, const struct tile_machine *machine);
struct tile_sizes __regrain_tile_chosen(const struct tile_band *band, const struct tile_machine *machine, struct tile_choices *choices);
double __regrain_tile_clock(void);
void __regrain_tile_took(struct tile_choices *choices, double time);
}
#define tile_count __regrain_tile_count
#define tile_pieces __regrain_tile_pieces
#define tile_pays __regrain_tile_pays
#define tile_search __regrain_tile_search
#define tile_chosen __regrain_tile_chosen
#define tile_clock __regrain_tile_clock
#define tile_took __regrain_tile_took
#else

// How many strips are looked at.
enum { TILE_STRIPS = 64 };

// Counts tiles, waves with any, and rounds of the workers. Strips begin and end one after the other: those that do so before one that is before them
// are taken to do so with it. One that is looked at stands for several, which begin evenly up to the next one: a wave has tiles of so many of them.
static inline struct tile_waves tile_count(const struct tile_band *band, long first_size, long second_size) {
  const long low = tile_below(band->first, first_size), count = tile_below(band->last, first_size) - low + 1;
  const long some = count < TILE_STRIPS ? count : TILE_STRIPS;
  const double weight = (double)count / some;
  long begins[TILE_STRIPS], ends[TILE_STRIPS], strips = 0;
  double shares[TILE_STRIPS], apart = 0, active = 0;
  struct tile_waves sum = {0, 0, 0, 0};
  for (long at = 0; at < some; at++) {
    long first, last;
    if (!tile_strip(band, low + (long)((at + 0.5) * weight), first_size, second_size, &first, &last))
      continue;
    if (strips != 0 && first < begins[strips - 1])
      first = begins[strips - 1];
    if (strips != 0 && last < ends[strips - 1])
      last = ends[strips - 1];
    begins[strips] = first;
    ends[strips++] = last;
    sum.tiles += weight * (last - first + 1);
  }
  for (long at = 0; at < strips; at++) {
    if (at + 1 < strips)
      apart = (double)(begins[at + 1] - begins[at]) / weight;
    const double waves = ends[at] - begins[at] + 1, all = waves + (weight - 1) * apart;
    shares[at] = weight * waves / all;
    ends[at] += (long)(all - waves + 0.5);
    if (at > 0 && ends[at] < ends[at - 1])
      ends[at] = ends[at - 1];
  }
  long begun = 0, ended = 0, wave = strips != 0 ? begins[0] : 0;
  while (ended < strips) {
    while (begun < strips && begins[begun] <= wave)
      active += shares[begun++];
    while (ended < strips && ends[ended] < wave)
      active -= shares[ended++];
    if (ended == strips)
      break;
    long next = ends[ended] + 1;
    if (begun < strips && begins[begun] < next)
      next = begins[begun];
    if (begun > ended) {
      const long tiles = active < 1 ? 1 : (long)(active + 0.5), rounds = (tiles + band->workers - 1) / band->workers;
      sum.waves += next - wave;
      sum.alone += tiles > 1 && band->workers > 1 ? 0 : next - wave;
      sum.rounds += (double)(next - wave) * rounds;
    }
    wave = next;
  }
  if (sum.rounds * band->workers < sum.tiles)
    sum.rounds = sum.tiles / band->workers;
  return sum;
}

// The part of what a row of so many iterations waits for that the next ones leave: one operation waits for what comes from memory at least.
static inline double tile_filled(const struct tile_band *band, const struct tile_machine *machine, double length) {
  return length / (length + machine->window / tile_larger(band->waiting, 1));
}

// What three bounds allow that are reached where they are far apart.
static inline double tile_bounded(double one, double other, double third) {
  const double sum = one * one * one * one + other * other * other * other + third * third * third * third;
  double root = tile_larger(tile_larger(one, other), third);
  for (int step = 0; step < 4 && root > 0; step++)
    root -= (root - sum / (root * root * root)) / 4;
  return root;
}

// What a row takes where others like it are behind it.
static inline double tile_row(const struct tile_band *band, const struct tile_machine *machine, double length) {
  const double work = machine->row + length * band->operations / band->points * machine->operation;
  return tile_bounded(work, tile_filled(band, machine, length) * length * band->wait, band->through);
}

// The units of memory, of so many bytes, that the loops from a dimension on access, as a box. Rows that are shorter than one share it.
static inline double tile_box(const struct tile_band *band, const struct tile_accesses *access, const double *whole, const double *extents, int from,
                              double unit) {
  double units = 1, reach = access->bytes, stride = access->bytes;
  for (int subscript = access->subscripts - 1; subscript >= 0; subscript--) {
    double span = access->apart[subscript], all = span;
    for (int dimension = 0; dimension < band->depth; dimension++) {
      if (dimension >= from)
        span += access->growth[subscript][dimension] * (extents[dimension] - 1);
      all += access->growth[subscript][dimension] * (whole[dimension] - 1);
    }
    reach += span * stride;
    units = tile_smaller(units * (1 + span), 1 + reach / unit);
    stride *= 1 + all;
  }
  return units;
}

// The same of all accesses: no more than what their rows access one by one, as those of a skewed band are no box.
static inline double tile_units(const struct tile_band *band, const double *whole, const double *extents, int from, double unit) {
  const int last = band->depth - 1;
  double sum = 0, rows = 1;
  for (int at = from; at < last; at++)
    rows *= extents[at];
  for (int at = 0; at < band->accesses; at++) {
    const struct tile_accesses *access = &band->access[at];
    sum += tile_smaller(tile_box(band, access, whole, extents, from, unit), rows * tile_box(band, access, whole, extents, last, unit));
  }
  return sum;
}

// The units that come near while a thread goes through a tile, where so many are there: what a loop accesses comes once where all that a round accesses
// stays until the next one.
static inline double tile_misses(const struct tile_band *band, const double *whole, const double *extents, double pieces, double length, double unit,
                                 double room) {
  double together[TILE_DEPTH], rounds = pieces;
  for (int at = 0; at < band->depth; at++)
    together[at] = at + 1 < band->depth ? extents[at] : length;
  if (tile_units(band, whole, extents, 0, unit) <= room)
    return tile_units(band, whole, together, 0, unit);
  for (int at = 0; at + 1 < band->depth; at++) {
    if (tile_units(band, whole, extents, at + 1, unit) <= room)
      return rounds * tile_units(band, whole, extents, at, unit);
    rounds *= extents[at];
  }
  return rounds * tile_units(band, whole, extents, band->depth - 1, unit);
}

// The number whose power is a larger one than 1.
static inline double tile_root(double power, int exponent) {
  double low = 1, high = power;
  while (exponent > 1 && high - low > low / 100) {
    double middle = (low + high) / 2, made = 1;
    for (int at = 0; at < exponent; at++)
      made *= middle;
    if (made < power)
      low = middle;
    else
      high = middle;
  }
  return high;
}

// The extents of a band: of dimensions behind the second those that agree with how many points there are.
static inline void tile_extents(const struct tile_band *band, double *extents) {
  long low, high;
  extents[0] = (double)band->last - band->first + 1;
  extents[1] = band->strip(band->numbers, (band->first + band->last) / 2, (band->first + band->last) / 2, &low, &high) ? (double)high - low + 1 : 1;
  double rest = tile_larger(band->points / extents[0] / extents[1], 1);
  for (int at = 2; at < band->depth; at++)
    extents[at] = tile_root(rest, band->depth - 2);
}

// The rows of a tile that wait for lines which nothing fetches ahead: of so many visits of pages that are not followed, those to lines of far memory. What
// a row has of all arrays comes at a time.
static inline double tile_stray(const struct tile_band *band, double row, double visits, double far) {
  double lines = 0;
  for (int at = 0; at < band->accesses; at++) {
    const struct tile_accesses *access = &band->access[at];
    const double grows = access->subscripts != 0 ? access->growth[access->subscripts - 1][band->depth - 1] : 0;
    lines += tile_larger(row * grows * access->bytes / TILE_LINE, 1);
  }
  return band->accesses != 0 ? tile_smaller(visits / band->accesses, far / lines) : 0;
}

// What a whole tile takes beside being handed out, where a wave has so many; its points.
static inline double tile_work(const struct tile_band *band, const struct tile_machine *machine, const double *whole, const struct tile_sizes *tile,
                               double wave, double *points) {
  const int last = band->depth - 1;
  double extents[TILE_DEPTH];
  for (int at = 0; at <= last; at++)
    extents[at] = whole[at];
  if (tile->first < extents[0])
    extents[0] = tile->first;
  if (tile->second < extents[1])
    extents[1] = tile->second;
  // Rows are cut by pieces anywhere where a tile has all of the last dimension.
  const double length = extents[last];
  const double pieces = last > 1 ? (length - 1) / tile->piece + 1 : (double)(((long)length + tile->piece - 1) / tile->piece);
  const double row = length / pieces;
  double flow = 0, waits = 0, far = 0;
  const double together = wave * tile_units(band, whole, extents, 0, TILE_LINE);
  extents[last] = row;
  *points = length;
  for (int at = 0; at < last; at++)
    *points *= extents[at];
  for (int level = 0; level < 3; level++)
    if (band->bytes > machine->level_bytes[level]) {
      const double room = machine->level_bytes[level] / TILE_LINE;
      double misses = tile_misses(band, whole, extents, pieces, length, TILE_LINE, room);
      // What the tiles of a wave have in the last level before memory, which all share, is there for the next wave as far as it has room: all memory
      // comes once at least.
      if (level == 2 || machine->level_bytes[level + 1] == machine->level_bytes[level + 2]) {
        const double once = tile_smaller(misses, band->bytes / TILE_LINE * *points / band->points);
        misses = once + (misses - once) * tile_larger(1 - room / together, 0);
        far = misses;
      }
      flow += misses * (machine->level_stream[level + 1] - machine->level_stream[level]);
    }
  for (int level = 0; level < 2; level++)
    if (band->bytes > machine->pages[level] * TILE_PAGE)
      waits += tile_misses(band, whole, extents, pieces, length, TILE_PAGE, machine->pages[level]) * machine->page[level];
  // What follows pages was measured with rows of a line, of which one operation waits.
  const double line = TILE_LINE / 8, filled = tile_filled(band, machine, row) * (line + machine->window) / line;
  for (int way = 0; way < 2 && far > 0; way++) {
    const double visits = tile_misses(band, whole, extents, pieces, length, TILE_PAGE, machine->followed[way]);
    waits += tile_stray(band, row, visits, far) * filled * machine->astray[way];
  }
  return tile_larger(*points / row * tile_row(band, machine, row), flow) + waits;
}

static inline double tile_total(const struct tile_band *band, const struct tile_machine *machine, const double *whole,
                                const struct tile_sizes *tile, const struct tile_waves *count) {
  double points;
  const double wave = count->tiles / count->waves, most = tile_work(band, machine, whole, tile, wave, &points);
  const double share = tile_smaller(band->points / count->tiles / points, 1);
  const double together = count->waves - count->alone;
  return count->alone * machine->start + together * (machine->launch + machine->block + most) +
         (count->rounds - together) * (machine->block + most * share);
}

// The next size of pieces that is looked at, and the one before.
static inline long tile_longer(long piece) { return piece + (piece % 3 == 0 ? piece / 3 : (piece + 1) / 2); }
static inline long tile_shorter(long piece) { return piece % 3 == 0 ? piece - piece / 3 : piece - piece / 4; }

// The size of pieces of a tile that takes least, from the least to the most.
static inline struct tile_sizes tile_best(const struct tile_band *band, const struct tile_machine *machine, const double *whole,
                                          const struct tile_waves *count, struct tile_sizes tile, long least, long most) {
  struct tile_sizes best = tile;
  best.time = 0;
  for (tile.piece = least; tile.piece <= most; tile.piece = tile_longer(tile.piece)) {
    tile.time = tile_total(band, machine, whole, &tile, count);
    if (best.time == 0 || tile.time < best.time)
      best = tile;
  }
  return best;
}

// The same of a tile of stated sizes.
static inline struct tile_sizes tile_pieces(const struct tile_band *band, const struct tile_machine *machine, long first, long second, long least,
                                            long most) {
  const struct tile_waves count = tile_count(band, first, second);
  const struct tile_sizes tile = {first, second, least, 0};
  double whole[TILE_DEPTH];
  tile_extents(band, whole);
  return count.tiles < 1 ? tile : tile_best(band, machine, whole, &count, tile, least, most);
}

// What the nest takes as it was: each iteration waits for the one before it.
static inline double tile_alone(const struct tile_band *band, const struct tile_machine *machine) {
  return tile_larger(band->operations * machine->operation, band->points * band->wait);
}

// Whether tiles of such sizes are worth it: what the model says is off by a quarter for every second one.
static inline int tile_pays(const struct tile_band *band, const struct tile_machine *machine, const struct tile_sizes *tile) {
  return tile->time != 0 && 1.25 * tile->time < tile_alone(band, machine);
}

// The sizes of least time, which is 0 where there are no tiles, of those that have so many steps: any number of strips of about the same size, several for
// each worker where some take longer than others, and powers of two in between for the second. A tile is to take longer than to hand it out. Of pieces all
// sizes are looked at once, then those beside the best.
static inline struct tile_sizes tile_search_among(const struct tile_band *band, const struct tile_machine *machine, long fewest, long most_steps) {
  const long steps = band->last - band->first + 1;
  const double work = band->operations * machine->operation;
  struct tile_sizes best = {1, 1, 1, 0};
  double whole[TILE_DEPTH];
  tile_extents(band, whole);
  const long few = band->uneven ? (long)tile_smaller(TILE_SHARES * band->workers, steps) : 1;
  // The last ones are of a single step.
  for (long strips = few, next; strips <= steps && strips <= 4096; strips = strips < steps && next > steps ? steps : next) {
    next = strips + (strips < 4 ? 1 : strips / 2);
    const long first = (steps + strips - 1) / strips;
    long b0, e0;
    if (first < fewest || first > most_steps || !band->strip(band->numbers, band->first, band->first, &b0, &e0))
      continue;
    for (long second = 1; second <= TILE_LARGEST; second *= 2) {
      const double share = work * first / steps * second / ((double)e0 - b0 + 1);
      if (share < machine->launch / 4 && second < e0 - b0 + 1)
        continue;
      const struct tile_waves count = tile_count(band, first, second);
      if (count.tiles < 1)
        continue;
      if (best.time == 0 || count.waves * machine->start + work * count.rounds / count.tiles < best.time) {
        const struct tile_sizes tile = {first, second, 0, 0};
        const long least = best.time == 0 ? TILE_LEAST : tile_shorter(best.piece), most = best.time == 0 ? TILE_MOST : tile_longer(best.piece);
        const struct tile_sizes made = tile_best(band, machine, whole, &count, tile, least < TILE_LEAST ? TILE_LEAST : least, most);
        if (best.time == 0 || made.time < best.time)
          best = made;
      }
      if (second > e0 - b0 + 1)
        break;
    }
  }
  return best;
}

static inline struct tile_sizes tile_search(const struct tile_band *band, const struct tile_machine *machine) {
  return tile_search_among(band, machine, 1, TILE_LARGEST);
}

// What was chosen for a nest of this size, or room for it in place of what has been there for longest.
static inline struct tile_choice *tile_known(const struct tile_band *band, struct tile_choices *choices) {
  struct tile_choice asked = {band->points, band->operations, band->bytes, band->first, band->last, {0, 0, 0, 0}, band->workers};
  band->strip(band->numbers, band->first, band->first, &asked.ends[0], &asked.ends[1]);
  band->strip(band->numbers, band->last, band->last, &asked.ends[2], &asked.ends[3]);
  for (int back = 0; back < TILE_PROBLEMS; back++) {
    const int at = (choices->last + back) % TILE_PROBLEMS;
    const struct tile_choice *known = &choices->of[at];
    int is_same = known->points == asked.points && known->operations == asked.operations && known->bytes == asked.bytes && known->first == asked.first &&
                  known->last == asked.last && known->workers == asked.workers;
    for (int end = 0; end < 4; end++)
      is_same = is_same && known->ends[end] == asked.ends[end];
    if (is_same) {
      choices->last = at;
      return &choices->of[at];
    }
  }
  choices->newest = choices->last = (choices->newest + 1) % TILE_PROBLEMS;
  choices->of[choices->last] = asked;
  return &choices->of[choices->last];
}

// Tiles that the threads of a block go through together, a wave of points at a time (paper 002, section 3, for GPUs): a step takes until what was stored in
// the one before is read behind a barrier, and what the points of a thread wait for. Of more than two dimensions a thread is at a column of the last one, and
// what is behind the second goes by pieces where boxes of arrays are in shared memory.
//
//   time  = waves * launch + rounds * (block + pieces * (copies + steps * (step + columns of a thread * (point + wait))))
//   steps = extents of a piece in the first two dimensions and the last, copies = 2 * step + lines of boxes, in and back, * copied
//
// A wave takes as many rounds as there are tiles for each block that is resident: what fits into a multiprocessor of threads, registers and shared memory.

// What multiprocessors have for blocks, and what a nest has in shared memory.
struct tile_chip {
  long threads, staged_threads; // that a multiprocessor has registers for, where arrays are in the memory of the device, and in shared memory
  long shared, most;            // bytes of shared memory of a multiprocessor, and of a block at most
  // The extents of boxes for a piece of so many iterations in each dimension, and the bytes of all; or 0
  long (*boxes)(const long *numbers, const long *sizes, long *count);
};

// The most threads of a block, and those of a row; the sizes of pieces that are looked at, and that of a piece that is all; the subscripts of all boxes.
enum { TILE_THREADS = 256, TILE_ROW = 32, TILE_SHORT = 4, TILE_LONG = 256, TILE_ALL = 1 << 20, TILE_BOXES = 64 };

static inline long tile_least(long a, long b) { return a < b ? a : b; }

// The shape of a block for a tile: the threads of a row, and its rows.
static inline unsigned tile_row_threads(const struct tile_band *band, const struct tile_sizes *tile) {
  return tile_least(band->depth > 2 ? tile->second : tile->first, TILE_ROW);
}
static inline unsigned tile_block_rows(const struct tile_band *band, const struct tile_sizes *tile) {
  const long row = tile_row_threads(band, tile), rows = band->depth > 2 ? tile->first : (tile->first + row - 1) / row;
  const long most = tile->threads / row;
  return most < 1 ? 1 : tile_least(rows, most);
}

// The extents and the bytes of boxes for pieces of a tile; none where there are no boxes.
static inline long tile_room(const struct tile_band *band, const struct tile_chip *chip, const struct tile_sizes *tile, long *count) {
  long sizes[TILE_DEPTH] = {tile_least(tile->first, band->last - band->first + 1), tile->second};
  for (int at = 2; at < band->depth; at++)
    sizes[at] = tile->piece;
  return chip->boxes ? chip->boxes(band->numbers, sizes, count) : 0;
}

// How many blocks a multiprocessor has at a time.
static inline long tile_resident(const struct tile_chip *chip, const struct tile_sizes *tile) {
  long blocks = (tile->room > 0 ? chip->staged_threads : chip->threads) / tile->threads;
  if (chip->shared > 0 && tile->room > 0)
    blocks = tile_least(blocks, chip->shared / tile->room);
  return blocks < 1 ? 1 : blocks;
}

// What a tile takes beside being handed out.
static inline double tile_steps(const struct tile_band *band, const struct tile_machine *machine, const double *whole, const struct tile_sizes *tile) {
  const double first = tile_smaller(tile->first, whole[0]), second = tile_smaller(tile->second, whole[1]);
  const double columns = band->depth > 2 ? first * second : first, threads = tile_row_threads(band, tile) * tile_block_rows(band, tile);
  double steps = first + second - 1, pieces = 1, between = 1;
  for (int at = 2; at < band->depth; at++) {
    const double size = tile_smaller(tile->piece, whole[at]);
    pieces *= (double)(long)((whole[at] + size - 1) / size);
    if (at + 1 < band->depth)
      between *= size;
    else
      steps += size - 1;
  }
  const double points = tile_larger(columns / threads, 1) * between, lines = (double)tile->room / TILE_LINE;
  if (tile->room == 0)
    return pieces * steps * (machine->step + points * (machine->point + band->wait));
  return pieces * (2 * machine->step + 2 * lines * machine->copied + steps * (machine->chip_step + points * (machine->chip_point + band->wait)));
}

// The threads of a block and the size of pieces that take least for tiles of such sizes; the size of pieces may be stated, else it is 0.
static inline struct tile_sizes tile_together(const struct tile_band *band, const struct tile_machine *machine, const struct tile_chip *chip, long first,
                                              long second, long piece) {
  const long most = piece > 0 ? piece : TILE_ALL, least = piece > 0 || band->depth == 2 ? most : TILE_SHORT;
  struct tile_sizes best = {first, second, most, 0, TILE_ROW, 0};
  struct tile_band resident = *band;
  struct tile_waves count = {0, 0, 0, 0};
  double whole[TILE_DEPTH];
  tile_extents(band, whole);
  resident.workers = 0;
  for (long threads = TILE_ROW; threads <= TILE_THREADS; threads *= 2)
    for (long size = least; size <= most; size = size < TILE_LONG ? 2 * size : size < TILE_ALL ? TILE_ALL : TILE_ALL + 1) {
      struct tile_sizes tile = {first, second, size, 0, threads, 0};
      long count_of_boxes[TILE_BOXES];
      tile.room = tile_room(band, chip, &tile, count_of_boxes);
      if (tile.room > chip->most)
        tile.room = 0;
      // In the memory of the device nothing is gained by pieces.
      if (tile.room == 0 && size != most)
        continue;
      const long workers = band->workers * tile_resident(chip, &tile);
      if (workers != resident.workers) {
        resident.workers = workers;
        count = tile_count(&resident, first, second);
      }
      if (count.tiles < 1)
        return best;
      tile.time = count.waves * machine->launch + count.rounds * (machine->block + tile_steps(band, machine, whole, &tile));
      if (best.time == 0 || tile.time < best.time)
        best = tile;
    }
  return best;
}

// The sizes of least time: powers of two.
static inline struct tile_sizes tile_search_together(const struct tile_band *band, const struct tile_machine *machine, const struct tile_chip *chip) {
  struct tile_sizes best = {1, 1, 1, 0, TILE_ROW, 0};
  for (long first = 4; first <= TILE_THREADS; first *= 2)
    for (long second = 4; second <= (band->depth > 2 ? 4 * TILE_THREADS / first : TILE_ALL); second *= 2) {
      const struct tile_sizes tile = tile_together(band, machine, chip, first, second, 0);
      if (tile.time != 0 && (best.time == 0 || tile.time < best.time))
        best = tile;
    }
  return best;
}

// The same for a nest that may run often.
static inline struct tile_sizes tile_chosen_together(const struct tile_band *band, const struct tile_machine *machine, const struct tile_chip *chip,
                                                     struct tile_choices *choices) {
  struct tile_choice *choice = tile_known(band, choices);
  if (!choice->is_known)
    choice->tile = tile_search_together(band, machine, chip);
  choice->is_known = 1;
  return choice->tile;
}
#endif
