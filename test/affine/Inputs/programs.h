// Programs of one shape: a size, the elements of a row, and four matrices, of which some stand for vectors.
#include "twins.h"

#define PROGRAM(name, ...)                                                                                             \
  TWINS(name, (int n, int w, double *restrict a, double *restrict b, double *restrict c, double *restrict d), __VA_ARGS__)
#define A(i, j) a[(i) * w + (j)]
#define B(i, j) b[(i) * w + (j)]
#define C(i, j) c[(i) * w + (j)]
#define D(i, j) d[(i) * w + (j)]
#define FOR(i, from, to) for (int i = (from); i < (to); i++)

typedef void (*Program)(int, int, double *, double *, double *, double *);
struct row {
  const char *name;
  Program mine, twin;
  int most;
};
#define ROW(name, most) {#name, name, name##_twin, most}

// Each program in each size up to its largest: nothing, one, odd, those of blocks and pieces, and large.
static int each(const struct row *rows, int count, int most) {
  static const int sizes[] = {0, 1, 2, 3, 5, 17, 31, 32, 33, 64, 70, 101, 1000};
  for (int p = 0; p < count; p++)
    for (unsigned s = 0; s < sizeof sizes / sizeof *sizes; s++) {
      int n = sizes[s];
      int w = n + 5;
      if (n > most || n > rows[p].most)
        continue;
      size_t bytes = (size_t)(n + 8) * (n + 8) * sizeof(double);
      fresh(4, bytes, bytes, bytes, bytes);
      rows[p].mine(n, w, mine(0), mine(1), mine(2), mine(3));
      rows[p].twin(n, w, twin(0), twin(1), twin(2), twin(3));
      same(rows[p].name, n);
    }
  return failures != 0;
}
