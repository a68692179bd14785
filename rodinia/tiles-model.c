// What the model of waves of tiles says of the relaxations of affine/: a line for each size that is asked for on standard input, then the sizes that
// it chooses. Used by tiles.py, which gives the parameters of the machine:
//   launch block row operation alone piece, four sizes of levels, four times of a byte, then dimensions n steps workers
#include <stdio.h>
#include <stdlib.h>
#include "tiles.h"

// The band [t, t + i]: 0 <= t < steps, 1 <= i < n - 1.
static int strip(const long *numbers, long b0, long e0, long *first, long *last) {
  const long low = b0 < 0 ? 0 : b0, high = e0 > numbers[1] - 1 ? numbers[1] - 1 : e0;
  *first = low + 1;
  *last = high + numbers[0] - 2;
  return low <= high && numbers[0] > 2;
}

int main(int argc, char **argv) {
  if (argc != 19)
    return 2;
  double given[18];
  for (int at = 0; at < 18; at++)
    given[at] = atof(argv[at + 1]);
  struct tile_machine machine = {given[0], given[1], given[2], given[3], given[4], (long)given[5], {0}, {0}};
  for (int at = 0; at < 4; at++) {
    machine.level_bytes[at] = given[6 + at];
    machine.level_byte[at] = given[10 + at];
  }
  const int dimensions = (int)given[14];
  const long numbers[] = {(long)given[15], (long)given[16]};
  // As the compiler counts them.
  const double each = dimensions == 1 ? 7 : dimensions == 2 ? 11 : 15;
  double iterations = numbers[1], bytes = sizeof(double);
  for (int at = 0; at < dimensions; at++) {
    iterations *= numbers[0] - 2;
    bytes *= numbers[0];
  }
  const struct tile_band band = {0, numbers[1] - 1, strip, numbers, iterations, each * iterations, bytes, dimensions > 1, (long)given[17]};
  long first, second;
  while (scanf("%ld %ld", &first, &second) == 2)
    printf("%.0f\n", tile_time(&band, &machine, first, second));
  const struct tile_sizes chosen = tile_search(&band, &machine);
  printf("%ld %ld %.0f\n", chosen.first, chosen.second, chosen.time);
  return 0;
}
