"""Executables of several compilers side by side on an NVIDIA GPU: `bench.py device` and `bench.py programs`."""
import json
import os
import re
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

# What fills a large GPU.
SIZES = {
    "hotspot": ["--rows", "4096", "--cols", "4096", "--steps", "60"],
    "lud": ["--size", "4096"],
    "pathfinder": ["--rows", "201", "--cols", "1000000"],
    "nw": ["--size", "8192"],
    "bfs": ["--nodes", "4194304"],
    "backprop": ["--inputs", "1048560"],
    "srad": ["--rows", "4096", "--cols", "4096", "--steps", "10"],
}
# Lines of a program's text that say how long something took.
OF_TIMES = re.compile(r"time|sec|\b[munµ]s\b|/s\b|flop|bandwidth|throughput|speed|rate|elapsed|clock|address|0x[0-9a-f]{6,}", re.IGNORECASE)
# The driver loads all code when it starts: no launch is to wait for its kernel's.
EAGER = {"CUDA_MODULE_LOADING": "EAGER"}


def table(options, run_program, machine, geomean):
    """`NAME=FOLDER ...`: the programs of this folder, built elsewhere, one folder for each compiler; the first is the baseline."""
    sides = dict(side.split("=", 1) for side in options.sides)
    names = list(sides)
    lines = ["# On the device", "", f"Kernel milliseconds, median of {options.rounds} interleaved runs; results compared by digest.",
             f"Machine: {machine()}. Written by `rodinia/bench.py device`.", "",
             "| program | " + " | ".join(names) + " | " + " | ".join(f"{n} against {names[0]}" for n in names[1:]) + " | same bits |",
             "|---|" + "--:|" * (2 * len(names) - 1) + "---|"]
    gains = {name: [] for name in names[1:]}
    for program, size in SIZES.items():
        runs = {name: [] for name in names}
        for _ in range(options.rounds):
            for name in names:
                command = [f"{sides[name]}/{program}", "--time", "--digest", "--no-check", *size]
                runs[name].append(run_program(command, EAGER))
        times = {name: statistics.median(run[0]["kernel"] for run in runs[name]) for name in names}
        for name in names[1:]:
            gains[name].append(times[names[0]] / times[name])
        digests = {name: {run[1] for run in runs[name]} for name in names}
        other = [name for name in names if digests[name] != digests[names[0]]]
        cells = [f"{times[n]:.3f}" for n in names] + [f"{times[names[0]] / times[n]:.2f}x" for n in names[1:]]
        lines.append(f"| {program} | " + " | ".join(cells) + f" | {'all but ' + ', '.join(other) if other else 'yes'} |")
        print(lines[-1], file=sys.stderr)
    lines.append("| geometric mean |" + " |" * len(names) + "".join(f" {geomean(gains[n]):.2f}x |" for n in names[1:]) + " |")
    return lines


def kernel_times(cupti, folder):
    """Builds the library that notes the times of kernels; `cupti` is the folder of CUPTI's include and lib64, or none to look for it."""
    places = [cupti] if cupti else ["/usr/local/cuda/extras/CUPTI", "/usr/local/cuda", "/usr/local/cuda/targets/x86_64-linux"]
    root = next((Path(p) for p in places if (Path(p) / "include/cupti.h").exists()), None)
    if root is None:
        sys.exit("no CUPTI found: name its folder by --cupti")
    library = next(root / name for name in ["lib64", "lib"] if list((root / name).glob("libcupti.so*")))
    made = f"{folder}/kernel_times.so"
    subprocess.run(["gcc", "-O2", "-shared", "-fPIC", str(Path(__file__).with_name("kernel_times.c")), f"-I{root}/include",
                    "-I/usr/local/cuda/include", f"-L{library}", "-lcupti", f"-Wl,-rpath,{library}", "-o", made], check=True)
    return made


def run_once(program, arguments, where, environment, seconds):
    """Exit status, text, seconds, and of each kernel: nanoseconds, the least of a launch, launches, registers, bytes of shared memory."""
    times = Path(environment["KERNEL_TIMES"])
    times.unlink(missing_ok=True)
    start = time.perf_counter()
    try:
        done = subprocess.run([str(program), *arguments], cwd=where, capture_output=True, text=True, errors="replace", check=False,
                              timeout=seconds, env={**os.environ, **environment})
        status, text = done.returncode, done.stdout + done.stderr
    except subprocess.TimeoutExpired:
        status, text = 124, ""
    took, kernels = time.perf_counter() - start, {}
    for line in times.read_text().splitlines() if times.exists() else []:
        total, least, launches, registers, shared, name = line.split(" ", 5)
        kernels[name] = [int(total), int(least), int(launches), int(registers), int(shared)]
    return {"status": status, "text": text[-20000:], "seconds": took, "kernels": kernels}


def said(run):
    return [line for line in run["text"].splitlines() if not OF_TIMES.search(line)]


def distinct(programs):
    """Those of some executables that are there and differ, and by name of the others the one that each is a copy of."""
    kept, alike = {}, {}
    for program in filter(Path.exists, programs):
        content = program.read_bytes()
        if content in kept:
            alike[program.name] = kept[content].name
        else:
            kept[content] = program
    return list(kept.values()), alike


def measure_programs(options):
    """Runs bin/NAME/SIDE of a folder with the arguments of its args.txt; a row of runs for each program, written as they come."""
    folder, found = Path(options.folder).resolve(), {}
    deadline = time.monotonic() + options.seconds
    with tempfile.TemporaryDirectory() as scratch:
        environment = {**EAGER, "KERNEL_TIMES": f"{scratch}/times", "CUDA_INJECTION64_PATH": kernel_times(options.cupti, scratch)}
        for line in (folder / "args.txt").read_text().splitlines():
            name, arguments = (line.split("\t") + [""])[:2]
            sides, alike = distinct([folder / "bin" / name / side for side in options.sides.split(",")])
            runs = found.setdefault(name, {side.name: [] for side in sides})
            for _ in range(options.rounds):
                for side in sides:
                    # One that takes long, or does not end, is not run again, and neither is what is compared with it.
                    if time.monotonic() > deadline or any(run["seconds"] > options.limit / 2 for ran in runs.values() for run in ran[-1:]):
                        break
                    runs[side.name].append(run_once(side, shlex.split(arguments), folder, environment, options.limit))
            runs.update({copy: runs[side] for copy, side in alike.items()})
            Path(options.out).write_text(json.dumps(found))
    return found


def of_all_kernels(runs):
    """Milliseconds of all kernels of a program, the median of its runs."""
    return statistics.median(sum(kernel[0] for kernel in run["kernels"].values()) for run in runs) / 1e6


def programs(options, machine, geomean):
    """The table of `measure_programs`."""
    found = json.loads(Path(options.out).read_text()) if options.show else measure_programs(options)
    names = options.sides.split(",")
    base = names[0]
    lines = ["# Programs of others on the device", "",
             f"Milliseconds of all kernels by CUPTI, median of up to {options.rounds} interleaved runs, and the speed against {base}. Text: whether what a",
             f"program says, but for lines about time, and its exit status are {base}'s.",
             f"Machine: {options.machine or machine()}. Written by `rodinia/bench.py programs`.", "",
             f"| program | {base} | " + " | ".join(names[1:]) + " | text |", "|---|" + "--:|" * len(names) + "---|"]
    gains = {name: [] for name in names[1:]}
    for program, runs in found.items():
        runs = {name: runs[name] for name in names if runs.get(name)}
        if base not in runs or not of_all_kernels(runs[base]):
            lines.append(f"| {program} | - |" + " |" * len(names))
            continue
        times = {name: of_all_kernels(side) for name, side in runs.items()}
        wanted = [(run["status"], said(run)) for run in runs[base]]
        other = [name for name in names[1:] if name in runs and any((run["status"], said(run)) not in wanted for run in runs[name])]
        cells = [f"{times[base]:.3f}"]
        for name in names[1:]:
            if times.get(name) and runs[name][0]["status"] == runs[base][0]["status"]:
                gains[name].append(times[base] / times[name])
                cells.append(f"{times[name]:.3f} ({gains[name][-1]:.2f}x)")
            else:
                cells.append("-" if name not in runs else f"status {runs[name][0]['status']}")
        lines.append(f"| {program} | " + " | ".join(cells) + f" | {'other: ' + ', '.join(other) if other else 'same'} |")
    means = [f"{geomean(gains[name]):.2f}x of {len(gains[name])}" if gains[name] else "-" for name in names[1:]]
    lines.append("| geometric mean | | " + " | ".join(means) + " | |")
    return lines
