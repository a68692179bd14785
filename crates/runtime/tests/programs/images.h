// Images for tests, in the forms that a fat-binary wrapper may lead to. The device code is the short form of the
// stand-ins for vendors'
// libraries (tests/standin/record.h).
#pragma once
#include "abi.h"
#include <cstring>
#include <string>
#include <vector>

struct regrain_image_set {
  uint64_t magic;
  const regrain_cpu_image *cpu;
  const unsigned char *offload;
  uint64_t offload_size;
};
enum { CUBIN = 3, PTX = 5, OBJECT = 1, CUDA = 2 };

template <class T> void append(std::string &to,
    T value) { to.append(reinterpret_cast<const char *>(&value), sizeof value); }

// One offload binary as LLVM writes it (llvm/Object/OffloadBinary.h, version 1): header, entry, table of strings,
// strings, image.
inline std::string offload(uint16_t kind, uint16_t language, const std::string &arch, const std::string &image,
    const std::string &triple = "nvptx64-nvidia-cuda") {
  const uint64_t table = 32 + 40, text = table + 32;
  std::string strings;
  auto add = [&](const std::string &s) { uint64_t at = text + strings.size(); strings += s + '\0'; return at; };
  uint64_t arch_key = add("arch"), arch_at = add(arch), triple_key = add("triple"), triple_at = add(triple);
  uint64_t start = (text + strings.size() + 7) / 8 * 8, size = (start + image.size() + 7) / 8 * 8;
  std::string out("\x10\xff\x10\xad", 4);
  append<uint32_t>(out, 1); append<uint64_t>(out, size); append<uint64_t>(out, 32); append<uint64_t>(out, 40);
  append(out, kind); append(out, language); append<uint32_t>(out, 0); append(out, table); append<uint64_t>(out, 2);
  append(out, start); append<uint64_t>(out, image.size());
  append(out, arch_key); append(out, arch_at); append(out, triple_key); append(out, triple_at);
  out += strings;
  out.resize(start, '\0');
  out += image;
  out.resize(size, '\0');
  return out;
}

// "add" writes nothing here: what a launch was given stands in the stand-in's log.
inline const std::string device_text = "kernel add 8 4 8 2\nkernel only_gpu 24\nvar scale 16\n";
inline std::string cubin() { return "\177ELF" + device_text + "end\n"; }
// Not ended by NUL: the runtime has to do that.
inline std::string ptx() { return "// PTX\n" + device_text + "end"; }
inline std::string code_object(const std::string &arch, const std::string &more,
    const std::string &text = device_text) {
  return "\177ELFarch " + arch.substr(0, arch.find(':')) + "\n" + text + more + "end\n";
}
inline std::string fatbin() {
  std::string body = device_text + "end\n", out;
  append<uint32_t>(out, 0xba55ed50); append<uint16_t>(out, 1); append<uint16_t>(out, 16);
  append<uint64_t>(out, body.size());
  return out + body;
}

// Blocks run side by side.
static void add(void **args) {
  __atomic_fetch_add(*static_cast<int **>(args[0]), *static_cast<int *>(args[1]), __ATOMIC_RELAXED);
}
static int scale_on_cpu[4] = {1, 2, 3, 4};
static const uint32_t add_params[] = {8, 4, 8, 2};
static const regrain_cpu_kernel cpu_kernels[] = {{"add", add, nullptr, add_params, 4, 0, 0, 0, 0, nullptr, 0, nullptr},
    {"only_cpu", add, nullptr, add_params, 4, 0, 0, 0, 0, nullptr, 0, nullptr}};
static const regrain_cpu_var cpu_vars[] = {{"scale", scale_on_cpu, 16}, {"managed", scale_on_cpu, 16}};
static const regrain_cpu_image cpu_image = {0x3130555043475252, cpu_kernels, 2, 2, cpu_vars};

static char stubs[4], scale[16];
static int *managed_pointer;

// What `name` says: "cpu", "fatbin", or a set, as in "set:cpu,cubin80,ptx70,gfx90a,output90a".
inline const void *image(const std::string &name) {
  static std::vector<std::string> *kept = new std::vector<std::string>; // alive as long as the program
  kept->reserve(16);
  if (name == "cpu") return &cpu_image;
  if (name == "fatbin") { kept->push_back(fatbin()); return kept->back().data(); }
  auto *set = new regrain_image_set{0x3130544553475252, nullptr, nullptr, 0};
  std::string bytes;
  for (size_t at = name.find(':') + 1; at < name.size();) {
    size_t end = std::min(name.find(',', at), name.size());
    std::string part = name.substr(at, end - at);
    if (part == "cpu") set->cpu = &cpu_image;
    else if (part.rfind("cubin", 0) == 0) bytes += offload(CUBIN, CUDA, "sm_" + part.substr(5), cubin());
    else if (part.rfind("ptx", 0) == 0) bytes += offload(PTX, CUDA, "sm_" + part.substr(3), ptx());
    else if (part.rfind("managed", 0) == 0) bytes += offload(CUBIN, CUDA, "sm_" + part.substr(7),
        "\177ELF" + device_text + "managed managed 16\nend\n");
    else if (part == "broken") bytes += offload(CUBIN, CUDA, "sm_80", cubin()).substr(0, 60);
    else if (part.rfind("amdmanaged", 0) == 0) bytes += offload(OBJECT, CUDA, "gfx" + part.substr(10),
        code_object("gfx" + part.substr(10), "managed managed 16\n"), "amdgcn-amd-amdhsa");
    else if (part.rfind("output", 0) == 0) bytes += offload(OBJECT, CUDA, "gfx" + part.substr(6),
        code_object("gfx" + part.substr(6), "kernel only_cpu 4\nvar __regrain_output 8\n", "kernel add 4\nkernel only_gpu 4\n"), "amdgcn-amd-amdhsa");
    else if (part == "object") bytes += offload(OBJECT, CUDA, part, "code", "riscv64-unknown-elf");
    else bytes += offload(OBJECT, CUDA, part, code_object(part, ""), "amdgcn-amd-amdhsa");
    at = end + 1;
  }
  kept->push_back(bytes);
  if (!bytes.empty()) { set->offload
      = reinterpret_cast<const unsigned char *>(kept->back().data()); set->offload_size = bytes.size(); }
  return set;
}

// Registers as clang's host code does: stubs 0 "add", 1 "only_gpu", 2 "only_cpu", 3 in no image.
inline void **register_program(const std::string &name) {
  if (name == "none") return nullptr;
  auto *wrapper = new fatbin_wrapper{0x466243b1, 1, image(name), nullptr};
  void **handle = __cudaRegisterFatBinary(wrapper);
  const char *kernels[] = {"add", "only_gpu", "only_cpu", "nowhere"};
  for (int i = 0; i < 4; i++) __cudaRegisterFunction(handle, stubs + i, stubs + i, kernels[i], -1, nullptr, nullptr,
      nullptr, nullptr, nullptr);
  __cudaRegisterVar(handle, scale, scale, "scale", 0, 16, 0, 0);
  if (name.find("managed") != std::string::npos) __cudaRegisterManagedVar(handle,
      reinterpret_cast<void **>(&managed_pointer), nullptr, "managed", 0, 16, 0, 0);
  __cudaRegisterFatBinaryEnd(handle);
  return handle;
}
