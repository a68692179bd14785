// Texture and surface objects, and what is left of them.

// REQUIRES: cuda-toolkit
// RUN: %regrain --offload-arch=cpu -g -O2 -fregrain-check=all %s -o %t && %t 2>&1 | FileCheck %s

#include "Inputs/cases.h"

cudaTextureObject_t texture(cudaResourceDesc memory) {
  cudaTextureDesc how = {};
  how.readMode = cudaReadModeElementType;
  cudaTextureObject_t made;
  CHECKED(cudaCreateTextureObject(&made, &memory, &how, nullptr));
  return made;
}
cudaTextureObject_t of_array(cudaArray_t array) {
  cudaResourceDesc memory = {};
  memory.resType = cudaResourceTypeArray;
  memory.res.array.array = array;
  return texture(memory);
}
cudaTextureObject_t of_line(float *line, int count) {
  cudaResourceDesc memory = {};
  memory.resType = cudaResourceTypeLinear;
  memory.res.linear.devPtr = line;
  memory.res.linear.desc = cudaCreateChannelDesc<float>();
  memory.res.linear.sizeInBytes = count * sizeof(float);
  return texture(memory);
}
cudaArray_t array(unsigned flags) {
  cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaArray_t made;
  CHECKED(cudaMallocArray(&made, &format, 8, 4, flags));
  return made;
}

__global__ void plane(cudaTextureObject_t from, float *out) { out[threadIdx.x] = tex2D<float>(from, threadIdx.x, 1); }
__global__ void write(cudaSurfaceObject_t to) { surf2Dwrite(1.f, to, threadIdx.x % 8 * 4, threadIdx.x / 8); }
__global__ void line(cudaTextureObject_t from, float *out) {
  out[threadIdx.x] = tex1Dfetch<float>(from, threadIdx.x);
}

// CHECK-LABEL: case 1{{$}}
// CHECK-NEXT: SUMMARY: 0 errors
void right() {
  float host[32] = {}, *out, *values;
  cudaArray_t filled = array(0), written = array(cudaArraySurfaceLoadStore);
  CHECKED(cudaMemcpy2DToArray(filled, 0, 0, host, 32, 32, 4, cudaMemcpyHostToDevice));
  cudaResourceDesc memory = {};
  memory.resType = cudaResourceTypeArray;
  memory.res.array.array = written;
  cudaSurfaceObject_t surface;
  CHECKED(cudaCreateSurfaceObject(&surface, &memory));
  CHECKED(cudaMalloc(&out, 128));
  CHECKED(cudaMalloc(&values, 128));
  CHECKED(cudaMemset(values, 0, 128));
  cudaTextureObject_t textures[] = {of_array(filled), of_array(written), of_line(values, 32)};
  write<<<1, 32>>>(surface);
  plane<<<1, 8>>>(textures[0], out);
  plane<<<1, 8>>>(textures[1], out);
  line<<<1, 32>>>(textures[2], out);
  CHECKED(cudaDeviceSynchronize());
  for (auto texture : textures) CHECKED(cudaDestroyTextureObject(texture));
  CHECKED(cudaDestroySurfaceObject(surface));
  CHECKED(cudaFreeArray(filled));
  CHECKED(cudaFreeArray(written));
  CHECKED(cudaFree(values));
  CHECKED(cudaFree(out));
}

// CHECK-LABEL: case 2{{$}}
// CHECK-NEXT: Invalid __global__ read of size 4 bytes
// CHECK-NEXT: at line(unsigned long long, float*) in {{.*}}textures.cu:[[# @LINE - 33]]
// CHECK-NEXT: by thread (0,0,0)
// CHECK-NEXT: is 0 bytes inside an allocation of 128 bytes made by cudaMalloc at {{.*}}, freed by cudaFree at {{.*}}textures.cu:[[@LINE+4]]
void freed() {
  float *values = zeros<float>(32), *out = zeros<float>(32);
  cudaTextureObject_t texture = of_line(values, 32);
  CHECKED(cudaFree(values));
  line<<<1, 1>>>(texture, out);
}

// CHECK-LABEL: case 3{{$}}
// CHECK-NEXT: Invalid __global__ read of size {{[48]}} bytes
// CHECK-NEXT: at line(unsigned long long, float*) in {{.*}}textures.cu:[[# @LINE - 45]]
// CHECK-NEXT: by thread (0,0,0)
// CHECK-NEXT: perhaps it is the host's, or of a texture that is destroyed
void destroyed() {
  float *values = zeros<float>(32), *out = zeros<float>(32);
  cudaTextureObject_t texture = of_line(values, 32);
  CHECKED(cudaDestroyTextureObject(texture));
  line<<<1, 1>>>(texture, out);
}

const Case cases[] = {right, freed, destroyed};
RUN(cases)
