// A shared object for STANDIN_HIP_MODULES with hand-written kernels that use the output buffer as code for AMD GPUs does
// (src/device/hip/records.rs). Named as the kernels of the short form in tests/programs/images.h.
#include "abi.h"
#include <cstring>
#include <string>

struct Output { uint32_t written, capacity, failed, pad; uint32_t data[]; };
static Output *output;

// Claims room for a record without its size, and completes it. What does not fit is dropped.
static void put(std::string body) {
  body.resize((body.size() + 4 + 7) / 8 * 8 - 4);
  uint32_t size = uint32_t(body.size() + 4);
  uint32_t at = __atomic_fetch_add(&output->written, size, __ATOMIC_SEQ_CST);
  if (uint64_t(at) + size > output->capacity) return;
  memcpy(output->data + at / 4 + 1, body.data(), body.size());
  __atomic_store_n(&output->data[at / 4], size, __ATOMIC_RELEASE);
}
static std::string word(uint32_t value) { return std::string(reinterpret_cast<char *>(&value), 4); }
static std::string padded(std::string text) { text.resize(text.size() / 8 * 8 + 8); return text; }
static std::string text(const char *value) { return word(uint32_t(padded(value).size())) + word(0) + padded(value); }

// Prints as many lines as it is told.
static void add(void **args) {
  for (int line = 0; line < *static_cast<int *>(args[0]); line++) {
    double half = line + 0.5;
    std::string format = padded("line %d of %s: %.1f\n"), packed = word(uint32_t(line)) + word(0) + word(1) + word(2);
    packed += std::string(reinterpret_cast<char *>(&half), 8);
    put(word(1) + word(uint32_t(format.size())) + word(uint32_t(packed.size())) + format + packed + text("add"));
  }
}
static void fail(void **) {
  put(word(2) + word(7) + word(1) + word(0) + word(2) + word(3) + word(0) + word(0) + word(0) + text("x > 0")
      + text("a.cu") + text("void k(int)"));
  __atomic_store_n(&output->failed, 2u, __ATOMIC_SEQ_CST);
}
static void trap(void **) {
  put(word(3));
  __atomic_store_n(&output->failed, 3u, __ATOMIC_SEQ_CST);
}

static const uint32_t params[] = {4};
static const regrain_cpu_kernel kernels[] = {{"add", add, nullptr, params, 1, 0, 0, 0, 0, nullptr, 0, nullptr},
    {"only_gpu", fail, nullptr, params, 1, 0, 0, 0, 0, nullptr, 0, nullptr},
    {"only_cpu", trap, nullptr, params, 1, 0, 0, 0, 0, nullptr, 0, nullptr}};
static const regrain_cpu_var vars[] = {{"__regrain_output", &output, 8}};
extern __attribute__((visibility("hidden"))) const regrain_cpu_image table asm("__regrain_cpu_image.printing");
const regrain_cpu_image table = {0x3130555043475252, kernels, 3, 1, vars};
