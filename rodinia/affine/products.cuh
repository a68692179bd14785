// An element of the product of two matrices, by a block of TILE x TILE threads for as many elements: tiles of both are in shared memory.

enum { TILE = 16 };
static __device__ double product(int n, const double *a, const double *b, int i, int j) {
  __shared__ double ta[TILE][TILE], tb[TILE][TILE];
  int x = threadIdx.x, y = threadIdx.y;
  double sum = 0;
  for (int k = 0; k < n; k += TILE) {
    ta[y][x] = i < n && k + x < n ? a[i * n + k + x] : 0;
    tb[y][x] = k + y < n && j < n ? b[(k + y) * n + j] : 0;
    __syncthreads();
    for (int l = 0; l < TILE; l++)
      sum += ta[y][l] * tb[l][x];
    __syncthreads();
  }
  return sum;
}
