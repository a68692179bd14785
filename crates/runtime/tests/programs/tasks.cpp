// How many blocks an OS thread takes at once. The first block waits for a later one to begin: that comes to pass only if
// another OS thread takes it, and then the threads that ran the blocks between them tell where tasks begin and end.
#include "abi.h"
#include <atomic>
#include <chrono>
#include <cstdio>
#include <thread>

static int failures;
#define CHECK(c) do { if (!(c)) { std::printf("%s:%d: failed: %s\n", __FILE__, __LINE__, #c); failures++; } } while (0)

constexpr unsigned blocks = 16;
static std::atomic<void *> owner[blocks];
static unsigned awaited;
static std::atomic<bool> waited_in_vain;

static void block(void **) {
  unsigned number = __regrain_tls.ctaid[0];
  owner[number] = &__regrain_tls;
  if (number != 0) return;
  auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!owner[awaited]) {
    if (std::chrono::steady_clock::now() > end) { waited_in_vain = true; return; }
    std::this_thread::yield();
  }
}

// A kernel for each launch: other OS threads are called at once where nothing is known of a kernel's time.
constexpr int launches = 7;
#define KERNEL(name) {name, block, block, nullptr, 0, 0, 0, 0, 0, nullptr, 0, nullptr}
static const regrain_cpu_kernel kernels[launches] = {KERNEL("0"), KERNEL("1"), KERNEL("2"), KERNEL("3"), KERNEL("4"), KERNEL("5"), KERNEL("6")};
static const regrain_cpu_image image = {0x3130555043475252, kernels, launches, 0, nullptr};
static const fatbin_wrapper wrapper = {0x466243b1, 1, &image, nullptr};
static char stubs[launches];
static int launched;

static void launch(unsigned wait_for, bool cooperative = false) {
  for (auto &one : owner) one = nullptr;
  awaited = wait_for;
  waited_in_vain = false;
  char *stub = &stubs[launched++];
  auto error = cooperative ? cudaLaunchCooperativeKernel(stub, 4, 1, nullptr, 0, nullptr) : cudaLaunchKernel(stub, blocks, 1, nullptr, 0, nullptr);
  CHECK(error == cudaSuccess && cudaDeviceSynchronize() == cudaSuccess);
}

// Whether one OS thread ran the blocks from `first` up to `end`.
static bool together(unsigned first, unsigned end) {
  for (unsigned at = first; at < end; at++) if (owner[at] != owner[first]) return false;
  return owner[first] != nullptr;
}

int main() {
  void **handle = __cudaRegisterFatBinary(&wrapper);
  for (int at = 0; at < launches; at++)
    __cudaRegisterFunction(handle, &stubs[at], &stubs[at], kernels[at].name, -1, nullptr, nullptr, nullptr, nullptr, nullptr);
  __cudaRegisterFatBinaryEnd(handle);

  __regrain_blocks_per_task(8);
  launch(8);
  CHECK(!waited_in_vain && together(0, 8) && together(8, 16) && owner[0] != owner[8]);
  // The last task is what is left.
  __regrain_blocks_per_task(13);
  launch(13);
  CHECK(!waited_in_vain && together(0, 13) && together(13, 16) && owner[0] != owner[13]);
  // It holds for one launch: here each block is a task.
  launch(1);
  CHECK(!waited_in_vain && owner[0] != owner[1]);
  // Also for one that fails.
  __regrain_blocks_per_task(8);
  CHECK(cudaLaunchKernel(stubs, 1, 2000, nullptr, 0, nullptr) == cudaErrorInvalidConfiguration);
  launch(1);
  CHECK(!waited_in_vain && owner[0] != owner[1]);
  // 0 is the usual number.
  __regrain_blocks_per_task(0);
  launch(1);
  CHECK(!waited_in_vain && owner[0] != owner[1]);
  // More than there are is all of them, on the launching thread.
  __regrain_blocks_per_task(1u << 20);
  launch(0);
  CHECK(together(0, 16) && owner[0] == static_cast<void *>(&__regrain_tls));
  // All blocks of a cooperative launch run at once.
  __regrain_blocks_per_task(4);
  launch(3, true);
  CHECK(!waited_in_vain && owner[0] != owner[1] && owner[0] != owner[3]);

  __cudaUnregisterFatBinary(handle);
  if (failures) std::printf("%d failed\n", failures); else std::printf("all passed\n");
  return failures != 0;
}
