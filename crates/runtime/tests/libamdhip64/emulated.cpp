// Loads shared objects with the CPU's forms of kernels. Their table, `__regrain_cpu_image.<unit>`, is a hidden symbol:
// it is found in the file's own table of symbols. Host code that is in them registers its kernels with the runtime in
// here, and is not run.
#include "emulated.h"

#include "record.h"
#include <algorithm>
#include <cstring>
#include <dirent.h>
#include <dlfcn.h>
#include <elf.h>
#include <fstream>
#include <iterator>
#include <link.h>

bool Emulated::holds(const std::string &kernel) const {
  return std::any_of(image->kernels, image->kernels + image->num_kernels,
      [&](const regrain_cpu_kernel &known) { return kernel == known.name; });
}

// Addresses of the tables, from the start of the object.
static std::vector<size_t> tables(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  std::vector<size_t> found;
  if (bytes.size() < sizeof(Elf64_Ehdr) || bytes.compare(0, 4, "\177ELF")) return found;
  auto *header = reinterpret_cast<const Elf64_Ehdr *>(bytes.data());
  auto *sections = reinterpret_cast<const Elf64_Shdr *>(bytes.data() + header->e_shoff);
  for (int i = 0; i < header->e_shnum; i++) {
    if (sections[i].sh_type != SHT_SYMTAB) continue;
    const char *strings = bytes.data() + sections[sections[i].sh_link].sh_offset;
    auto *symbols = reinterpret_cast<const Elf64_Sym *>(bytes.data() + sections[i].sh_offset);
    for (size_t s = 0; s < sections[i].sh_size / sizeof *symbols; s++)
      if (!strncmp(strings + symbols[s].st_name, "__regrain_cpu_image.", 20)) found.push_back(symbols[s].st_value);
  }
  return found;
}

static void load(const std::string &path, std::vector<Emulated> &to) {
  // What host code names and is not here is not needed.
  void *object = dlopen(path.c_str(), RTLD_LAZY);
  link_map *map = nullptr;
  if (!object || dlinfo(object, RTLD_DI_LINKMAP, &map)) {
    fprintf(stderr, "stand-in for HIP: error: %s\n", dlerror());
    return;
  }
  for (size_t table : tables(path)) {
    Emulated made = {path, reinterpret_cast<const regrain_cpu_image *>(map->l_addr + table), {}};
    for (uint32_t i = 0; i < made.image->num_vars; i++)
      made.initial.emplace_back(static_cast<char *>(made.image->vars[i].address), made.image->vars[i].size);
    to.push_back(made);
  }
}

const std::vector<Emulated> &emulated() {
  static const std::vector<Emulated> *all = [] {
    auto *made = new std::vector<Emulated>;
    std::string folder = setting("STANDIN_HIP_MODULES", "");
    DIR *open = folder.empty() ? nullptr : opendir(folder.c_str());
    if (!open) return made;
    // The objects call the runtime in here, which the loader keeps to itself so far.
    Dl_info self;
    if (dladdr(reinterpret_cast<void *>(&emulated), &self)) dlopen(self.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL);
    std::vector<std::string> names;
    for (dirent *entry; (entry = readdir(open));) names.push_back(entry->d_name);
    closedir(open);
    std::sort(names.begin(), names.end());
    for (const std::string &name : names)
      if (name.size() > 3 && name.compare(name.size() - 3, 3, ".so") == 0) load(folder + "/" + name, *made);
    return made;
  }();
  return *all;
}
