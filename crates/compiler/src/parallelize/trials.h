// Sizes of tiles that are tried while a nest runs again and again with the sizes of one problem, as the model is off by some per cent.
//
//   runs:  of the choice ... | round: both, in a random order | round | ... | of the choice ...
//
// Sizes that differ in one way from those of the choice are compared with them by rounds of two runs: the machine's pace changes from one second to the next, and
// so may what a program does, so only the times of a round are compared, in an order that no rhythm of the program's favours. Those that lead by three rounds are
// the choice from then on, and what differs from them in the same way is tried next; those that trail by two are given up.
// When none leads anywhere it is over. A round comes only while what longer runs have cost leaves room for it in a part of the time of all runs: what a first one
// will cost is not known, so it is taken for half a run, and a nest that runs ten times tries nothing. All sizes have the same results.

#ifndef TILE_LINKED
// The ways in which sizes differ, each beside its opposite: those that the model takes for the best of fewer and of more steps; pieces, the second and the
// first dimension, and both of these at the same number of points; and back to the first sizes.
enum { TILE_FEWER, TILE_MORE, TILE_LONGER, TILE_SHORTER, TILE_WIDER, TILE_NARROWER, TILE_HIGHER, TILE_LOWER, TILE_TURNED, TILE_TURNED_BACK, TILE_BACK, TILE_WAYS };
// By how many rounds sizes lead that are taken, and trail that are given up; the runs after which it is over.
enum { TILE_LEAD = 3, TILE_TRAIL = 2, TILE_RUNS = 1000 };
// The part of the time of all runs that trials may take, the part of a run that is a gain, and how many times longer what is tried may take by the model.
#define TILE_SHARE 0.05
#define TILE_GAIN 0.01
#define TILE_DOUBT 2

#include <stdlib.h>
#include <string.h>
#include <time.h>

// Nanoseconds since some time.
static inline double tile_clock(void) {
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  return 1e9 * at.tv_sec + at.tv_nsec;
}

static inline int tile_equal(const struct tile_sizes *one, const struct tile_sizes *other) {
  return one->first == other->first && one->second == other->second && one->piece == other->piece;
}

// Sizes that differ in one way from those of the choice.
static inline struct tile_sizes tile_moved(const struct tile_band *band, const struct tile_machine *machine, const struct tile_choice *choice) {
  const struct tile_trials *trials = &choice->trials;
  const long steps = band->last - band->first + 1;
  const int way = trials->way;
  struct tile_sizes tile = choice->tile;
  if (way == TILE_BACK)
    return trials->model;
  // What a nest takes that is smaller than a search is not worth another one.
  if (way == TILE_FEWER || way == TILE_MORE)
    return trials->spent < (double)TILE_SMALL * trials->runs ? tile
           : way == TILE_FEWER                               ? tile_search_among(band, machine, 1, tile.first / 2)
                                                             : tile_search_among(band, machine, 2 * tile.first, TILE_LARGEST);
  if (way == TILE_LONGER)
    tile.piece = tile_longer(tile.piece);
  else if (way == TILE_SHORTER)
    tile.piece = tile_shorter(tile.piece);
  if (way == TILE_WIDER || way == TILE_TURNED_BACK)
    tile.second *= 2;
  else if (way == TILE_NARROWER || way == TILE_TURNED)
    tile.second /= 2;
  if (way == TILE_HIGHER || way == TILE_TURNED)
    tile.first = tile.first * 2 < steps ? tile.first * 2 : steps;
  else if (way == TILE_LOWER || way == TILE_TURNED_BACK)
    tile.first = tile.first < steps ? tile.first / 2 : (steps + 1) / 2;
  return tile;
}

// Finds sizes that are worth a trial, or that there are none.
static inline void tile_look(const struct tile_band *band, const struct tile_machine *machine, struct tile_choice *choice) {
  struct tile_trials *trials = &choice->trials;
  for (; trials->in_vain < TILE_WAYS; trials->in_vain++, trials->way = (trials->way + 1) % TILE_WAYS) {
    const struct tile_sizes moved = tile_moved(band, machine, choice);
    if (moved.first < 1 || moved.second < 1 || moved.second > TILE_LARGEST || moved.piece < TILE_LEAST || tile_equal(&moved, &trials->left))
      continue;
    trials->other = tile_pieces(band, machine, moved.first, moved.second, moved.piece, moved.piece);
    // Where the model sees no difference at all there is none: a tile is all that there is.
    if (trials->other.time != choice->tile.time && trials->other.time < TILE_DOUBT * choice->tile.time && tile_pays(band, machine, &trials->other)) {
      trials->lead = 0;
      trials->ahead = trials->spent / trials->runs / 2;
      return;
    }
  }
  trials->is_over = 1;
}

// The sizes of the next run.
static inline struct tile_sizes tile_turn(const struct tile_band *band, const struct tile_machine *machine, struct tile_choice *choice) {
  struct tile_trials *trials = &choice->trials;
  trials->is_round = trials->is_other = 0;
  if (trials->is_over || trials->runs == 0 || !tile_pays(band, machine, &choice->tile))
    return choice->tile;
  if (trials->ran == 0) {
    if (trials->other.time == 0)
      tile_look(band, machine, choice);
    if (trials->is_over || trials->lost + trials->ahead > TILE_SHARE * trials->spent)
      return choice->tile;
    trials->random = trials->random * 1103515245 + 12345;
  }
  trials->is_round = 1;
  trials->is_other = trials->ran ^ (trials->random >> 16 & 1);
  return trials->is_other ? trials->other : choice->tile;
}

// The sizes for a nest that may run often: those of least time by the model, then by what its runs took.
static inline struct tile_sizes tile_chosen(const struct tile_band *band, const struct tile_machine *machine, struct tile_choices *choices) {
  struct tile_choice *choice = tile_known(band, choices);
  if (!choice->is_known) {
    const struct tile_sizes none = {1, 1, 1, 0};
    // A small nest that is new has no tiles.
    choice->is_known = choice->is_seen || tile_alone(band, machine) >= TILE_SMALL;
    choice->is_seen = 1;
    choice->tile = choice->is_known ? tile_search(band, machine) : none;
    choice->trials.model = choice->tile;
    const char *adaptive = getenv("REGRAIN_ADAPTIVE");
    choice->trials.is_over = adaptive && strcmp(adaptive, "off") == 0;
  }
  return tile_turn(band, machine, choice);
}

// Takes note of what the run took that the last sizes were for, in nanoseconds.
static inline void tile_took(struct tile_choices *choices, double time) {
  struct tile_choice *choice = &choices->of[choices->last];
  struct tile_trials *trials = &choice->trials;
  if (trials->is_over)
    return;
  trials->spent += time;
  trials->is_over = ++trials->runs >= TILE_RUNS;
  if (!trials->is_round)
    return;
  trials->times[trials->is_other] = time;
  trials->ran = !trials->ran;
  if (trials->ran)
    return;
  const double longer = trials->times[1] - trials->times[0];
  trials->lost = tile_larger(trials->lost + longer, 0);
  trials->ahead = tile_larger(longer, 0);
  trials->lead += longer < -TILE_GAIN * trials->times[0] ? 1 : -1;
  if (trials->lead == TILE_LEAD) {
    trials->left = choice->tile;
    choice->tile = trials->other;
    trials->in_vain = 0;
  } else if (trials->lead == -TILE_TRAIL) {
    trials->way = (trials->way + 1) % TILE_WAYS;
    trials->in_vain++;
  } else {
    return;
  }
  trials->other.time = 0;
}
#endif
