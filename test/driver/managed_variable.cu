// Managed variables: host and device reach them by one name, from the program's first initialiser on.
// REQUIRES: cuda-toolkit
// RUN: %regrain --offload-arch=cpu -O0 %s -o %t && %t
// RUN: %regrain --offload-arch=cpu -O3 %s -o %t && %t && env REGRAIN_CPU_MODE=coroutine %t
// RUN: %regrain --offload-arch=cpu -O2 -fgpu-rdc %s -o %t && %t

// The device's storage is elsewhere on a GPU, and is made another way.
// RUN: rm -f %t.o
// RUN: not %regrain --offload-arch=cpu,sm_80 -c %s -o %t.o 2>&1 | FileCheck %s --check-prefix=GPU
// GPU: managed_variable.cu:{{[0-9]+}}: error: managed variables are there for the CPU alone (--offload-arch=cpu), not for sm_80
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
