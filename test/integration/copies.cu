// Copies of all shapes and memset in its variants.
// RUN: %regrain -O2 --offload-arch=cpu %s -o %t
// RUN: %t
// RUN: env REGRAIN_CPU_MODE=coroutine %t
#include "check.h"

__global__ void fill(char *base, size_t pitch, int width, int height) {
  int x = threadIdx.x, y = blockIdx.x;
  if (x < width && y < height)
    reinterpret_cast<int *>(base + y * pitch)[x] = y * 1000 + x;
}

__global__ void fill3d(cudaPitchedPtr p, cudaExtent e) {
  for (size_t z = 0; z < e.depth; ++z)
    for (size_t y = 0; y < e.height; ++y)
      reinterpret_cast<int *>((char *)p.ptr + (z * e.height + y) * p.pitch)[threadIdx.x] = z * 10000 + y * 100 + threadIdx.x;
}

int main() {
  constexpr int W = 37, H = 11, D = 5;
  char *base;
  size_t pitch = 0;
  OK(cudaMallocPitch(&base, &pitch, W * sizeof(int), H));
  EXPECT(pitch >= W * sizeof(int) && pitch % 256 == 0);
  fill<<<H, 64>>>(base, pitch, W, H);
  finish_kernel();
  int tight[H][W], part[3][5];
  OK(cudaMemcpy2D(tight, sizeof tight[0], base, pitch, W * sizeof(int), H, cudaMemcpyDeviceToHost));
  for (int y = 0; y < H; ++y)
    for (int x = 0; x < W; ++x)
      EXPECT_AT(x, tight[y][x], y * 1000 + x);
  OK(cudaMemcpy2DAsync(part, sizeof part[0], base + 2 * pitch + 7 * sizeof(int), pitch, sizeof part[0], 3, cudaMemcpyDeviceToHost, nullptr));
  OK(cudaDeviceSynchronize());
  EXPECT(part[0][0] == 2007 && part[2][4] == 4011);
  EXPECT_ERROR(cudaMemcpy2D(tight, 8, base, pitch, W * sizeof(int), H, cudaMemcpyDeviceToHost), cudaErrorInvalidPitchValue);
  cudaGetLastError();
  OK(cudaMemset2D(base + sizeof(int), pitch, 0xff, 2 * sizeof(int), 4));
  OK(cudaMemcpy2D(tight, sizeof tight[0], base, pitch, W * sizeof(int), H, cudaMemcpyDefault));
  EXPECT(tight[3][1] == -1 && tight[3][2] == -1 && tight[3][3] == 3003 && tight[4][1] == 4001 && tight[3][0] == 3000);

  cudaExtent extent = make_cudaExtent(W * sizeof(int), H, D);
  cudaPitchedPtr volume;
  OK(cudaMalloc3D(&volume, extent));
  fill3d<<<1, W>>>(volume, extent);
  finish_kernel();
  static int cube[D][H][W];
  cudaMemcpy3DParms p = {};
  p.srcPtr = volume;
  p.dstPtr = make_cudaPitchedPtr(cube, W * sizeof(int), W, H);
  p.extent = extent;
  p.kind = cudaMemcpyDeviceToHost;
  OK(cudaMemcpy3D(&p));
  for (int z = 0; z < D; ++z)
    for (int y = 0; y < H; ++y)
      for (int x = 0; x < W; ++x)
        EXPECT_AT(x, cube[z][y][x], z * 10000 + y * 100 + x);
  OK(cudaMemset3D(volume, 0, make_cudaExtent(4 * sizeof(int), 2, D)));
  p.srcPos = make_cudaPos(2 * sizeof(int), 1, 3);
  p.dstPos = make_cudaPos(0, 0, 0);
  p.extent = make_cudaExtent(3 * sizeof(int), 2, 2);
  OK(cudaMemcpy3DAsync(&p, nullptr));
  OK(cudaDeviceSynchronize());
  EXPECT(cube[0][0][0] == 0 && cube[0][0][1] == 0 && cube[0][0][2] == 30104 && cube[0][1][0] == 30202 && cube[1][0][2] == 40104);
  EXPECT(cube[0][0][3] == 3);

  unsigned char bytes[32];
  char *d;
  OK(cudaMalloc(&d, 32));
  OK(cudaMemset(d, 0x5a, 32));
  OK(cudaMemsetAsync(d + 8, 0x11, 8, nullptr));
  OK(cudaMemcpy(d + 16, d + 4, 8, cudaMemcpyDeviceToDevice));
  OK(cudaMemcpy(bytes, d, 32, cudaMemcpyDeviceToHost));
  EXPECT(bytes[7] == 0x5a && bytes[8] == 0x11 && bytes[16] == 0x5a && bytes[20] == 0x11 && bytes[24] == 0x5a);
  OK(cudaMemcpyPeer(d, 0, d + 8, 0, 8));
  cudaPointerAttributes attributes;
  OK(cudaPointerGetAttributes(&attributes, d + 3));
  EXPECT(attributes.type == cudaMemoryTypeDevice);
  OK(cudaPointerGetAttributes(&attributes, bytes));
  EXPECT(attributes.type == cudaMemoryTypeUnregistered);
  int *both = managed<int>(4);
  OK(cudaPointerGetAttributes(&attributes, both));
  EXPECT(attributes.type == cudaMemoryTypeManaged && attributes.hostPointer == both);
  size_t available, total;
  OK(cudaMemGetInfo(&available, &total));
  EXPECT(available > 0 && available <= total);
  char *pooled;
  OK(cudaMallocAsync(&pooled, 1000, nullptr));
  OK(cudaMemsetAsync(pooled, 3, 1000, nullptr));
  OK(cudaFreeAsync(pooled, nullptr));
  OK(cudaDeviceSynchronize());
  return result();
}
