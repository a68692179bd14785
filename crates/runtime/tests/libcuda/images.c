// Reads the images that programs load: cubins, PTX, NVIDIA's fat binaries with cubins in them that are not compressed.
//
// For tests there is a short form: a magic (`\x7fELF`, a comment of PTX, a fat binary's header) and then lines of text
// (record.h).
#include "standin.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A kernel's parameters, from the attributes of its section `.nv.info.<name>`: EIATTR_KPARAM_INFO.
static void read_params(struct kernel *kernel, const unsigned char *info, size_t length) {
  for (size_t at = 0; at + 4 <= length;) {
    unsigned format = info[at], attribute = info[at + 1], size = info[at + 2] | info[at + 3] << 8;
    size_t step = format == 4 ? 4 + (size_t)size : 4;
    if (format == 4 && attribute == 0x17 && size >= 12 && at + 16 <= length) {
      unsigned ordinal = info[at + 8] | info[at + 9] << 8;
      uint32_t flags;
      memcpy(&flags, info + at + 12, 4);
      if (ordinal < MAX_PARAMS) {
        kernel->sizes[ordinal] = flags >> 18;
        if ((int)ordinal >= kernel->params) kernel->params = (int)ordinal + 1;
      }
    }
    at += step;
  }
}

static void read_elf(struct image *image, const unsigned char *bytes) {
  const Elf64_Ehdr *header = (const void *)bytes;
  const Elf64_Shdr *sections = (const void *)(bytes + header->e_shoff);
  const char *names = (const char *)bytes + sections[header->e_shstrndx].sh_offset;
  for (int at = 0; at < header->e_shnum; at++) {
    const Elf64_Shdr *section = &sections[at];
    const char *name = names + section->sh_name;
    if (!strncmp(name, ".nv.info.", 9)) {
      read_params(add_kernel(image, name + 9, strlen(name + 9)), bytes + section->sh_offset, section->sh_size);
    } else if (section->sh_type == SHT_SYMTAB) {
      const char *strings = (const char *)bytes + sections[section->sh_link].sh_offset;
      const Elf64_Sym *symbols = (const void *)(bytes + section->sh_offset);
      for (size_t i = 0; i < section->sh_size / sizeof *symbols; i++)
        if (ELF64_ST_TYPE(symbols[i].st_info) == STT_OBJECT && symbols[i].st_size)
          add_variable(image, strings + symbols[i].st_name, symbols[i].st_size, 0);
    }
  }
}

static unsigned size_of_type(const char *type) {
  const char *digits = strpbrk(type, "0123456789");
  return digits ? (unsigned)atoi(digits) / 8 : 1;
}

// `.global .align 4 .b8 <name>[16] = ...;`, `.const .f32 <name>;`; instructions have a dot behind the name of the
// memory.
static void read_ptx_variables(struct image *image, const char *text, const char *space) {
  for (const char *at = text; (at = strstr(at, space)) != NULL;) {
    const char *type = at += strlen(space);
    if (!strncmp(type, ".align", 6)) {
      type += 6;
      type += strspn(type, " 0123456789");
    }
    const char *name = type + strcspn(type, " ");
    name += strspn(name, " ");
    size_t length = strcspn(name, " [;=\n");
    char word[256];
    snprintf(word, sizeof word, "%.*s", (int)length, name);
    size_t count = name[length] == '[' ? (size_t)atol(name + length + 1) : 1;
    add_variable(image, word, count * size_of_type(type + 1), 0);
  }
}

// `.entry <name>(.param .u64 <name>_param_0, .param .align 8 .b8 <name>_param_1[24], ...)`
static void read_ptx(struct image *image, const char *text) {
  for (const char *at = text; (at = strstr(at, ".entry ")) != NULL;) {
    at += 7;
    at += strspn(at, " ");
    size_t length = strcspn(at, " (\n\t");
    struct kernel *kernel = add_kernel(image, at, length);
    at += length;
    const char *end = at + strcspn(at, ")");
    while (kernel->params < MAX_PARAMS && (at = strstr(at, ".param")) && at < end) {
      at += 6;
      const char *type = at + strspn(at, " ");
      if (!strncmp(type, ".align", 6)) {
        type += 6;
        type += strspn(type, " 0123456789");
      }
      const char *stop = type + strcspn(type, ",)"), *bracket = memchr(type, '[', (size_t)(stop - type));
      kernel->sizes[kernel->params++] = bracket ? (uint32_t)atoi(bracket + 1) : size_of_type(type + 1);
    }
    at = end;
  }
}

struct image *standin_read(const void *data) {
  const unsigned char *bytes = data;
  struct image *image = calloc(1, sizeof *image);
  uint32_t magic;
  memcpy(&magic, bytes, 4);
  if (!memcmp(bytes, "\177ELF", 4)) {
    image->what = "cubin";
    if (!read_lines(image, (const char *)bytes + 4)) read_elf(image, bytes);
  } else if (magic == 0xba55ed50) {
    uint64_t length;
    memcpy(&length, bytes + 8, 8);
    image->what = "fatbin";
    if (!read_lines(image, (const char *)bytes + 16))
      for (size_t at = 16; at + 64 < 16 + length; at += 8)
        if (!memcmp(bytes + at, "\177ELF", 4)) read_elf(image, bytes + at);
  } else if (!memcmp(bytes, "//", 2) || !memcmp(bytes, ".version", 8)) {
    const char *line = strchr((const char *)bytes, '\n');
    image->what = "ptx";
    if (!line || !read_lines(image, line + 1)) {
      read_ptx(image, (const char *)bytes);
      read_ptx_variables(image, (const char *)bytes, ".global ");
      read_ptx_variables(image, (const char *)bytes, ".const ");
    }
  } else {
    free(image);
    return NULL;
  }
  return image;
}
