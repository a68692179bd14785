// Attributes of streams, and devices by where they are on the bus.
// REQUIRES: cuda-toolkit
// RUN: %regrain -O2 --offload-arch=cpu -w -I %root/test/integration %s -o %t && %t
#include "check.h"
#include <cstring>

int main() {
  cudaStream_t stream, other;
  OK(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, -2));
  OK(cudaStreamCreate(&other));
  cudaStreamAttrValue value = {}, read = {};
  OK(cudaStreamGetAttribute(stream, cudaStreamAttributePriority, &read));
  EXPECT(read.priority == -2);
  value.accessPolicyWindow.num_bytes = 100, value.accessPolicyWindow.hitRatio = .5f;
  OK(cudaStreamSetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &value));
  OK(cudaStreamCopyAttributes(other, stream));
  OK(cudaStreamGetAttribute(other, cudaStreamAttributeAccessPolicyWindow, &read));
  EXPECT(read.accessPolicyWindow.num_bytes == 100 && read.accessPolicyWindow.hitRatio == .5f);
  OK(cudaStreamGetAttribute(other, cudaStreamAttributeSynchronizationPolicy, &read));
  EXPECT(read.syncPolicy == 0);
  EXPECT_ERROR(cudaStreamSetAttribute(stream, cudaStreamAttributePriority, &value), cudaErrorNotSupported);
  EXPECT_ERROR(cudaStreamSetAttribute(stream, cudaLaunchAttributeCooperative, &value), cudaErrorInvalidValue);
  EXPECT_ERROR(cudaStreamGetAttribute(stream, cudaLaunchAttributeCooperative, &value), cudaErrorInvalidValue);
  char text[32];
  int device = 9;
  OK(cudaDeviceGetPCIBusId(text, sizeof text, 0));
  OK(cudaDeviceGetByPCIBusId(&device, text));
  EXPECT(device == 0);
  device = 9;
  OK(cudaDeviceGetByPCIBusId(&device, text + 5));
  EXPECT(device == 0);
  EXPECT_ERROR(cudaDeviceGetByPCIBusId(&device, "0001:07:00.0"), cudaErrorInvalidDevice);
  return result();
}
