// Copies in three dimensions between devices that are the same one, batches of copies, and runs of bytes into arrays in the order of a stream.
// Expected values are counted out element by element on the host.
// CPU-ONLY: what is refused is the CPU's own answer, and the stand-in for a GPU has no batches.
// RUN: %regrain -O3 --offload-arch=cpu -Wno-deprecated-declarations %s -o %t && timeout 60 %t | FileCheck %s
// RUN: env REGRAIN_CPU_STREAMS=synchronous timeout 60 %t | FileCheck %s
// RUN: %regrain -O0 --offload-arch=cpu -Wno-deprecated-declarations %s -o %t.0 && timeout 60 %t.0 | FileCheck %s
#include "check.h"
#include <vector>

// Of each a box, as elements.
struct Box {
  int w, h, d;
  int at(int x, int y, int z) const { return (z * h + y) * w + x; }
  int count() const { return w * h * d; }
};

static std::vector<int> numbers(Box box, int first) {
  std::vector<int> made(box.count());
  for (int i = 0; i < box.count(); ++i) made[i] = first + i;
  return made;
}

// What `to` is when the elements of `size` at `a` in `from` are at `b` in it.
static void copy_box(std::vector<int> &to, Box to_box, int3 b, const std::vector<int> &from, Box from_box, int3 a, int3 size) {
  for (int z = 0; z < size.z; ++z)
    for (int y = 0; y < size.y; ++y)
      for (int x = 0; x < size.x; ++x)
        to[to_box.at(b.x + x, b.y + y, b.z + z)] = from[from_box.at(a.x + x, a.y + y, a.z + z)];
}

static cudaPitchedPtr device_box(Box box, const std::vector<int> &values) {
  cudaPitchedPtr made = {};
  OK(cudaMalloc3D(&made, make_cudaExtent(box.w * sizeof(int), box.h, box.d)));
  cudaMemcpy3DParms copy = {};
  copy.srcPtr = make_cudaPitchedPtr((void *)values.data(), box.w * sizeof(int), box.w, box.h);
  copy.dstPtr = made;
  copy.extent = make_cudaExtent(box.w * sizeof(int), box.h, box.d);
  copy.kind = cudaMemcpyHostToDevice;
  OK(cudaMemcpy3D(&copy));
  return made;
}

static cudaArray_t array_box(Box box, const std::vector<int> &values) {
  cudaArray_t made = nullptr;
  cudaChannelFormatDesc format = cudaCreateChannelDesc<int>();
  OK(cudaMalloc3DArray(&made, &format, make_cudaExtent(box.w, box.h, box.d)));
  cudaMemcpy3DParms copy = {};
  copy.srcPtr = make_cudaPitchedPtr((void *)values.data(), box.w * sizeof(int), box.w, box.h);
  copy.dstArray = made;
  copy.extent = make_cudaExtent(box.w, box.h, box.d);
  copy.kind = cudaMemcpyHostToDevice;
  OK(cudaMemcpy3D(&copy));
  return made;
}

static std::vector<int> read_back(Box box, cudaArray_t array, cudaPitchedPtr memory) {
  std::vector<int> values(box.count());
  cudaMemcpy3DParms copy = {};
  copy.srcArray = array;
  if (!array) copy.srcPtr = memory;
  copy.dstPtr = make_cudaPitchedPtr(values.data(), box.w * sizeof(int), box.w, box.h);
  copy.extent = make_cudaExtent(box.w * (array ? 1 : sizeof(int)), box.h, box.d);
  copy.kind = cudaMemcpyDeviceToHost;
  OK(cudaMemcpy3D(&copy));
  return values;
}

static void check_values(const std::vector<int> &found, const std::vector<int> &wanted) {
  for (size_t i = 0; i < wanted.size(); ++i) EXPECT_AT(i, found[i], wanted[i]);
}

// Memory and arrays to memory and arrays, at once and in a stream.
static void between_devices() {
  Box from = {7, 5, 4}, to = {9, 6, 5};
  std::vector<int> source = numbers(from, 1000), target = numbers(to, 0);
  int3 a = {2, 1, 1}, b = {3, 2, 0}, size = {5, 3, 3};
  cudaStream_t stream;
  OK(cudaStreamCreate(&stream));
  for (int kind = 0; kind < 8; ++kind) {
    bool from_array = kind & 1, to_array = kind & 2, later = kind & 4;
    size_t unit = from_array || to_array ? 1 : sizeof(int);
    cudaMemcpy3DPeerParms copy = {};
    cudaPitchedPtr memory = {};
    if (from_array) copy.srcArray = array_box(from, source);
    else copy.srcPtr = device_box(from, source);
    if (to_array) copy.dstArray = array_box(to, target);
    else copy.dstPtr = memory = device_box(to, target);
    // Places in memory are in bytes, those in arrays in elements.
    copy.srcPos = make_cudaPos(a.x * (from_array ? 1 : sizeof(int)), a.y, a.z);
    copy.dstPos = make_cudaPos(b.x * (to_array ? 1 : sizeof(int)), b.y, b.z);
    copy.extent = make_cudaExtent(size.x * unit, size.y, size.z);
    if (later) {
      OK(cudaMemcpy3DPeerAsync(&copy, stream));
      OK(cudaStreamSynchronize(stream));
    } else {
      OK(cudaMemcpy3DPeer(&copy));
    }
    std::vector<int> wanted = target;
    copy_box(wanted, to, b, source, from, a, size);
    check_values(read_back(to, copy.dstArray, memory), wanted);
    // What is refused: another device, what is not in an array, both sorts of a side, a row that is too short.
    cudaMemcpy3DPeerParms wrong = copy;
    wrong.srcDevice = 1;
    EXPECT_ERROR(cudaMemcpy3DPeer(&wrong), cudaErrorInvalidDevice);
    wrong = copy, wrong.dstDevice = -1;
    EXPECT_ERROR(cudaMemcpy3DPeerAsync(&wrong, stream), cudaErrorInvalidDevice);
    if (from_array || to_array) {
      wrong = copy, wrong.extent.height = 6;
      EXPECT_ERROR(cudaMemcpy3DPeer(&wrong), cudaErrorInvalidValue);
    } else {
      wrong = copy, wrong.dstPtr.pitch = 8;
      EXPECT_ERROR(cudaMemcpy3DPeer(&wrong), cudaErrorInvalidPitchValue);
    }
    check_values(read_back(to, copy.dstArray, memory), wanted);
    if (from_array) OK(cudaFreeArray(copy.srcArray));
    else OK(cudaFree(copy.srcPtr.ptr));
    if (to_array) OK(cudaFreeArray(copy.dstArray));
    else OK(cudaFree(memory.ptr));
  }
  EXPECT_ERROR(cudaMemcpy3DPeer(nullptr), cudaErrorInvalidValue);
  OK(cudaStreamDestroy(stream));
  cudaGetLastError();
}

__global__ void twice(int *p, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) p[i] *= 2;
}

// Copies up, a kernel, copies down; what is read during the call may be written over at once.
static void batches() {
  constexpr int parts = 3, n = 1000;
  int *device[parts], *host[parts];
  void *up_to[parts], *up_from[parts], *down_to[parts], *down_from[parts];
  std::vector<int> once(n);
  size_t sizes[parts] = {n * sizeof(int), 40 * sizeof(int), sizeof(int)}, first_of[2] = {0, 2}, fails = 7;
  cudaMemcpyAttributes attributes[2] = {};
  attributes[0].srcAccessOrder = cudaMemcpySrcAccessOrderStream;
  attributes[0].flags = cudaMemcpyFlagPreferOverlapWithCompute;
  attributes[1].srcAccessOrder = cudaMemcpySrcAccessOrderDuringApiCall;
  cudaStream_t stream;
  OK(cudaStreamCreate(&stream));
  for (int part = 0; part < parts; ++part) {
    OK(cudaMalloc(&device[part], n * sizeof(int)));
    OK(cudaMallocHost(&host[part], n * sizeof(int)));
    for (int i = 0; i < n; ++i) host[part][i] = 10000 * part + i;
    up_to[part] = down_from[part] = device[part], up_from[part] = down_to[part] = host[part];
  }
  once[0] = 77, up_from[2] = once.data();
  OK(cudaMemcpyBatchAsync(up_to, up_from, sizes, parts, attributes, first_of, 2, &fails, stream));
  once[0] = 88;
  for (int *p : device) twice<<<1, 64, 0, stream>>>(p, n);
  attributes[1].srcAccessOrder = cudaMemcpySrcAccessOrderAny;
  OK(cudaMemcpyBatchAsync(down_to, down_from, sizes, parts, attributes, first_of, 2, &fails, stream));
  OK(cudaStreamSynchronize(stream));
  EXPECT(fails == SIZE_MAX);
  for (int part = 0; part < parts; ++part)
    for (int i = 0; i < n; ++i)
      EXPECT_AT(i, host[part][i], part == 2 && i == 0 ? 154 : (10000 * part + i) * (i < int(sizes[part] / sizeof(int)) ? 2 : 1));
  // What is refused, and where.
  EXPECT_ERROR(cudaMemcpyBatchAsync(up_to, up_from, sizes, parts, attributes, first_of, 2, &fails, 0), cudaErrorInvalidValue);
  EXPECT(fails == SIZE_MAX);
  first_of[0] = 1;
  EXPECT_ERROR(cudaMemcpyBatchAsync(up_to, up_from, sizes, parts, attributes, first_of, 2, &fails, stream), cudaErrorInvalidValue);
  first_of[0] = 0, attributes[1].srcAccessOrder = cudaMemcpySrcAccessOrderInvalid;
  EXPECT_ERROR(cudaMemcpyBatchAsync(up_to, up_from, sizes, parts, attributes, first_of, 2, &fails, stream), cudaErrorInvalidValue);
  EXPECT(fails == 2);
  attributes[1].srcAccessOrder = cudaMemcpySrcAccessOrderAny, up_to[1] = nullptr;
  EXPECT_ERROR(cudaMemcpyBatchAsync(up_to, up_from, sizes, parts, attributes, first_of, 2, &fails, stream), cudaErrorInvalidValue);
  EXPECT(fails == 1);
  OK(cudaStreamSynchronize(stream));
  OK(cudaStreamDestroy(stream));
  cudaGetLastError();
}

static cudaMemcpy3DOperand memory_operand(void *pointer, size_t row, size_t rows) {
  cudaMemcpy3DOperand made = {};
  made.type = cudaMemcpyOperandTypePointer;
  made.op.ptr.ptr = pointer, made.op.ptr.rowLength = row, made.op.ptr.layerHeight = rows;
  return made;
}

static cudaMemcpy3DOperand array_operand(cudaArray_t array, int3 at) {
  cudaMemcpy3DOperand made = {};
  made.type = cudaMemcpyOperandTypeArray;
  made.op.array.array = array, made.op.array.offset = {size_t(at.x), size_t(at.y), size_t(at.z)};
  return made;
}

static void boxes() {
  Box from = {6, 4, 3}, to = {8, 5, 4};
  std::vector<int> source = numbers(from, 500), target = numbers(to, 0);
  cudaArray_t array = array_box(from, source), other = array_box(to, target);
  int *packed = managed<int>(to.count());
  cudaStream_t stream;
  OK(cudaStreamCreate(&stream));
  int3 a = {1, 1, 0}, b = {2, 2, 1}, size = {4, 3, 3};
  size_t fails = 7;
  cudaMemcpy3DBatchOp copies[3] = {};
  copies[0].src = array_operand(array, a), copies[0].dst = array_operand(other, b);
  // Rows of ten elements in layers of four rows; then bytes, packed.
  int *wide = managed<int>(10 * 4 * 3);
  copies[1].src = array_operand(array, a), copies[1].dst = memory_operand(wide, 10, 4);
  for (int i = 0; i < 2; ++i) copies[i].extent = make_cudaExtent(size.x, size.y, size.z);
  for (int i = 0; i < to.count(); ++i) packed[i] = -i;
  int *bytes = managed<int>(to.count());
  copies[2].src = memory_operand(packed, 0, 0), copies[2].dst = memory_operand(bytes, 0, 0);
  copies[2].extent = make_cudaExtent(8 * sizeof(int), 5, 4);
  for (auto &copy : copies) copy.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
  OK(cudaMemcpy3DBatchAsync(3, copies, &fails, 0, stream));
  OK(cudaStreamSynchronize(stream));
  std::vector<int> wanted = target;
  copy_box(wanted, to, b, source, from, a, size);
  check_values(read_back(to, other, {}), wanted);
  for (int z = 0; z < 3; ++z)
    for (int y = 0; y < 4; ++y)
      for (int x = 0; x < 10; ++x)
        EXPECT_AT(x, wide[(z * 4 + y) * 10 + x], x < 4 && y < 3 ? source[from.at(x + 1, y + 1, z)] : 0);
  for (int i = 0; i < to.count(); ++i) EXPECT_AT(i, bytes[i], -i);
  EXPECT(fails == SIZE_MAX);
  copies[1].dst.op.ptr.rowLength = 3;
  EXPECT_ERROR(cudaMemcpy3DBatchAsync(3, copies, &fails, 0, stream), cudaErrorInvalidValue);
  EXPECT(fails == 1);
  copies[0].extent.depth = 0;
  EXPECT_ERROR(cudaMemcpy3DBatchAsync(3, copies, &fails, 0, stream), cudaErrorInvalidValue);
  EXPECT(fails == 0);
  EXPECT_ERROR(cudaMemcpy3DBatchAsync(3, copies, &fails, 1, stream), cudaErrorInvalidValue);
  EXPECT_ERROR(cudaMemcpy3DBatchAsync(3, copies, &fails, 0, 0), cudaErrorInvalidValue);
  OK(cudaStreamSynchronize(stream));
  OK(cudaStreamDestroy(stream));
  OK(cudaFreeArray(array));
  OK(cudaFreeArray(other));
  cudaGetLastError();
}

// Deprecated, and still there.
static void runs_of_bytes() {
  cudaChannelFormatDesc format = cudaCreateChannelDesc<int>();
  cudaArray_t array;
  cudaStream_t stream;
  OK(cudaStreamCreate(&stream));
  OK(cudaMallocArray(&array, &format, 6, 4));
  std::vector<int> values = numbers({6, 4, 1}, 50), found(24);
  OK(cudaMemcpyToArrayAsync(array, 0, 0, values.data(), 24 * sizeof(int), cudaMemcpyHostToDevice, stream));
  // Ten elements from the fourth of the second row on: they go on in the next row.
  std::vector<int> more = numbers({10, 1, 1}, 900);
  OK(cudaMemcpyToArrayAsync(array, 3 * sizeof(int), 1, more.data(), 40, cudaMemcpyHostToDevice, stream));
  OK(cudaMemcpyFromArrayAsync(found.data(), array, 0, 0, 24 * sizeof(int), cudaMemcpyDeviceToHost, stream));
  OK(cudaStreamSynchronize(stream));
  for (int i = 0; i < 24; ++i) EXPECT_AT(i, found[i], i >= 9 && i < 19 ? 900 + i - 9 : 50 + i);
  EXPECT_ERROR(cudaMemcpyToArrayAsync(array, 4, 3, values.data(), 24, cudaMemcpyHostToDevice, stream), cudaErrorInvalidValue);
  OK(cudaFreeArray(array));
  OK(cudaStreamDestroy(stream));
  cudaGetLastError();
}

int main() {
  between_devices();
  batches();
  boxes();
  runs_of_bytes();
  double number = 0.1;
  OK(cudaSetDoubleForDevice(&number));
  OK(cudaSetDoubleForHost(&number));
  EXPECT(number == 0.1);
  // CHECK: ok
  return result();
}
