// FIXME: clang 22 knows __managed__ for HIP alone. Until it is supported here, its use on the device is an error.
// RUN: rm -f %t
// RUN: not %regrain --offload-arch=cpu %s -o %t 2>&1 | FileCheck %s
// RUN: not test -e %t

// CHECK: managed_variable.cu:[[@LINE+1]]:{{[0-9]+}}: warning: 'managed' attribute ignored
__managed__ int count = 40;

// CHECK: managed_variable.cu:[[@LINE+1]]:{{[0-9]+}}: error: reference to __host__ variable 'count' in __global__ function
__global__ void use() { count += 2; }

int main() { use<<<1, 1>>>(); }
