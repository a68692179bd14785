// Reads AMD's code objects: kernels and variables from the table of symbols, what kernels need from the metadata
// (LLVM's AMDGPUUsage, "Code Object Metadata": a note with a map in MessagePack).
#include "code_object.h"

#include <cstdio>
#include <cstring>
#include <elf.h>

namespace {
enum { AMDGPU = 224, METADATA = 32, MACH = 0xff };

// EF_AMDGPU_MACH of LLVM's BinaryFormat/ELF.h, for the chips that tests use.
const std::map<unsigned, const char *> CHIPS = {{0x2c, "gfx900"}, {0x2f, "gfx906"}, {0x30, "gfx908"},
    {0x3f, "gfx90a"}, {0x4c, "gfx942"}, {0x33, "gfx1010"}, {0x36, "gfx1030"}, {0x41, "gfx1100"}};

// A cursor over MessagePack. Values that are not asked for are skipped.
struct Pack {
  const unsigned char *at, *end;

  uint64_t number(int bytes) {
    uint64_t value = 0;
    while (bytes-- > 0 && at < end) value = value << 8 | *at++;
    return value;
  }
  // The next value: its kind ('n' number, 's' text, 'a' list, 'm' map, 'x' other), and its value or length.
  char next(uint64_t &value) {
    if (at >= end) return 'x';
    unsigned tag = *at++;
    if (tag < 0x80) { value = tag; return 'n'; }
    if (tag < 0x90) { value = tag & 15; return 'm'; }
    if (tag < 0xa0) { value = tag & 15; return 'a'; }
    if (tag < 0xc0) { value = tag & 31; return 's'; }
    switch (tag) {
    case 0xc2: case 0xc3: value = tag & 1; return 'n';
    case 0xcc: case 0xcd: case 0xce: case 0xcf: value = number(1 << (tag - 0xcc)); return 'n';
    case 0xd0: case 0xd1: case 0xd2: case 0xd3: value = number(1 << (tag - 0xd0)); return 'n';
    case 0xd9: case 0xda: case 0xdb: value = number(1 << (tag - 0xd9)); return 's';
    case 0xdc: case 0xdd: value = number(2 << (tag - 0xdc)); return 'a';
    case 0xde: case 0xdf: value = number(2 << (tag - 0xde)); return 'm';
    default: return 'x';
    }
  }
  std::string text(uint64_t length) {
    if (length > uint64_t(end - at)) length = uint64_t(end - at);
    std::string out(reinterpret_cast<const char *>(at), length);
    at += length;
    return out;
  }
  std::string text() {
    uint64_t length = 0;
    return next(length) == 's' ? text(length) : "";
  }
  uint64_t value() {
    uint64_t value = 0;
    return next(value) == 'n' ? value : 0;
  }
  void skip() {
    uint64_t count = 0;
    char kind = next(count);
    if (kind == 's') text(count);
    if (kind == 'm') count *= 2;
    if (kind == 'a' || kind == 'm') while (count-- > 0 && at < end) skip();
  }
  // The number of entries of a list or map.
  uint64_t entries() {
    uint64_t count = 0;
    char kind = next(count);
    return kind == 'a' || kind == 'm' ? count : 0;
  }
};

void read_kernel(Pack &pack, CodeObject &to) {
  Kernel kernel;
  std::string symbol;
  for (uint64_t fields = pack.entries(); fields-- > 0;) {
    std::string key = pack.text();
    if (key == ".symbol") symbol = pack.text();
    else if (key == ".max_flat_workgroup_size") kernel.threads = uint32_t(pack.value());
    else if (key == ".group_segment_fixed_size") kernel.shared = uint32_t(pack.value());
    else if (key == ".private_segment_fixed_size") kernel.local = uint32_t(pack.value());
    else if (key == ".vgpr_count") kernel.registers = uint32_t(pack.value());
    else if (key == ".args") {
      for (uint64_t args = pack.entries(); args-- > 0;) {
        uint32_t size = 0;
        bool hidden = false;
        for (uint64_t parts = pack.entries(); parts-- > 0;) {
          std::string part = pack.text();
          if (part == ".size") size = uint32_t(pack.value());
          else if (part == ".value_kind") hidden = pack.text().rfind("hidden_", 0) == 0;
          else pack.skip();
        }
        if (!hidden) kernel.sizes.push_back(size);
      }
    } else pack.skip();
  }
  if (symbol.size() > 3) to.kernels[symbol.substr(0, symbol.size() - 3)] = kernel;
}

void read_metadata(Pack pack, CodeObject &to) {
  for (uint64_t fields = pack.entries(); fields-- > 0;) {
    if (pack.text() != "amdhsa.kernels") { pack.skip(); continue; }
    for (uint64_t kernels = pack.entries(); kernels-- > 0;) read_kernel(pack, to);
  }
}

void read_notes(const unsigned char *bytes, size_t size, CodeObject &to) {
  for (size_t at = 0; at + sizeof(Elf64_Nhdr) <= size;) {
    Elf64_Nhdr note;
    memcpy(&note, bytes + at, sizeof note);
    size_t name = at + sizeof note, data = name + (note.n_namesz + 3u) / 4 * 4;
    if (note.n_type == METADATA && !strcmp(reinterpret_cast<const char *>(bytes + name), "AMDGPU"))
      read_metadata({bytes + data, bytes + data + note.n_descsz}, to);
    at = data + (note.n_descsz + 3u) / 4 * 4;
  }
}

// Objects of the table of symbols that are no kernel's descriptor.
void read_symbols(const unsigned char *bytes, const Elf64_Shdr *sections, const Elf64_Shdr &table, CodeObject &to) {
  auto *strings = reinterpret_cast<const char *>(bytes + sections[table.sh_link].sh_offset);
  auto *symbols = reinterpret_cast<const Elf64_Sym *>(bytes + table.sh_offset);
  for (size_t i = 0; i < table.sh_size / sizeof *symbols; i++) {
    const Elf64_Sym &symbol = symbols[i];
    std::string name = strings + symbol.st_name;
    bool descriptor = name.size() > 3 && name.compare(name.size() - 3, 3, ".kd") == 0;
    if (descriptor) to.kernels[name.substr(0, name.size() - 3)]; // also without metadata
    if (descriptor || ELF64_ST_TYPE(symbol.st_info) != STT_OBJECT || !symbol.st_size) continue;
    Variable &variable = to.variables[name];
    variable.size = symbol.st_size;
    if (symbol.st_shndx >= SHN_LORESERVE || sections[symbol.st_shndx].sh_type == SHT_NOBITS) continue;
    const Elf64_Shdr &section = sections[symbol.st_shndx];
    variable.initial.assign(reinterpret_cast<const char *>(bytes) + section.sh_offset + symbol.st_value
        - section.sh_addr, symbol.st_size);
  }
}

bool read_elf(const unsigned char *bytes, CodeObject &to) {
  auto *header = reinterpret_cast<const Elf64_Ehdr *>(bytes);
  if (header->e_machine != AMDGPU) return false;
  auto chip = CHIPS.find(header->e_flags & MACH);
  if (chip != CHIPS.end()) to.arch = chip->second;
  auto *sections = reinterpret_cast<const Elf64_Shdr *>(bytes + header->e_shoff);
  for (int i = 0; i < header->e_shnum; i++) {
    if (sections[i].sh_type == SHT_NOTE) read_notes(bytes + sections[i].sh_offset, sections[i].sh_size, to);
    if (sections[i].sh_type == SHT_DYNSYM) read_symbols(bytes, sections, sections[i], to);
  }
  return true;
}
} // namespace

bool read_code_object(const void *bytes, CodeObject &to) {
  if (memcmp(bytes, "\177ELF", 4)) return false;
  image lines = {};
  if (!read_lines(&lines, static_cast<const char *>(bytes) + 4))
    return read_elf(static_cast<const unsigned char *>(bytes), to);
  to.arch = lines.arch;
  for (kernel *found = lines.kernels; found; found = found->next)
    to.kernels[found->name].sizes.assign(found->sizes, found->sizes + found->params);
  for (variable *found = lines.variables; found; found = found->next) {
    to.variables[found->name].size = found->size;
    to.variables[found->name].managed = found->managed;
  }
  return true;
}
