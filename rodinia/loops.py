"""Sequential loops in parallel by -fregrain-parallelize, against clang -O3 and OpenMP, and as kernels against CUDA by hand (affine/). Used by
bench.py, which writes the tables."""
import math
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

FOLDER = Path(__file__).resolve().parent / "affine"
PROGRAMS = sorted(path.stem for path in FOLDER.glob("*.c"))
# Functions that are computed otherwise on a device, and sums that several threads have a part in.
FAST = {"mriq", "mrifhd", "atax", "bicg", "gemver", "gesummv", "mvt"}
# What the paper on superposition (sections 2, 6.3) says of PPCG's mapping, which is written anew in affine/ppcg: transactions of 128 bytes for a warp's
# loads on two chips, of which an access of neighbours takes 1, and its own.
PUBLISHED = {"doitgen": ("31.4, 31.9 (stores 31.5, 32.0)", "1.0")}
MAPPING = "PPCG's mapping"
SIDES = ["sequential", "OpenMP", "parallelized", "CUDA"]


def build(program, options, clang, folder):
    """The command of each side, and what is said of loops; none where it does not compile."""
    flags = ["-O3", "-march=native", *(["-ffast-math"] if program in FAST else []), *options.flags.split()]
    source = [str(FOLDER / f"{program}.c"), "-lm"]
    driver = str(Path(options.driver).resolve())
    commands = {
        "sequential": [str(clang), "-x", "c", *flags, *source],
        "OpenMP": [str(clang), "-x", "c", "-fopenmp", *flags, *source],
        "parallelized": [driver, "--offload-arch=cpu", "-fregrain-parallelize", "-Rpass=regrain-parallelize", *flags, *source],
        "CUDA": [driver, "--offload-arch=cpu", "-w", *flags, str(FOLDER / f"{program}.cu"), "-lm"],
    }
    made, said = {}, ""
    for side, command in commands.items():
        built = f"{folder}/{program}-{side}"
        done = subprocess.run([*command, "-o", built], capture_output=True, text=True, check=False)
        if done.returncode == 0:
            made[side] = built
        else:
            print(f"{program}: {side}: {done.stderr}", file=sys.stderr)
        if side == "parallelized":
            said = done.stderr
    return made, said.count("loop runs in parallel")


def seconds(command, sizes):
    """The time that a program prints; none where its check fails."""
    done = subprocess.run([command, *sizes], capture_output=True, text=True, check=False)
    found = re.search(r"^time ([0-9.]+) s$", done.stdout, re.M)
    return float(found[1]) if found and done.returncode == 0 else None


def table(options, clang, machine, geomean):
    """The lines of results/affine.md, and the programs that failed."""
    lines = ["# Loops of C in parallel", "",
             "Seconds of a program's loops (affine/), the median of interleaved runs: as they are, with OpenMP, parallelized (`-fregrain-parallelize`), and the CUDA",
             f"version by hand, all on the processor. `-O3 -march=native{' ' + options.flags if options.flags else ''}`, {', '.join(sorted(FAST))} with `-ffast-math`.",
             f"Machine: {machine()}. Written by `rodinia/bench.py affine`.", "",
             "| program | regions | sequential | OpenMP | parallelized | CUDA | against sequential | against OpenMP |",
             "|---|--:|--:|--:|--:|--:|--:|--:|"]
    failed, factors = [], [[], []]
    for program in options.programs.split(",") if options.programs else PROGRAMS:
        with tempfile.TemporaryDirectory() as folder:
            made, regions = build(program, options, clang, folder)
            runs = {side: [] for side in SIDES}
            for _ in range(options.rounds):
                for side, command in made.items():
                    runs[side].append(seconds(command, [str(options.size)] if options.size else []))
            times = {side: None if not of or None in of else statistics.median(of) for side, of in runs.items()}
        if None in times.values():
            failed.append(program)
        shown = [f"{times[side]:.3f}" if times[side] is not None else "failed" for side in SIDES]
        against = []
        for slot, side in zip(factors, SIDES):
            known = times[side] and times["parallelized"]
            against.append(f"{times[side] / times['parallelized']:.2f}" if known else "")
            if known:
                slot.append(times[side] / times["parallelized"])
        lines.append(f"| {program} | {regions} | {' | '.join(shown)} | {' | '.join(against[:2])} |")
        print(lines[-1], file=sys.stderr)
    if all(factors):
        lines.append(f"| geometric mean | | | | | | {geomean(factors[0]):.2f} | {geomean(factors[1]):.2f} |")
    return [*lines, "", f"Load average at the end: {os.getloadavg()[0]:.1f}, of which this benchmark is at most {os.cpu_count()}."], failed


# What a number of rounds that no constant says is taken for.
ROUNDS = 1000


def counted(formula):
    """The value of a count of the statistics, with ROUNDS for each name."""
    known = {"__builtins__": {}, "ceil": math.ceil, "floor": math.floor, "min": min, "max": max}
    return eval(re.sub(r"[A-Za-z_][\w.]*\b(?!\()", str(ROUNDS), formula), known)


def sectors(said):
    """By kernel and shape of the block: sectors of 32 bytes for 32 threads' accesses of device memory, in the mean, from what the pass says."""
    found = {}
    for part in re.split(r"statistics of ", said)[1:]:
        kernel = part.split()[0]
        block = re.search(r"^ +block: (.*)$", part, re.M)[1]
        of, count = 0.0, 0.0
        for times, each in re.findall(r"^ +global \w+, [^:]*: (\S.*?) of \d+ bytes, ([\d.]+) sectors", part, re.M):
            try:
                times = counted(times)
            except (SyntaxError, NameError):
                continue
            of, count = of + times * float(each), count + times
        if count:
            found[kernel, "dim" not in block] = of / count
    return found


def kernels(program, side, options, folder):
    """The kernels of one side at their original grain: name, registers, bytes of spills and of shared memory, sectors of an access."""
    driver = Path(options.driver).resolve()
    stages = Path(folder) / f"{program}-{side}"
    source = {"CUDA": f"{program}.cu", MAPPING: f"ppcg/{program}.cu"}.get(side, f"{program}.c")
    further = ["-fregrain-alternatives=none", *(["-fregrain-parallelize"] if side == "parallelized" else [])]
    flags = ["-O3", "-w", *(["-ffast-math"] if program in FAST else []), *options.flags.split(), *further]
    command = [str(driver), f"--offload-arch={options.arch}", *flags, "-fregrain-resource-usage", f"-fregrain-dump-ir={stages}", "-c",
               str(FOLDER / source), "-o", f"{folder}/{program}.o"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        print(f"{program}: {side}: {done.stderr}", file=sys.stderr)
        return None
    counts = {}
    for stage in stages.glob("*-parallel.mlir"):
        shown = subprocess.run([str(driver.with_name("regrain-opt")), "--pass-pipeline=builtin.module(regrain-print-statistics)", str(stage), "-o",
                                "/dev/null"], capture_output=True, text=True, check=False)
        counts.update(sectors(shown.stderr))
    rows = {}
    for arch, registers, _, spilled, _, shared, _, _, kernel in re.findall(r"^(\S+)" + r" +(\d+)" * 7 + r" +(\S+)$", done.stderr, re.M):
        # Of a program of C, what checks it is compiled as well.
        if arch == options.arch and (side != "parallelized" or re.search("run_(region|group)", kernel)):
            name = mangled[2][:int(mangled[1])] if (mangled := re.match(r"_ZL?(\d+)(.*)", kernel)) else kernel
            name = re.sub(r"^run_(region|group)(\d+)_[0-9a-f]+_kernel(\d+(?:_rows|_constant|_staged)?)$", r"\1 \2, kernel \3", name)
            rows[name] = (registers, spilled, shared, counts.get((kernel, True), counts.get((kernel, False))))
    return rows


def resources(options):
    """The lines of results/affine-ARCH.md, and the programs that failed."""
    lines = [f"# Loops of C as kernels for {options.arch}", "",
             "What the assembler says of the kernels of each program (affine/), as `-fregrain-parallelize` makes them of C and by hand, at their original grain: registers,",
             "bytes that are spilled and of shared memory; and, by the statistics of the compiler, the sectors of 32 bytes that an access of device memory takes for 32",
             f"threads, in the mean of the accesses that are counted, loops of unknown length taken for {ROUNDS} rounds (32 doubles beside one another: 8).",
             "Shared memory whose size is chosen when the program runs, as by kernels that end in `_staged`, is not counted.",
             f"`-O3{' ' + options.flags if options.flags else ''}`, {', '.join(sorted(FAST))} with `-ffast-math`. Written by `rodinia/bench.py affine --arch {options.arch}`.", "",
             "| program | side | kernel | registers | spilled | shared | sectors |", "|---|---|---|--:|--:|--:|--:|"]
    failed, worst = [], {}
    for program in options.programs.split(",") if options.programs else PROGRAMS:
        mapped = [MAPPING] if (FOLDER / "ppcg" / f"{program}.cu").exists() else []
        for side in ["parallelized", "CUDA", *mapped]:
            with tempfile.TemporaryDirectory() as folder:
                rows = kernels(program, side, options, folder)
            if rows is None:
                failed.append(program)
            for name, (registers, spilled, shared, each) in sorted((rows or {}).items()):
                shown = f"{each:.1f}" if each is not None else ""
                lines.append(f"| {program} | {side} | {name} | {registers} | {spilled} | {shared} | {shown} |")
                print(lines[-1], file=sys.stderr)
                # Where rows of threads are an alternative, they are what large sizes run.
                if mapped and each is not None and f"{name.removesuffix('_constant')}_rows" not in rows:
                    worst[program, side] = max(each, worst.get((program, side), 0))
    return [*lines, *against_ppcg(worst)], failed


def against_ppcg(worst):
    """The lines that compare the kernels with the mapping that a paper publishes, by the kernel of each side whose accesses take most sectors."""
    if not worst:
        return []
    lines = ["", "PPCG maps the outermost loops that may run in parallel to blocks and threads alike (paper on superposition, figures 2 and 5; its kernels are written",
             "anew in affine/ppcg). How many times the sectors of neighbours' accesses each takes (8 for doubles), by the kernel with most of those for large sizes; beside it what",
             "the paper measured for the loads of a warp, in transactions of 128 bytes: PPCG on a Tesla M2050 and a K80, and its own. Of those 32 are the most, where a",
             "warp's floats take 1 at best; of sectors of 32 bytes 4 times as many as at best are the most for doubles.", "",
             "| program | parallelized | CUDA | PPCG's mapping | published: PPCG | published: own |", "|---|--:|--:|--:|--:|--:|"]
    for program in sorted({program for program, _ in worst}):
        times = [f"{worst[program, side] / 8:.1f}" if (program, side) in worst else "" for side in ("parallelized", "CUDA", MAPPING)]
        lines.append(f"| {program} | {' | '.join(times)} | {' | '.join(PUBLISHED.get(program, ('', '')))} |")
    return [*lines, "",
            "Published times against sequential code (its table 1, the two chips): jacobi2d_alt 22.22 and 1.77 by PPCG, 55.02 and 5.77 by the paper; doitgen .60 and .29,",
            "124.12 and 76.08; gemver 73.26 and 147.34, 103.79 and 177.08. Occupancy of gemver's third kernel (section 6.3.2): 14.3 % and 20.0 % by PPCG, 65.3 % and 96.4 %."]


# Code as programs have it beside a loop that runs in parallel: @ is a number.
REGION = """
void axpy(int n, double a, const double *x, double *y) {
  for (int i = 0; i < n; i++)
    y[i] += a * x[i];
}
"""
ORDINARY = """
struct entry@ {
  struct entry@ *next;
  unsigned hash;
  int count;
  char name[32];
};

struct table@ {
  struct entry@ *buckets[64];
  int size;
};

static unsigned hash@(const char *text) {
  unsigned hash = 2166136261u;
  for (; *text; text++)
    hash = (hash ^ (unsigned char)*text) * 16777619u;
  return hash;
}

struct entry@ *find@(struct table@ *table, const char *name) {
  unsigned hash = hash@(name);
  for (struct entry@ *entry = table->buckets[hash % 64]; entry; entry = entry->next)
    if (entry->hash == hash && strcmp(entry->name, name) == 0)
      return entry;
  return NULL;
}

int insert@(struct table@ *table, const char *name) {
  struct entry@ *entry = find@(table, name);
  if (entry)
    return ++entry->count;
  if (strlen(name) >= sizeof entry->name || !(entry = malloc(sizeof *entry)))
    return -1;
  strcpy(entry->name, name);
  entry->hash = hash@(name);
  entry->count = 1;
  entry->next = table->buckets[entry->hash % 64];
  table->buckets[entry->hash % 64] = entry;
  return table->size++, 1;
}

int words@(struct table@ *table, FILE *file) {
  char word[32];
  int length = 0, all = 0, letter;
  while ((letter = fgetc(file)) != EOF) {
    if (isalnum(letter) && length < 31) {
      word[length++] = (char)tolower(letter);
    } else if (length) {
      word[length] = 0;
      length = 0;
      all += insert@(table, word) > 0;
    }
  }
  return all;
}

static int compare@(const void *left, const void *right) {
  const struct entry@ *one = *(struct entry@ *const *)left, *other = *(struct entry@ *const *)right;
  return one->count != other->count ? other->count - one->count : strcmp(one->name, other->name);
}

void report@(struct table@ *table, FILE *file) {
  struct entry@ **sorted = malloc((size_t)table->size * sizeof *sorted);
  int number = 0;
  if (!sorted)
    return;
  for (int bucket = 0; bucket < 64; bucket++)
    for (struct entry@ *entry = table->buckets[bucket]; entry; entry = entry->next)
      sorted[number++] = entry;
  qsort(sorted, (size_t)number, sizeof *sorted, compare@);
  for (int at = 0; at < number && at < 10; at++)
    fprintf(file, "%8d %s\\n", sorted[at]->count, sorted[at]->name);
  free(sorted);
}

long evaluate@(const char **text) {
  long stack[16];
  int depth = 0;
  for (; **text && depth < 16; ++*text) {
    switch (**text) {
    case '+': depth--; stack[depth - 1] += stack[depth]; break;
    case '-': depth--; stack[depth - 1] -= stack[depth]; break;
    case '*': depth--; stack[depth - 1] *= stack[depth]; break;
    case ' ': break;
    default:
      if (!isdigit((unsigned char)**text))
        return -1;
      stack[depth++] = strtol(*text, (char **)text, 10);
      --*text;
    }
    if (depth < 1)
      return -1;
  }
  return stack[0];
}
"""
HEADERS = "#include <ctype.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n"


def run_times(command):
    """Seconds that a command takes, and those of its processors in user mode, with what it runs."""
    start = time.perf_counter()
    process = subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    said = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"failed: {command}\n{said}")
    return time.perf_counter() - start, usage.ru_utime


def compile_times(options, clang, machine, geomean):
    """The lines of results/compile-time-affine.md."""
    lines = ["# Compile time of loops of C in parallel", "",
             f"Seconds of `-O3 -c` by clang, and by regrain with `-fregrain-parallelize` for the processor: elapsed, and user time of all processes; median of {options.rounds} interleaved",
             "runs. The last files are one loop, alone and behind functions of no such kind.",
             f"Machine: {machine()}. Written by `rodinia/bench.py compile-time-affine`.", "",
             "| file | lines | regions | clang | user | regrain | user | ratio | user |", "|---|" + "--:|" * 8]
    ratios = [[], []]
    with tempfile.TemporaryDirectory() as folder:
        files = {f"{program}.c": FOLDER / f"{program}.c" for program in PROGRAMS}
        for name, copies in (("one loop", 0), ("some functions", 3), ("many functions", 6)):
            files[name] = Path(folder) / f"{name.replace(' ', '-')}.c"
            code = "".join(ORDINARY.replace("@", str(number)) for number in range(copies))
            files[name].write_text((HEADERS if copies else "") + code + REGION)
        for name, source in files.items():
            flags = [*(["-ffast-math"] if source.stem in FAST else []), "-O3", *options.flags.split(), "-c", source, "-o", f"{folder}/out.o"]
            ours = [Path(options.driver).resolve(), "--offload-arch=cpu", "-fregrain-parallelize"]
            said = subprocess.run([*ours, "-Rpass=regrain-parallelize", *flags], capture_output=True, text=True, check=False).stderr
            runs = [(run_times([clang, "-x", "c", *flags]), run_times([*ours, *flags])) for _ in range(options.rounds)]
            theirs, mine = ([statistics.median(of) for of in zip(*side)] for side in zip(*runs))
            found = [ours / clangs for ours, clangs in zip(mine, theirs)]
            for slot, ratio in zip(ratios, found):
                slot.append(ratio)
            cells = [f"{second:.3f}" for second in (*theirs, *mine)] + [f"{ratio:.1f}" for ratio in found]
            lines.append(f"| {name} | {len(source.read_text().splitlines())} | {said.count('loop runs in parallel')} | {' | '.join(cells)} |")
            print(lines[-1], file=sys.stderr)
    return [*lines, f"| geometric mean | | | | | | | {geomean(ratios[0]):.1f} | {geomean(ratios[1]):.1f} |"]
