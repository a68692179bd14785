// The OpenMP twins: each does what the kernels of its program do, in host memory. Arrays are row major.
#pragma once

#include <cstddef>
#include <cstdint>

struct Asian;
struct Bounds;
struct Csr;
struct Particle;
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

// Sparse matrices and graphs.
void spmv_scalar(const Csr &matrix, const float *x, float *y);
void spmv_vector(const Csr &matrix, const float *x, float *y);
void spmv_ell(const int *cols, const float *values, const float *x, float *y, int rows, int width);
void bfs_queue(const Csr &graph, int *levels, int root);

// Dense matrices; c = a b with a: m x k, b: k x n.
void transpose(const float *in, float *out, int rows, int cols);
void matmul_tiled(const float *a, const float *b, float *c, int m, int n, int k);
void matmul_blocked(const float *a, const float *b, float *c, int m, int n, int k);
// The host's compiler alone knows its type of half precision, so the matrix and the vector are made there.
struct HalfMatrix;
HalfMatrix *make_half(const float *matrix, const float *x, int rows, int cols);
void free_half(HalfMatrix *matrix);
void gemv_half(const HalfMatrix &matrix, float *y);

// Pieces of neural networks.
void softmax(const float *in, float *out, int rows, int cols);
void layernorm(const float *in, const float *weight, const float *bias, float *out, int rows, int cols,
               float epsilon);
// All arrays: heads x length x 32.
void attention(const float *queries, const float *keys, const float *values, float *out, int heads, int length,
               float scale);
void gelu(const float *in, const float *bias, float *out, int rows, int cols);
// The filter has 7x7 weights.
void conv2d(const float *in, const float *filter, float *out, int images, int rows, int cols);

// Particles and chance; a body is x, y, z and mass, a velocity three numbers and a
// fourth that stays 0.
void nbody(const float *bodies, float *velocities, int count, int steps, float softening, float step);
void particles_aos(Particle *particles, int count, int steps, float step);
// sums[g] is what the paths of group g pay.
void montecarlo(const Asian &option, float *sums, int paths);
// Calls in prices[0, count), puts behind them.
void blackscholes(const float *stocks, const float *strikes, const float *years, float *prices, float rate,
                  float volatility, int count);

// Strings; they lie `longest`, patterns `stride` characters apart.
void edit_distance(const char *left, const char *right, const int *left_lengths, const int *right_lengths,
                   int *distances, int pairs, int longest);
void string_match(const char *text, int count, const char *patterns, int number, int stride, int length,
                  int *counts);

// A stencil in place, in two colours.
void relax_cooperative(float *cells, int rows, int cols, int sweeps);

} // namespace twin
