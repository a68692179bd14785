// Command lines of the form `--name value` or `--name=value` and bare flags.
// Anything else prints the usage and leaves with code 2 (`--help`: code 0).
#pragma once

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace bench {

class Options {
public:
  Options(const char *program, const char *purpose) : program_(program), purpose_(purpose) {
    add_flag("digest", &digest, "print a 64-bit hash of the result's bytes");
    add_flag("time", &time, "print kernel, total and reference milliseconds");
    add_flag("no-check", &no_check, "skip the host reference and its comparison");
    add("seed", &seed, 0, 2147483647, "seed of the generated data");
  }

  // What every program of this folder takes.
  bool digest = false;
  bool time = false;
  bool no_check = false;
  int seed = 1;

  const char *program() const { return program_; }

  void add(const char *name, int *value, int low, int high, const char *help) {
    entries_.push_back({name, value, nullptr, *value, low, high, help});
  }
  void add_flag(const char *name, bool *flag, const char *help) {
    entries_.push_back({name, nullptr, flag, 0, 0, 0, help});
  }

  void parse(int argc, char **argv) {
    for (int i = 1; i < argc; ++i) {
      if (!std::strcmp(argv[i], "--help") || !std::strcmp(argv[i], "-h")) {
        usage(stdout);
        std::exit(0);
      }
      const char *inline_value = nullptr;
      const Entry *entry = find(argv[i], &inline_value);
      if (!entry)
        reject("unknown argument '" + std::string(argv[i]) + "'");
      if (entry->flag) {
        if (inline_value)
          reject("--" + std::string(entry->name) + " takes no value");
        *entry->flag = true;
        continue;
      }
      if (!inline_value && ++i == argc)
        reject("--" + std::string(entry->name) + " needs a value");
      assign(*entry, inline_value ? inline_value : argv[i]);
    }
  }

  // Prints `error: ...` and the usage, leaves with code 2.
  [[noreturn]] void reject(const std::string &why) const {
    std::fprintf(stderr, "%s: error: %s\n", program_, why.c_str());
    usage(stderr);
    std::exit(2);
  }

private:
  struct Entry {
    const char *name;
    int *value;
    bool *flag;
    int standard, low, high;
    const char *help;
  };

  const Entry *find(const char *argument, const char **inline_value) const {
    if (std::strncmp(argument, "--", 2))
      return nullptr;
    const char *equals = std::strchr(argument, '=');
    std::string name = equals ? std::string(argument + 2, equals) : std::string(argument + 2);
    *inline_value = equals ? equals + 1 : nullptr;
    for (const Entry &entry : entries_)
      if (name == entry.name)
        return &entry;
    return nullptr;
  }

  void assign(const Entry &entry, const char *text) const {
    char *end = nullptr;
    long long number = std::strtoll(text, &end, 10);
    if (end == text || *end || number < entry.low || number > entry.high)
      reject("--" + std::string(entry.name) + " wants a number from " + std::to_string(entry.low) +
             " to " + std::to_string(entry.high) + ", got '" + text + "'");
    *entry.value = static_cast<int>(number);
  }

  void usage(std::FILE *to) const {
    std::fprintf(to, "%s: %s\nusage: %s [options]\n", program_, purpose_, program_);
    for (const Entry &entry : entries_) {
      std::string left = std::string("--") + entry.name + (entry.flag ? "" : " N");
      std::fprintf(to, "  %-16s %s", left.c_str(), entry.help);
      if (entry.value)
        std::fprintf(to, " (default %d)", entry.standard);
      std::fputc('\n', to);
    }
  }

  const char *program_;
  const char *purpose_;
  std::vector<Entry> entries_;
};

} // namespace bench
