// Managed variables: host and device reach them by one name, from the program's first initialiser on.
// REQUIRES: cuda-toolkit
// RUN: %regrain --offload-arch=cpu -O0 %s -o %t && %t
// RUN: %regrain --offload-arch=cpu -O3 %s -o %t && %t && env REGRAIN_CPU_MODE=coroutine %t
// RUN: %regrain --offload-arch=cpu -O2 -fgpu-rdc %s -o %t && %t

// NVIDIA's driver makes the storage when the image is loaded, which its runtime is told to do before the program's first initialiser.
// RUN: %regrain --offload-arch=sm_80 -O2 --offload-device-only -S %s -o - | FileCheck %s --check-prefix=PTX
// RUN: %regrain --offload-arch=cpu,sm_80 -O2 -c %s -o %t.o && %regrain --offload-arch=sm_80 -fgpu-rdc -c %s -o %t.o
// RUN: %regrain --offload-arch=sm_80 -O2 -c %s -o %t.o && llvm-objdump -dr %t.o | FileCheck %s --check-prefix=HOST
// PTX-DAG: .visible .global .attribute(.managed) .align 4 .u32 count = 40;
// PTX-DAG: .attribute(.managed) .align 4 .b8 row[20]
// PTX-DAG: .global .align 4 .u32 plain
// HOST: R_X86_64_PLT32 __cudaRegisterManagedVar
// HOST: R_X86_64_PLT32 __cudaRegisterFatBinaryEnd
// HOST-NOT: R_X86_64_PLT32
// HOST: R_X86_64_PLT32 __cudaInitModule

// AMD's storage is made another way.
// RUN: rm -f %t.o
// RUN: not %regrain --offload-arch=cpu,gfx90a -c %s -o %t.o 2>&1 | FileCheck %s --check-prefix=AMD
// AMD: managed_variable.cu:{{[0-9]+}}: error: managed variables are there for the CPU and NVIDIA's chips, not for gfx90a
// RUN: not %regrain --offload-arch=cpu -DIN_A_CONSTANT -c %s -o %t.o 2>&1 | FileCheck %s --check-prefix=CONSTANT
// CONSTANT: managed_variable.cu:{{[0-9]+}}: error: the address of this managed variable is known when the program runs: it cannot stand in a constant
// RUN: not test -e %t.o

struct Pair {
  int a, b;
  int sum() const { return a + b; }
};

__managed__ int count = 40;
__device__ __managed__ float row[5] = {1, 2, 3, 4, 5};
static __managed__ Pair pair;
namespace {
__managed__ long untouched = 7;
}
__attribute__((annotate("another"))) int annotated = 3;
__attribute__((annotate("a third"))) __device__ int plain = 5;

static int before = ++count + int(row[4]);

__global__ void use(float *of_row) {
  count += 2;
  for (int i = 0; i < 4; ++i) row[i] += row[i + 1];
  pair = {count, 3};
  of_row[4] = -1;
}

__attribute__((noinline)) int *one_of(bool which) { return which ? &count : &pair.b; }

#ifdef IN_A_CONSTANT
int *constant = &count;
#endif

int main() {
  if (before != 46) return 1;
  count += 10;
  use<<<1, 1>>>(row);
  if (cudaDeviceSynchronize() != cudaSuccess) return 2;
  if (count != 53 || row[0] != 3 || row[3] != 9 || row[4] != -1 || pair.sum() != 56 || untouched != 7) return 3;
  if (*one_of(true) != 53 || *one_of(false) != 3 || annotated != 3) return 4;
  // The runtime's calls that take a variable.
  float copy[5], changed[2] = {8, 9};
  if (cudaMemcpyFromSymbol(copy, row, sizeof(copy)) != cudaSuccess || copy[3] != 9) return 5;
  if (cudaMemcpyToSymbol(row, changed, sizeof(changed), 4) != cudaSuccess || row[1] != 8 || row[2] != 9) return 6;
  void *address;
  if (cudaGetSymbolAddress(&address, count) != cudaSuccess || address != &count) return 7;
  return 0;
}
