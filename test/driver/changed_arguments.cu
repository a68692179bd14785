// A structure that a kernel takes by value and changes is the thread's own: its members are values, and nothing is stored to the argument.
// REQUIRES: cuda-toolkit
// RUN: rm -rf %t.ir
// RUN: %regrain -O2 --offload-arch=cpu -fregrain-alternatives=none -fregrain-dump-ir=%t.ir -c %s -o %t.o
// RUN: FileCheck %s --input-file=%t.ir/changed_arguments.2-clean.ll
#include <cuda_runtime.h>

struct Share {
  int offset, end, stride;
};

__device__ void advance(Share &share) { share.offset += share.stride; }

// CHECK-LABEL: define {{.*}} @_Z7changedPi5Share
// CHECK-NOT: alloca
// CHECK-NOT: store i32 {{.*}}, ptr %1
// CHECK: phi i32
// CHECK: ret void
__global__ void changed(int *out, Share share) {
  for (; share.offset < share.end; advance(share))
    out[share.offset] = 1;
}

// One that is read stays where it is.
// CHECK-LABEL: define {{.*}} @_Z4readPi5Share
// CHECK-NOT: memcpy
// CHECK: getelementptr {{.*}} ptr %1
// CHECK: ret void
__global__ void read(int *out, Share share) { out[share.offset] = share.stride; }

void launch(int *out, Share share) {
  changed<<<1, 32>>>(out, share);
  read<<<1, 32>>>(out, share);
}
