// The OpenMP twins: each does what the kernels of its program do, in host memory. Arrays are row major.
#pragma once

#include <cstddef>
#include <cstdint>

struct Bounds;
struct WaveGrid;

namespace twin {

// Stencils: pairs of steps, from the first array into the second and back.
void jacobi2d(float *grid, float *scratch, int rows, int cols, int sweeps);
void smooth2d(float *image, float *scratch, int rows, int cols, int sweeps);
void heat3d(double *grid, double *scratch, int nx, int ny, int nz, int sweeps, double rate);
void wave25d(float *now, float *before, const WaveGrid &grid, int sweeps, float speed);

// Reductions of `count` elements.
int reduce_tree(const int *values, int count);
float dot_shuffle(const float *a, const float *b, int count);
Bounds bounds_atomic(const int *points, int count);

// Scans, compaction, histograms, sorting.
void scan_sweep(const int *in, int *out, int count);
int compact_ballot(const int *values, int *kept, int count, int threshold);
void histogram(const unsigned char *bytes, int *bins, std::size_t count);
void sort_bitonic(int *keys, int *scratch, int count);
// order[i] is the index of the i-th key, equal keys in their order.
void sort_radix(const unsigned *keys, int *order, int count);

} // namespace twin
