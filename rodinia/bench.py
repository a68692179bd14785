#!/usr/bin/env python3
"""Measures the programs of this folder and writes the tables of results/.

Each figure is the median of interleaved runs, so that a slow moment of the machine meets all sides alike. The tables
name the machine that they come from.
"""
import argparse
import json
import os
import platform
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from math import exp, log
from pathlib import Path

import corpus
import device
import grain
import library
import limits
import loops
import pocl
import tiles
import tune
import twins

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
PROGRAMS = ["hotspot", "lud", "pathfinder", "nw", "bfs", "backprop", "srad"]
REGRAIN = ROOT / "target/release/regrain"
CLANG = Path("/usr/lib/llvm-22/bin/clang++")
# Sizes at which the work outweighs the launches.
SIZES = {
    "hotspot": ["--rows", "1024", "--cols", "1024", "--steps", "60"],
    "lud": ["--size", "1024"],
    "pathfinder": ["--rows", "401", "--cols", "200000"],
    "nw": ["--size", "4096"],
    "bfs": ["--nodes", "1048576"],
    "backprop": ["--inputs", "262144"],
    "srad": ["--rows", "1024", "--cols", "1024", "--steps", "10"],
}


def machine():
    """One line that says what the figures come from."""
    model = re.search(r"model name\s*:\s*(.*)", Path("/proc/cpuinfo").read_text())
    gpu = ""
    if shutil.which("nvidia-smi"):
        query = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
        gpu = ", " + subprocess.run(query, capture_output=True, text=True, check=False).stdout.strip()
    # Of names such as "AMD EPYC" there are several generations; clang's name of it is what `-march=native` means.
    kind = None
    if CLANG.exists():
        asked = subprocess.run([str(CLANG), "-march=native", "-###", "-x", "c", "-c", "/dev/null"], capture_output=True, text=True, check=False)
        kind = re.search(r'"-target-cpu" "([^"]+)"', asked.stderr)
    name = model.group(1) if model else platform.processor()
    return f"{name}{f' ({kind.group(1)})' if kind else ''}, {os.cpu_count()} processors{gpu}"


def geomean(values):
    return exp(sum(map(log, values)) / len(values))


def toolkit():
    candidates = [os.environ.get("CUDA_PATH"), ROOT / ".toolchain/cuda", "/usr/local/cuda"]
    return next(str(p) for p in candidates if p and (Path(p) / "include/cuda_runtime.h").exists())


def seconds(command):
    start = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"failed: {' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return time.perf_counter() - start


def interleaved(commands, rounds):
    """Median seconds of each command; each round runs all of them."""
    times = [[] for _ in commands]
    for _ in range(rounds):
        for slot, command in zip(times, commands):
            slot.append(seconds(command))
    return [statistics.median(slot) for slot in times]


def write(name, lines):
    path = HERE / "results" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("\n".join(lines) + "\n")
    print("\n".join(lines))
    print(f"written to {path.relative_to(ROOT)}", file=sys.stderr)


def compile_time(options):
    if not shutil.which("fatbinary") and not (Path(toolkit()) / "bin/fatbinary").exists():
        sys.exit("clang++ needs NVIDIA's fatbinary, which some toolkits lack: put one on PATH")
    lines = ["# Compile time", "", f"`--offload-arch={options.arch} -O3 -c`, median of {options.rounds} interleaved runs, seconds.",
             "In brackets by clang's. Without alternatives nothing is taken from the cache. Cold: with an empty cache; warm: again.",
             f"Machine: {machine()}. Written by `rodinia/bench.py compile-time`.", "",
             "| program | clang++ | original grain | usual search, cold | warm | 16 versions, cold | warm |", "|---|" + "--:|" * 6]
    ratios = {}
    with tempfile.TemporaryDirectory() as folder:
        for program in PROGRAMS:
            source = HERE / program / f"{program}.cu"
            common = [f"--offload-arch={options.arch}", "-O3", "-c", str(source), "-o", f"{folder}/{program}.o"]
            clang = [str(CLANG), f"--cuda-path={toolkit()}", "-Wno-unknown-cuda-version", *common]
            times = tune.compile_times(program, options, clang, [str(REGRAIN), *common], seconds)
            cells = []
            for name, time_taken in list(times.items())[1:]:
                ratios.setdefault(name, []).append(time_taken / times["clang"])
                cells.append(f"{time_taken:.2f} ({ratios[name][-1]:.2f})")
            lines.append(f"| {program} | {times['clang']:.2f} | " + " | ".join(cells) + " |")
            print(lines[-1], file=sys.stderr)
    lines.append("| geometric mean | | " + " | ".join(f"{geomean(values):.2f}" for values in ratios.values()) + " |")
    write("compile-time.md", lines)


def user_seconds(command):
    """Processor time of a command and its children in user mode; -1 where it fails."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               env={**os.environ, "REGRAIN_CACHE_DIR": ""})
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_utime if process.returncode == 0 else -1.0


def compile_time_cpu(options):
    """The CPU target against clang's own host and device side, on the programs of this folder and further sources."""
    sources = [HERE / p / f"{p}.cu" for p in PROGRAMS] + sorted((HERE / "idioms").glob("*.cu"))
    sources += [Path(source) for source in options.sources]
    ratios = {}
    with tempfile.TemporaryDirectory() as folder:
        for source in sources:
            common = ["-w", "-O3", f"--cuda-path={toolkit()}", *options.flags.split(), str(source), "-o", f"{folder}/out"]
            clang = [str(CLANG), "-x", "cuda", "-Wno-unknown-cuda-version", "--offload-arch=sm_70", *common]
            commands = [[*clang, "--cuda-host-only", "-c"], [*clang, "--cuda-device-only", "-S"],
                        [str(REGRAIN), "--offload-arch=cpu", "-c", *common]]
            runs = [[user_seconds(command) for command in commands] for _ in range(options.rounds)]
            host, device, ours = (statistics.median(side) for side in zip(*runs))
            if min(host, device, ours) < 0:
                print(f"{source}: does not compile", file=sys.stderr)
                continue
            ratios[source.stem] = (ours / (host + device), host + device, ours)
    worst = sorted(ratios.items(), key=lambda item: -item[1][0])[:5]
    lines = ["# Compile time of the CPU target", "",
             f"User seconds of `--offload-arch=cpu -O3 -c` without the cache against clang's own host and device side (sm_70, -O3, without "
             f"ptxas); median of {options.rounds} interleaved runs, {len(ratios)} sources.",
             f"Machine: {machine()}. Written by `rodinia/bench.py compile-time-cpu`.", "",
             f"Median {statistics.median(ratio for ratio, _, _ in ratios.values()):.2f} of clang's; the five slowest:", "",
             "| source | clang++ | regrain | ratio |", "|---|" + "--:|" * 3]
    lines += [f"| {name} | {clang:.2f} | {ours:.2f} | {ratio:.2f} |" for name, (ratio, clang, ours) in worst]
    write("compile-time-cpu.md", lines)


def compile_time_affine(options):
    write(f"{options.name}.md", loops.compile_times(options, CLANG, machine, geomean))


def figures(output):
    """Milliseconds by name, and the digest, from a program's `--time --digest`."""
    found = {name: float(value) for name, value in re.findall(r"(\w+)\s+([\d.]+)\s*ms", output)}
    digest = re.search(r"digest\s+(\w+)", output)
    return found, digest.group(1) if digest else None


def run_program(command, env=None):
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **(env or {})})
    if done.returncode != 0:
        sys.exit(f"failed: {' '.join(command)}\n{done.stdout}{done.stderr}")
    return figures(done.stdout)


def machine_limits(folder):
    """What this machine can do at most, measured."""
    probe = f"{folder}/probe"
    seconds([str(CLANG), "-O3", "-march=native", "-ffp-contract=fast", "-fopenmp", str(HERE / "probe.cpp"), "-o", probe])
    return limits.Machine(probe)


def cpu(options):
    lines = ["# The CPU target against OpenMP", "",
             f"Kernel milliseconds (all launches of a program) against the OpenMP reference in the same process, compiled with",
             f"`-O3 -march=native`; median of {options.rounds} runs, of coroutines one. Least: what every launch's bytes and operations take on this",
             f"machine at its measured best (`limits.py`). Machine: {machine()}. Written by `rodinia/bench.py cpu`.", "",
             "| program | sizes | OpenMP | split | speed against OpenMP | least | bound by | least by split | coroutine | same bits |",
             "|---|---|--:|--:|--:|--:|---|--:|--:|---|"]
    ratios, shares = [], []
    with tempfile.TemporaryDirectory() as folder:
        limit = machine_limits(folder)
        works = {program: limits.work(program, SIZES[program]) for program in PROGRAMS}
        limit.survey(works.values())
        for program in PROGRAMS:
            built = f"{folder}/{program}"
            sources = [str(HERE / program / f"{program}.cu"), str(HERE / program / f"{program}_omp.cpp")]
            # The reference gets the same processor as the kernels.
            seconds([str(REGRAIN), "--offload-arch=cpu", "-O3", "-march=native", "-fopenmp", *sources, "-o", built])
            command = [built, "--time", "--digest", *SIZES[program]]
            # Coroutines are the oracle, not a contender: once is enough.
            coroutine = [run_program([*command, "--no-check"], {"REGRAIN_CPU_MODE": "coroutine"})]
            split = [run_program(command) for _ in range(options.rounds)]
            median = lambda runs, name: statistics.median(run[0][name] for run in runs)
            reference, ours = median(split, "reference"), median(split, "kernel")
            same = len({run[1] for run in split + coroutine}) == 1
            least, bound = limit.least(works[program])
            ratios.append(reference / ours)
            shares.append(least / ours)
            lines.append(f"| {program} | {' '.join(SIZES[program])} | {reference:.1f} | {ours:.1f} | {reference / ours:.2f} "
                         f"| {least:.1f} | {bound} | {least / ours:.2f} | {median(coroutine, 'kernel'):.1f} | {'yes' if same else 'NO'} |")
    lines.append(f"| geometric mean | | | | {geomean(ratios):.2f} | | | {geomean(shares):.2f} | | |")
    write("cpu.md", lines)


# The kernels that take most of the time; those of one program work on equally many blocks.
MAIN = {
    "hotspot": ["advance_tile"],
    "lud": ["update_inner"],
    "pathfinder": ["advance_rows"],
    "nw": ["fill_upper_left", "fill_lower_right"],
    "bfs": ["expand_frontier"],
    "backprop": ["forward_layer", "adjust_weights"],
    "srad": ["find_coefficients", "diffuse"],
}
# Totals of blocks and threads.
GRAINS = [(1, 1), (2, 1), (3, 1), (4, 1), (8, 1), (1, 2), (1, 4), (2, 2), (4, 2)]
# A clock that counts the time of the process alone: other load on the machine does not matter.
CLOCK = """#define _GNU_SOURCE
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
int clock_gettime(clockid_t id, struct timespec *t) {
  return syscall(SYS_clock_gettime, id == CLOCK_MONOTONIC ? CLOCK_PROCESS_CPUTIME_ID : id, t);
}
"""


def total(factors):
    product = 1
    for factor in re.findall(r"\d+", factors or ""):
        product *= int(factor)
    return product


def predictions(program, folder):
    """Predicted time of each pair of totals, summed over the main kernels; a grain that is declined is the original."""
    report = Path(folder) / f"{program}.jsonl"
    lists = [",".join(map(str, sorted({g[i] for g in GRAINS}))) for i in (0, 1)]
    seconds([str(REGRAIN), "--offload-arch=cpu", "-O3", "-march=native", f"-fregrain-alternatives=blocks={lists[0]}:threads={lists[1]}",
             f"-fregrain-report={report}", "-c", str(HERE / program / f"{program}.cu"), "-o", f"{folder}/{program}.o"])
    found = {}
    for line in report.read_text().splitlines():
        row = json.loads(line)
        if row["prediction"] is None or not any(name in row["kernel"] for name in MAIN[program]):
            continue
        blocks, threads = re.fullmatch(r"(?:b([\dx]+))?(?:t([\dx]+))?", row["grain"].replace("original", "")).groups()
        times = found.setdefault(row["kernel"], {})
        # The launch with a constant shape of the block is the one that runs.
        if row["block"] is not None or (total(blocks), total(threads)) not in times:
            times[total(blocks), total(threads)] = row["prediction"]["time"]
    return {grain: sum(times.get(grain, times[1, 1]) for times in found.values()) for grain in GRAINS}


def ranks(values):
    """Ranks from 1; equal values share the mean of theirs."""
    ordered = sorted(values)
    return [(ordered.index(v) + 1 + len(ordered) - ordered[::-1].index(v)) / 2 for v in values]


def spearman(a, b):
    a, b = ranks(a), ranks(b)
    return statistics.correlation(a, b) if len(set(a)) > 1 and len(set(b)) > 1 else 0.0


def rank(options):
    margin = 0.25
    lines = ["# The cost model against measured times on the CPU", "",
             "Kernel time of each program with a grain forced on all its kernels (`-fregrain-coarsen-blocks=`, `-threads=`) by the",
             f"original's, in processor time of one OS thread, the least of {options.rounds} interleaved runs; in brackets what the model predicts.",
             f"rho: Spearman's. Regret: the time of the model's choice (the original, unless another is predicted {margin:.0%} better) by that of",
             f"the best grain. Machine: {machine()}. Written by `rodinia/bench.py rank`.", "",
             "| program | " + " | ".join(f"b{b} t{t}" for b, t in GRAINS) + " | rho | choice | regret | original's regret |",
             "|---|" + "--:|" * len(GRAINS) + "--:|---|--:|--:|"]
    scores, regrets, slower = [], [], 0
    with tempfile.TemporaryDirectory() as folder:
        clock = Path(folder) / "clock.so"
        clock.with_suffix(".c").write_text(CLOCK)
        seconds([str(CLANG.with_name("clang")), "-O2", "-shared", "-fPIC", str(clock.with_suffix(".c")), "-o", str(clock)])
        environment = {"LD_PRELOAD": str(clock), "REGRAIN_CPU_THREADS": "1"}
        for program in PROGRAMS:
            predicted = predictions(program, folder)
            sources = [str(HERE / program / f"{program}.cu"), str(HERE / program / f"{program}_omp.cpp")]
            for b, t in GRAINS:
                asked = [f"-fregrain-coarsen-blocks={b}"] * (b > 1) + [f"-fregrain-coarsen-threads={t}"] * (t > 1)
                seconds([str(REGRAIN), "--offload-arch=cpu", "-O3", "-march=native", "-fopenmp", *asked, *sources,
                         "-o", f"{folder}/{program}.{b}.{t}"])
            runs = {grain: [] for grain in GRAINS}
            for _ in range(options.rounds):
                for b, t in GRAINS:
                    command = [f"{folder}/{program}.{b}.{t}", "--time", "--digest", "--no-check", *SIZES[program]]
                    runs[b, t].append(run_program(command, environment))
            if len({run[1] for side in runs.values() for run in side}) != 1:
                sys.exit(f"{program}: results differ between grains")
            times = {grain: min(run[0]["kernel"] for run in side) for grain, side in runs.items()}
            best = min(GRAINS, key=lambda grain: predicted[grain])
            choice = best if predicted[best] < (1 - margin) * predicted[1, 1] else (1, 1)
            least = min(times.values())
            scores.append(spearman([predicted[g] for g in GRAINS], [times[g] for g in GRAINS]))
            regrets.append(times[choice] / least)
            slower += times[choice] > 1.02 * times[1, 1]
            cells = [f"{times[g] / times[1, 1]:.2f} ({predicted[g] / predicted[1, 1]:.2f})" for g in GRAINS]
            lines.append(f"| {program} | " + " | ".join(cells) + f" | {scores[-1]:.2f} | b{choice[0]} t{choice[1]} "
                         f"| {regrets[-1]:.2f} | {times[1, 1] / least:.2f} |")
            print(lines[-1], file=sys.stderr)
    lines += ["", f"Mean rho {statistics.mean(scores):.2f}, geometric mean of the regrets {geomean(regrets):.2f}; the choice is slower than the",
              f"original (by more than 2%) in {slower} of {len(PROGRAMS)} programs."]
    write("rank-cpu.md", lines)


def on_device(options):
    write("device.md", device.table(options, run_program, machine, geomean))


def others_on_device(options):
    write(f"{options.name}.md", device.programs(options, machine, geomean))


def tuning(options):
    write("tune-cpu.md", tune.table(options, HERE, REGRAIN, SIZES, figures, machine(), geomean))


def sizes_of(options):
    print(*(device.SIZES if options.device else SIZES)[options.program])


def grain_matrix(options):
    options.archs = options.archs.split(",")
    options.driver = Path(options.driver).resolve()
    programs = options.programs.split(",")
    found = grain.measure(options, programs)
    rows = grain.table(options, found, programs)
    counts = grain.summary(options, found, rows, programs)
    path = HERE / f"results/{options.name}.html"
    path.write_text(grain.page(options, rows, counts, machine()))
    write(f"{options.name}.md", grain.markdown(options, found, rows, programs, machine()))
    return any(row["cpu"] == "differs" for row in rows)


def hip_twins(options):
    lines, wrong = twins.table(options.archs.split(","), options.programs.split(","), Path(options.driver).resolve(),
                               options.device_libs, geomean)
    if options.check:
        print("\n".join(lines))
    else:
        write("twins.md", lines)
    return "\n".join(wrong) or None


def idioms(options):
    if options.split:
        print("\n".join(corpus.split()))
        return None
    with tempfile.TemporaryDirectory() as folder:
        lines, failed = corpus.table(options, figures, machine(), geomean, machine_limits(folder))
    write(f"{options.name}.md", lines)
    return f"failed: {' '.join(failed)}" if failed else None


def against_pocl(options):
    lines, failed = pocl.table(options, figures, machine(), geomean)
    write(f"{options.name}.md", lines)
    return f"failed: {' '.join(failed)}" if failed else None


def thrust(options):
    write(f"{options.name}.md", library.table(options, CLANG, run_program, machine, geomean))


def affine(options):
    lines, failed = loops.resources(options) if options.arch else loops.table(options, CLANG, machine, geomean)
    write(f"{options.name}{'-' + options.arch if options.arch else ''}.md", lines)
    return f"failed: {' '.join(failed)}" if failed else None


def tile_sizes(options):
    made = tiles.table(options, CLANG, machine())
    if made:
        (HERE / f"results/{options.name}.html").write_text(made[1])
        write(f"{options.name}.md", made[0])


def command_line():
    """The commands and what each takes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    commands = parser.add_subparsers(dest="command", required=True)

    def command(name, run, what, flags=None, table=None):
        """A command; one with flags (for whom) takes a driver and rounds too, one with a table another name for it."""
        made = commands.add_parser(name, help=what, description=what)
        made.set_defaults(run=run)
        if flags:
            made.add_argument("--rounds", type=int, default=argparse.SUPPRESS)
            made.add_argument("--driver", default=str(REGRAIN))
            made.add_argument("--flags", default="", help=f"more flags for {flags}")
        if table:
            made.add_argument("--name", default=table, help="of the files in results/")
        return made

    made = command("compile-time", compile_time, "regrain against clang++ with the same arguments (--offload-arch=sm_80 -O3 -c): the original grain, "
                   "the usual search, 16 versions of each kernel, with an empty and with a full cache")
    made.add_argument("--arch", default="sm_80")
    made = command("compile-time-cpu", compile_time_cpu, "the CPU target against clang's own host and device side: user time, the median and the slowest")
    made.add_argument("sources", nargs="*", help="further CUDA sources")
    made.add_argument("--flags", default="", help="for all sources, as in -I")
    command("compile-time-affine", compile_time_affine, "loops of C in parallel (affine/, and in files of ordinary length) against clang -O3: "
            "elapsed and user time", flags="both sides", table="compile-time-affine")
    command("tune", tuning, "the original grain against the model's choice and the choice by measured times, on the CPU")
    command("cpu", cpu, "the CPU target against the OpenMP references, what the machine can do at most, and coroutine mode")
    made = command("idioms", idioms, "the programs of idioms/ on the CPU against their OpenMP twins, and what the machine can do at most",
                   flags="the kernels", table="idioms")
    made.add_argument("--half", choices=["tuning", "measured", "all"], default="all")
    made.add_argument("--programs", default="", help="these alone, with commas")
    made.add_argument("--twin-flags", default="-fno-math-errno", help="more flags for the twins")
    made.add_argument("--split", action="store_true", help="prints what idioms/halves.txt must hold, runs nothing")
    made = command("pocl", against_pocl, "six programs of idioms/ on the CPU against the same in OpenCL by POCL (opencl/)",
                   flags="the kernels", table="pocl")
    made.add_argument("--programs", default=",".join(pocl.PROGRAMS), help="these alone, with commas")
    made.add_argument("--twin-flags", default="-fno-math-errno", help="more flags for the OpenMP twins")
    command("thrust", thrust, "algorithms of Thrust and CUB on the CPU against the standard library on one core (thrust/)",
            flags="the kernels", table="thrust")
    made = command("affine", affine, "loops of C in parallel (affine/) on the CPU against clang -O3, OpenMP and CUDA by hand; --arch=sm_80: their kernels",
                   flags="all sides", table="affine")
    made.add_argument("--programs", default="", help="these alone, with commas")
    made.add_argument("--arch", help="what the kernels take on this GPU, in place of times on the CPU")
    made.add_argument("--size", type=int, help="in place of the usual one")
    made = command("tiles", tile_sizes, "waves of tiles (affine/sor*.c, affine/waves) at each size of a tile, against what the model says",
                   table="tiles")
    made.add_argument("--calibration", required=True, help="of this machine, by regrain-tune calibrate")
    made.add_argument("--folder", help="where programs are kept, and taken from where they are there")
    made.add_argument("--rounds", type=int, default=argparse.SUPPRESS, help="0: only builds")
    made.add_argument("--driver", default=str(REGRAIN))
    made.add_argument("--date", default=time.strftime("%Y-%m-%d"))
    command("rank", rank, "how well the cost model ranks grains on the CPU, against measured times")
    made = command("device", on_device, "on a machine with an NVIDIA GPU: executables of several compilers side by side")
    made.add_argument("sides", nargs="+", metavar="NAME=FOLDER")
    made = command("programs", others_on_device, "likewise, programs of any kind: bin/NAME/COMPILER and args.txt of a folder; times of all kernels by CUPTI",
                   table="programs")
    made.add_argument("folder")
    made.add_argument("--sides", default="clang,nvcc,original,usual,coarse", help="with commas, the baseline first")
    made.add_argument("--rounds", type=int, default=argparse.SUPPRESS)
    made.add_argument("--limit", type=int, default=20, help="seconds of one run")
    made.add_argument("--seconds", type=int, default=500, help="for all; what is not measured by then is left out")
    made.add_argument("--cupti", help="the folder of CUPTI's include and lib64")
    made.add_argument("--out", default="programs.json", help="every run, as JSON")
    made.add_argument("--show", action="store_true", help="only make the table of what --out holds")
    made.add_argument("--machine", default="", help="where that was measured, for --show")
    made = command("grain", grain_matrix, "every program at 60 grains: same bits on the CPU, resources on GPUs (no GPU needed)", table="grain")
    made.add_argument("--archs", default="sm_80,sm_90,gfx90a,gfx1030")
    made.add_argument("--no-cpu", dest="cpu", action="store_false", help="GPUs alone")
    made.add_argument("--programs", default=",".join(PROGRAMS))
    made.add_argument("--driver", default=str(REGRAIN))
    made.add_argument("--jobs", type=int, default=os.cpu_count())
    made.add_argument("--limit", type=int, default=120, help="seconds of processor time for one compilation")
    made.add_argument("--minutes", type=float, default=600, help="nothing new is begun after so many")
    made = command("twins", hip_twins, "kernels for AMD's chips against twins ported to HIP by hand: resources and instructions (no GPU needed)")
    made.add_argument("--archs", default="gfx90a,gfx1030")
    made.add_argument("--driver", default=str(REGRAIN))
    made.add_argument("--programs", default=",".join(twins.BLOCKS))
    made.add_argument("--check", action="store_true", help="nothing is written")
    made.add_argument("--device-libs", default=twins.device_libraries(), help="folder of ocml.bc")
    made = command("sizes", sizes_of, "the sizes that a program is measured at")
    made.add_argument("--device", action="store_true", help="on a GPU")
    made.add_argument("program", choices=PROGRAMS)
    return parser


def main():
    options = command_line().parse_args()
    sys.exit(options.run(options))


if __name__ == "__main__":
    main()
