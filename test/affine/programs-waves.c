// Stencils in time, waves of tiles, dynamic programming, imperfect nests, and what nothing is in parallel of.
// REQUIRES: cuda-toolkit
// RUN: %regrain -O2 --offload-arch=cpu -fregrain-parallelize -fregrain-parallelize-from=0 -Rpass=regrain-parallelize \
// RUN:     -Rpass-missed=regrain-parallelize -fregrain-emit-cuda=%t.cu %s -o %t 2> %t.said && %t
// RUN: FileCheck %s < %t.said
// RUN: FileCheck %s --check-prefix=CODE < %t.cu
// RUN: env REGRAIN_CPU_MODE=coroutine %t 33
// RUN: %regrain -O2 --offload-arch=cpu -fregrain-parallelize -fregrain-parallelize-from=0 -fregrain-parallelize-tiles=3,5 %s -o %t.tiles && %t.tiles 70
// RUN: not %regrain -fregrain-parallelize -fregrain-parallelize-tiles=4,0 %s 2>&1 | FileCheck %s --check-prefix=WRONG
// RUN: %regrain -O2 --offload-arch=cpu -fregrain-emulate=sm_80 -fregrain-parallelize -fregrain-parallelize-from=0 -fregrain-emit-cuda=%t.sm.cu \
// RUN:     -Rpass=regrain-parallelize %s -o %t.sm 2> %t.sm.said && %t.sm 101
// RUN: FileCheck %s --check-prefix=BLOCK < %t.sm.cu
// RUN: FileCheck %s --check-prefix=TOGETHER < %t.sm.said
// RUN: %regrain -O2 --offload-arch=sm_80 -w -c %t.sm.cu -o %t.again.o
// RUN: %regrain -O2 --offload-arch=cpu -fregrain-emulate=sm_80 -fregrain-parallelize -fregrain-parallelize-from=0 -fregrain-parallelize-tiles=3,40 \
// RUN:     %s -o %t.sm.tiles && %t.sm.tiles 70
// RUN: %regrain -O2 --offload-arch=cpu -fregrain-emulate=sm_80 -fregrain-parallelize -fregrain-parallelize-from=0 -fregrain-parallelize-tiles=5,6,3 \
// RUN:     %s -o %t.sm.pieces && %t.sm.pieces 101
// RUN: %regrain -O2 --offload-arch=cpu -fregrain-emulate=gfx90a -fregrain-parallelize -fregrain-parallelize-from=0 -fregrain-parallelize-tiles=300,7 \
// RUN:     %s -o %t.gfx && %t.gfx 70
#include "Inputs/programs.h"

// WRONG: invalid value '4,0' in '-fregrain-parallelize-tiles=4,0': expected sizes from 1 to 1048576
// Stencils in time.
PROGRAM(jacobi, {
  FOR(t, 0, 5) {
    FOR(i, 1, n - 1) FOR(j, 1, n - 1) B(i, j) = 0.2 * (A(i, j) + A(i, j - 1) + A(i, j + 1) + A(i - 1, j) + A(i + 1, j));
    FOR(i, 1, n - 1) FOR(j, 1, n - 1) A(i, j) = B(i, j);
  }
})
// Waves of tiles.
// CODE: row_in_waves_region0_{{[0-9a-f]+}}_kernel0<<<(unsigned)(last - first + 1), 1>>>
// On a GPU the threads of a block have a tile together.
// BLOCK-LABEL: void row_in_waves_region0_{{[0-9a-f]+}}_kernel0(
// BLOCK-NOT: long piece
// BLOCK: for (long now = b0 + b1; now <= e0 + e1; now++) {
// BLOCK-NEXT: for (long p0 = b0 + threadIdx.y * blockDim.x + threadIdx.x; p0 <= e0; p0 += blockDim.x * blockDim.y) {
// BLOCK-NEXT: const long p1 = now - p0;
// BLOCK-NEXT: if (b1 <= p1 && p1 <= e1) {
// BLOCK: __syncthreads();
// BLOCK-NEXT: }
// What a tile accesses is copied to shared memory, and what it stores back.
// BLOCK-LABEL: void row_in_waves_region0_{{[0-9a-f]+}}_kernel0_staged(
// BLOCK: if (first_A0 <= at && at < end_A0)
// BLOCK-NEXT: T0_0[column] = A0[at];
// BLOCK: __syncthreads();
// BLOCK-NEXT: for (long now
// BLOCK: T0_0[(int)({{.*}} - start0)] =
// BLOCK: __syncthreads();
// BLOCK: A0[at] = T0_0[column];
// BLOCK: tile_chosen_together(&band, &machine, &chip, &choices);
// BLOCK: if (tile.room > 0)
// BLOCK-NEXT: _kernel0_staged<<<(unsigned)(last - first + 1), dim3(tile_row_threads(&band, &tile), tile_block_rows(&band, &tile)), tile.room>>>
// BLOCK-NEXT: else
// BLOCK-NEXT: _kernel0<<<(unsigned)(last - first + 1), dim3(tile_row_threads(&band, &tile), tile_block_rows(&band, &tile))>>>
// Of more dimensions by pieces, and rows of a box as neighbours are in other banks.
// BLOCK-LABEL: long plane_in_waves_region0_{{[0-9a-f]+}}_boxes(
// BLOCK: count[1] += (1L) % 2L != 0L && ((1L) * count[1] + (-1L)) % 2L == 0L; // banks
// BLOCK-LABEL: void plane_in_waves_region0_{{[0-9a-f]+}}_kernel0(
// BLOCK-NOT: long piece
// BLOCK: for (long p0 = b0 + threadIdx.y; p0 <= e0; p0 += blockDim.y) {
// BLOCK-NEXT: for (long p1 = b1 + threadIdx.x; p1 <= e1; p1 += blockDim.x) {
// BLOCK-NEXT: const long p2 = now - p0 - p1;
// BLOCK-LABEL: void plane_in_waves_region0_{{[0-9a-f]+}}_kernel0_staged(
// BLOCK: for (long b2 = lows[0]; b2 <= highs[0]; b2 += piece) {
// BLOCK: for (int row = threadIdx.y; row < count0; row += blockDim.y) {
// BLOCK: for (int column = threadIdx.x; column < count1; column += blockDim.x) {
// TOGETHER: programs-waves.c:[[#@LINE+3]]:{{.*}}loop runs in parallel: launches of 2 kernels
// TOGETHER-NEXT: waves of tiles: the threads of a block go through a tile together, a wave of points at a time, with an array in shared memory where it has room [
// CHECK-DAG: programs-waves.c:[[#@LINE+1]]:{{.*}}loop runs in parallel: launches of 1 kernel
PROGRAM(row_in_waves, { FOR(t, 0, 9) FOR(i, 1, n - 1) a[i] = 0.3 * (a[i - 1] + a[i + 1]) + 0.4 * a[i]; })
// CHECK-DAG: programs-waves.c:[[#@LINE+2]]:{{.*}}loop runs in parallel: launches of 1 kernel
PROGRAM(plane_in_waves, {
  FOR(t, 0, 4) FOR(i, 1, n - 1) FOR(j, 1, n - 1)
    A(i, j) = 0.2 * (A(i, j) + A(i, j - 1) + A(i, j + 1) + A(i - 1, j) + A(i + 1, j));
})
PROGRAM(corners_in_waves, {
  FOR(t, 0, 3) FOR(i, 1, n - 1) FOR(j, 1, n - 1)
    A(i, j) = 0.1 * (A(i - 1, j - 1) + A(i - 1, j) + A(i - 1, j + 1) + A(i, j - 1) + A(i, j) + A(i, j + 1) +
                     A(i + 1, j - 1) + A(i + 1, j) + A(i + 1, j + 1));
})
PROGRAM(back_in_waves, { FOR(t, 0, 7) FOR(i, 2, n - 3) a[i] = 0.3 * (a[i - 2] + a[i + 3]) + 0.1 * a[i - 1]; })
PROGRAM(two_in_waves, {
  FOR(t, 0, 4) FOR(i, 1, n - 1) {
    a[i] = a[i - 1] * 0.5 + b[i];
    b[i] = a[i] * 0.5 + b[i - 1];
  }
})
PROGRAM(fdtd, {
  FOR(t, 0, 4) {
    FOR(j, 0, n) B(0, j) = t;
    FOR(i, 1, n) FOR(j, 0, n) B(i, j) -= 0.5 * (C(i, j) - C(i - 1, j));
    FOR(i, 0, n) FOR(j, 1, n) A(i, j) -= 0.5 * (C(i, j) - C(i, j - 1));
    FOR(i, 0, n - 1) FOR(j, 0, n - 1) C(i, j) -= 0.7 * (A(i, j + 1) - A(i, j) + B(i + 1, j) - B(i, j));
  }
})

// Dynamic programming.
PROGRAM(edit_distance, {
  FOR(i, 1, n) FOR(j, 1, n) {
    double least = A(i - 1, j) < A(i, j - 1) ? A(i - 1, j) : A(i, j - 1);
    double both = A(i - 1, j - 1) + (b[i] > c[j] ? 1.0 : 0.0);
    A(i, j) = least + 1 < both ? least + 1 : both;
  }
})
PROGRAM(parentheses, {
  FOR(l, 1, n) FOR(i, 0, n - l) FOR(k, i, i + l) {
    double cost = A(i, k) + A(k + 1, i + l) + b[k];
    A(i, i + l) = cost < A(i, i + l) ? cost : A(i, i + l);
  }
})
PROGRAM(floyd_warshall, {
  FOR(k, 0, n) FOR(i, 0, n) FOR(j, 0, n) A(i, j) = A(i, k) + A(k, j) < A(i, j) ? A(i, k) + A(k, j) : A(i, j);
})
PROGRAM(paths, { FOR(i, 1, n) FOR(j, 1, n) A(i, j) = 0.25 * A(i - 1, j) + 0.5 * A(i, j - 1); })

// What one round leaves for the next.
// CHECK-DAG: programs-waves.c:[[#@LINE+1]]:{{.*}}loop stays sequential: its iterations depend on one another
PROGRAM(prefix, { FOR(i, 1, n) a[i] = a[i] + a[i - 1] * 0.5; })
PROGRAM(columns, { FOR(i, 1, n) FOR(j, 0, n) A(i, j) = A(i - 1, j) * 0.5 + B(i, j); })
PROGRAM(transposition, { FOR(i, 0, n) FOR(j, 0, n) B(j, i) = A(i, j); })
PROGRAM(imperfect, {
  FOR(i, 0, n) {
    c[i] = i;
    FOR(j, 0, i) {
      c[i] += A(i, j);
      FOR(k, j, n) B(i, k) += A(j, k) * 0.25;
    }
    d[i] = c[i] * 2;
  }
})

static const struct row rows[] = {
    ROW(jacobi, 1000),
    ROW(row_in_waves, 1000),
    ROW(plane_in_waves, 1000),
    ROW(corners_in_waves, 101),
    ROW(back_in_waves, 1000),
    ROW(two_in_waves, 1000),
    ROW(fdtd, 1000),
    ROW(edit_distance, 1000),
    ROW(parentheses, 70),
    ROW(floyd_warshall, 70),
    ROW(paths, 1000),
    ROW(prefix, 1000),
    ROW(columns, 1000),
    ROW(transposition, 1000),
    ROW(imperfect, 101),
};

int main(int argc, char **argv) { return each(rows, sizeof rows / sizeof *rows, argc > 1 ? atoi(argv[1]) : 1000); }
