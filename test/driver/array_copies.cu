// Copies from one array to another.
// REQUIRES: cuda-toolkit
// RUN: %regrain -O2 --offload-arch=cpu -w -I %root/test/integration %s -o %t && %t
#include "check.h"

constexpr int W = 12, H = 7;

int main() {
  cudaChannelFormatDesc format = cudaCreateChannelDesc<float2>(), other = cudaCreateChannelDesc<float>();
  cudaArray_t from, to, narrow;
  OK(cudaMallocArray(&from, &format, W, H));
  OK(cudaMallocArray(&to, &format, W, H));
  OK(cudaMallocArray(&narrow, &other, W, H));
  float2 host[H][W], back[H][W];
  for (int y = 0; y < H; ++y)
    for (int x = 0; x < W; ++x) host[y][x] = make_float2(y, x), back[y][x] = make_float2(-1, -1);
  OK(cudaMemcpy2DToArray(from, 0, 0, host, sizeof *host, sizeof *host, H, cudaMemcpyHostToDevice));
  OK(cudaMemcpy2DToArray(to, 0, 0, back, sizeof *back, sizeof *back, H, cudaMemcpyHostToDevice));
  // Places and widths are in bytes.
  OK(cudaMemcpy2DArrayToArray(to, 3 * 8, 1, from, 5 * 8, 2, 4 * 8, 3, cudaMemcpyDeviceToDevice));
  OK(cudaMemcpyArrayToArray(to, 0, 6, from, 8, 0, 2 * 8, cudaMemcpyDefault));
  OK(cudaMemcpy2DFromArray(back, sizeof *back, to, 0, 0, sizeof *back, H, cudaMemcpyDeviceToHost));
  for (int y = 0; y < H; ++y)
    for (int x = 0; x < W; ++x) {
      bool inside = x >= 3 && x < 7 && y >= 1 && y < 4, last = y == 6 && x < 2;
      float2 wanted = inside ? make_float2(y + 1, x + 2) : last ? make_float2(0, x + 1) : make_float2(-1, -1);
      EXPECT(back[y][x].x == wanted.x && back[y][x].y == wanted.y);
    }
  EXPECT_ERROR(cudaMemcpy2DArrayToArray(to, 8, 0, from, 0, 0, W * 8, 1, cudaMemcpyDeviceToDevice), cudaErrorInvalidValue);
  EXPECT_ERROR(cudaMemcpy2DArrayToArray(to, 4, 0, from, 0, 0, 8, 1, cudaMemcpyDeviceToDevice), cudaErrorInvalidValue);
  EXPECT_ERROR(cudaMemcpy2DArrayToArray(narrow, 0, 0, from, 0, 0, 8, 1, cudaMemcpyDeviceToDevice), cudaErrorInvalidValue);
  EXPECT_ERROR(cudaMemcpy2DArrayToArray(to, 0, 0, from, 0, 0, 8, 1, cudaMemcpyHostToDevice), cudaErrorInvalidMemcpyDirection);
  EXPECT_ERROR(cudaMemcpyArrayToArray(to, 0, 0, from, 0, 0, (W + 1) * 8, cudaMemcpyDeviceToDevice), cudaErrorInvalidValue);
  return result();
}
