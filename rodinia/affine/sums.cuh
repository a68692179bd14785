// Sums of the products of a row, or of a column, of a matrix with a vector.

// By a warp for each row, the blocks being of 32 threads in x: the first lane has it.
static __device__ double row_sum(int n, const double *a, const double *x, int i) {
  double sum = 0;
  for (int j = threadIdx.x; i < n && j < n; j += 32)
    sum += a[i * n + j] * x[j];
  for (int step = 16; step > 0; step /= 2)
    sum += __shfl_down_sync(~0u, sum, step);
  return sum;
}

// By a block of 32 x 16 threads for 32 columns, what its rows have being added as a tree: the first row has it.
static __device__ double column_sum(int n, const double *a, const double *x, int j) {
  __shared__ double part[16][32];
  int row = threadIdx.y;
  double sum = 0;
  for (int i = row; i < n && j < n; i += 16)
    sum += a[i * n + j] * x[i];
  part[row][threadIdx.x] = sum;
  for (int step = 8; step > 0; step /= 2) {
    __syncthreads();
    if (row < step)
      part[row][threadIdx.x] += part[row + step][threadIdx.x];
  }
  return part[row][threadIdx.x];
}
