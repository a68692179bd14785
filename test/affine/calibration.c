// The sizes of tiles are chosen by what things take on the machine: as usual, as a file says, and errors of such files.
// REQUIRES: cuda-toolkit
// RUN: rm -rf %t && mkdir %t && cd %t
// RUN: %regrain -O1 --offload-arch=cpu -fregrain-parallelize -fregrain-emit-cuda=usual.cu %s -o usual && ./usual && FileCheck %s --check-prefix=USUAL --input-file=usual.cu
// USUAL: struct tile_machine machine = {500.0, 3500.0, 100.0, 1.0, 0.08, 100.0, {{.*}}
// What a point accesses, and that it waits for a sum and a product.
// USUAL: tile_accesses accesses[] = {{[{][{]}}8.0, 1, {{[{][{]}}1.0, 1.0}}, {2.0}}};
// USUAL: band = {0L, (n0 - 1L), {{.*}}_strip, numbers, points, operations, bytes, 2.2, 2, 3.7, 2, 1, accesses, workers, 0}
// USUAL: static __thread struct tile_choices choices;
// USUAL: tile_chosen(&band, &machine, &choices)
// USUAL: if (!tile_pays(&band, &machine, &tile))
// USUAL: cudaDeviceSynchronize()
// USUAL-NEXT: tile_took(&choices, tile_clock() - began);

// RUN: echo '{"format": "regrain-calibration", "version": 6, "target": "cpu", "start": 30, "launch": 70, "block": 5, "row": 1, "operation": 0.25, "window": 100, "alone": 0.5, "waits": {"add": 2, "multiply": 3, "divide": 9, "forward": 4, "other": 1}, "levels": [{"bytes": 1e15, "stream": 3}], "pages": [{"pages": 8, "missed": 1}, {"pages": 99, "missed": 2}], "followed": [{"pages": 9, "missed": 4}, {"pages": 17, "missed": 6}], "device": {"step": 40, "point": 6}, "chip": {"step": 7, "point": 2}, "copied": 3}' > own.json
// RUN: env REGRAIN_CALIBRATION=own.json %regrain -O1 --offload-arch=cpu -fregrain-parallelize -fregrain-emit-cuda=own.cu %s -o own && ./own && FileCheck %s --check-prefix=OWN --input-file=own.cu
// OWN: b1 += piece
// OWN: if (operations < 280.0)
// OWN: machine = {30.0, 70.0, 5.0, 1.0, 0.25, 100.0, {1000000000000000.0, {{.*}}}, {3.0, 3.0, 3.0, 3.0}, {8.0, 99.0}, {1.0, 2.0}, {9.0, 17.0}, {4.0, 6.0}, 40.0, 6.0, 7.0, 2.0, 3.0}
// OWN: bytes, 5.0, 2, 9.0, 2,

// One of another machine, and sizes that are stated.
// RUN: sed s/cpu/sm_80/ own.json > gpu.json
// RUN: env REGRAIN_CALIBRATION=gpu.json %regrain -O1 --offload-arch=cpu -fregrain-parallelize -fregrain-parallelize-tiles=4 -fregrain-emit-cuda=gpu.cu %s -o gpu && ./gpu && FileCheck %s --check-prefix=OTHER --input-file=gpu.cu
// OTHER: machine = {500.0,
// OTHER: tile = tile_pieces(&band, &machine, 4L, 4L, TILE_LEAST, TILE_MOST)
// RUN: %regrain -O1 --offload-arch=cpu -fregrain-parallelize -fregrain-parallelize-tiles=4,50,3 -fregrain-emit-cuda=all.cu %s -o all && ./all && FileCheck %s --check-prefix=ALL --input-file=all.cu
// ALL: tile = tile_pieces(&band, &machine, 4L, 50L, 3L, 3L)

// RUN: not env REGRAIN_CALIBRATION=none.json %regrain --offload-arch=cpu -fregrain-parallelize %s -o none 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: error: cannot read calibration 'none.json': No such file or directory
// RUN: echo '{"format": "regrain-calibration"' > half.json
// RUN: not env REGRAIN_CALIBRATION=half.json %regrain --offload-arch=cpu -fregrain-parallelize %s -o half 2>&1 | FileCheck %s --check-prefix=HALF
// HALF: error: half.json:2:1: damaged calibration: EOF while parsing an object
// RUN: sed s/70/-70/ own.json > wrong.json
// RUN: not env REGRAIN_CALIBRATION=wrong.json %regrain --offload-arch=cpu -fregrain-parallelize %s -o wrong 2>&1 | FileCheck %s --check-prefix=WRONG
// WRONG: error: wrong.json:1:1: damaged calibration: expected nanoseconds from 1 to 1e9 in "launch", got -70

// Compiler caches know of it.
// RUN: env REGRAIN_CALIBRATION=own.json %regrain -print-regrain-inputs > one.txt
// RUN: env REGRAIN_CALIBRATION=gpu.json %regrain -print-regrain-inputs > other.txt
// RUN: not cmp one.txt other.txt
#include <string.h>

static void relax(int n, int steps, double *restrict a) {
  for (int t = 0; t < steps; t++)
    for (int i = 1; i < n - 1; i++)
      a[i] = 0.3 * (a[i - 1] + a[i + 1]) + 0.4 * a[i];
}

__attribute__((optnone, noinline)) static void relax_alone(int n, int steps, double *restrict a) {
  for (int t = 0; t < steps; t++)
    for (int i = 1; i < n - 1; i++)
      a[i] = 0.3 * (a[i - 1] + a[i + 1]) + 0.4 * a[i];
}

static double one[40000], other[40000];

int main(void) {
  for (int n = 1; n <= 40000; n = 3 * n + 1)
    for (int steps = 0; steps <= 70; steps += 35) {
      for (int i = 0; i < n; i++)
        one[i] = other[i] = (i * 7919) % 1000;
      relax(n, steps, one);
      relax_alone(n, steps, other);
      if (memcmp(one, other, n * sizeof *one))
        return 1;
    }
  return 0;
}
