// The time that waves of tiles take, as a function of the sizes of a tile (paper 002, section 3, for processors), and the search for the
// sizes that take least. All times are in nanoseconds.
//
//   time = sum over waves (launch + ceil(tiles of the wave / workers) * tile)
//   tile = work / tiles + block + rows * row + bytes * byte
//
// Tiles at a border are counted by their share: the work of all tiles is known, and so is how many there are. The tiles of each wave are counted
// from the ends of each strip of tiles; of many strips only some are looked at.

struct tile_machine {
  double launch, block, row, operation, alone;
  long piece;
  double level_bytes[4], level_byte[4]; // the last level holds everything
};

struct tile_band {
  long first, last;                                                             // the first dimension
  int (*strip)(const long *numbers, long b0, long e0, long *first, long *last); // the second, where the first is from b0 to e0
  const long *numbers;
  double iterations, operations, bytes; // of the nest; of all arrays
  int is_whole;             // whether pieces are of a further dimension, and a tile has all of it
  long workers;
};

struct tile_sizes {
  long first, second;
  double time;
};

struct tile_waves {
  double tiles, waves, rounds;
};

static inline long tile_below(long a, long b) { return a >= 0 ? a / b : -((b - 1 - a) / b); }

// The waves of the first and the last tile of a strip; whether it has any.
static inline int tile_strip(const struct tile_band *band, long strip, long size, long second, long *first, long *last) {
  if (!band->strip(band->numbers, strip * size, strip * size + size - 1, first, last) || *first > *last)
    return 0;
  *first = strip + tile_below(*first, second);
  *last = strip + tile_below(*last, second);
  return 1;
}

// How many strips are looked at.
enum { TILE_STRIPS = 64 };

// Counts tiles, waves with any, and rounds of the workers. Strips begin and end one after the other: those that do so before one that is before them
// are taken to do so with it.
static inline struct tile_waves tile_count(const struct tile_band *band, long first_size, long second_size) {
  const long low = tile_below(band->first, first_size), count = tile_below(band->last, first_size) - low + 1;
  const long some = count < TILE_STRIPS ? count : TILE_STRIPS;
  const double weight = (double)count / some;
  long begins[TILE_STRIPS], ends[TILE_STRIPS], strips = 0;
  struct tile_waves sum = {0, 0, 0};
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
  long begun = 0, ended = 0, wave = strips != 0 ? begins[0] : 0;
  while (ended < strips) {
    while (begun < strips && begins[begun] <= wave)
      begun++;
    while (ended < strips && ends[ended] < wave)
      ended++;
    if (ended == strips)
      break;
    long next = ends[ended] + 1;
    if (begun < strips && begins[begun] < next)
      next = begins[begun];
    if (begun > ended) {
      const long rounds = ((long)((begun - ended) * weight + 0.5) + band->workers - 1) / band->workers;
      sum.waves += next - wave;
      sum.rounds += (double)(next - wave) * rounds;
    }
    wave = next;
  }
  if (sum.rounds * band->workers < sum.tiles)
    sum.rounds = sum.tiles / band->workers;
  return sum;
}

// Bytes that all tiles together bring from a level that does not fit beside a processor: what a strip of the first dimension accesses is moved
// on by each of its iterations.
static inline double tile_bytes(const struct tile_band *band, long first_size, long second_size, double tiles) {
  long b0, e0, b1, e1;
  if (!band->strip(band->numbers, band->first, band->first, &b0, &e0) || !band->strip(band->numbers, band->last, band->last, &b1, &e1))
    return 0;
  const double steps = (double)band->last - band->first + 1, width = (double)e0 - b0 + 1;
  const double moved = b1 > b0 && steps > 1 ? (double)(b1 - b0) / (steps - 1) : 0;
  const double length = first_size < steps ? first_size : steps;
  const double row = second_size < width ? second_size : width;
  // The part of all that a tile accesses: as much as its row and what that is moved by, or a row of an array for each row.
  const double part = moved > 0 ? (row + moved * length) / width : row / width * length / steps;
  return band->bytes * (part < 1 ? part : 1) * tiles;
}

static inline double tile_time(const struct tile_band *band, const struct tile_machine *machine, long first_size, long second_size) {
  const struct tile_waves count = tile_count(band, first_size, second_size);
  if (count.tiles < 1)
    return 0;
  const long steps = band->last - band->first + 1;
  const double row = (double)((second_size + machine->piece - 1) / machine->piece) * (first_size < steps ? first_size : steps);
  // Where a tile has all of the dimension of pieces, rows are as many for any sizes.
  const double rows = band->is_whole ? band->iterations / machine->piece / count.tiles : row;
  long level = 0;
  while (level < 3 && machine->level_bytes[level] < band->bytes)
    level++;
  const double bytes = tile_bytes(band, first_size, second_size, count.tiles) / count.tiles;
  const double tile = band->operations * machine->operation / count.tiles + machine->block + rows * machine->row + bytes * machine->level_byte[level];
  return count.waves * machine->launch + count.rounds * tile;
}

// The sizes of least time: any number of strips of about the same size, and powers of two in between for the second. A tile is to take longer than
// to hand it out.
static inline struct tile_sizes tile_search(const struct tile_band *band, const struct tile_machine *machine) {
  const long steps = band->last - band->first + 1, most = 1L << 20;
  const double work = band->operations * machine->operation;
  struct tile_sizes best = {1, 1, work * 1e9};
  for (long strips = 1; strips <= steps && strips <= 4096; strips += strips < 4 ? 1 : strips / 2) {
    const long first = (steps + strips - 1) / strips;
    long b0, e0;
    if (first > most || !band->strip(band->numbers, band->first, band->last, &b0, &e0))
      continue;
    for (long second = 1; second <= most; second *= 2) {
      const double share = work * first / steps * second / ((double)e0 - b0 + 1);
      if (share < machine->launch / 4 && second < e0 - b0 + 1)
        continue;
      const double time = tile_time(band, machine, first, second);
      if (time > 0 && time < best.time) {
        best.first = first;
        best.second = second;
        best.time = time;
      }
      if (second > e0 - b0 + 1)
        break;
    }
  }
  return best;
}
