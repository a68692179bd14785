"""Programs of idioms/ against the same kernels in OpenCL (opencl/), which POCL compiles for this processor.

Used by bench.py, which writes the table.
"""
import os
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import corpus

FOLDER = Path(__file__).resolve().parent / "opencl"
PROGRAMS = ["attention", "blackscholes", "histogram", "jacobi2d", "reduce_tree", "softmax"]
MISSING = ("POCL is needed, and OpenCL's headers and loader: "
           "apt-get install pocl-opencl-icd ocl-icd-opencl-dev opencl-headers")


def build(program, options, folder):
    """The OpenCL program with its OpenMP twin, whose object `corpus.build` left in `folder`."""
    built = f"{folder}/{program}_opencl"
    command = [str(Path(options.driver).resolve()), "-O3", "-march=native", "-fopenmp", *options.twin_flags.split(),
               str(FOLDER / f"{program}.cpp"), f"{folder}/{program}_omp.o", "-o", built, "-lOpenCL"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{MISSING}\n\n{' '.join(command)}\n{done.stderr}")
    return built


def device(built):
    """What OpenCL says of its platform and device."""
    done = subprocess.run([built], capture_output=True, text=True, check=False)
    if done.returncode == 3:
        sys.exit(f"{MISSING}\n\n{done.stderr}")
    found = re.search(r"opencl: (.*)", done.stdout)
    return found.group(1) if found else "unknown"


def table(options, figures, machine, geomean):
    """The lines of results/pocl.md, and the programs that failed."""
    programs, sizes = options.programs.split(","), corpus.rows("bench-sizes.txt")
    unknown = [program for program in programs if program not in PROGRAMS]
    if unknown:
        sys.exit(f"unknown programs: {' '.join(unknown)}")
    lines, failed, ratios = [], [], []
    with tempfile.TemporaryDirectory() as folder:
        # Kernels are compiled in the first run of each program, whose time does not count.
        os.environ.setdefault("POCL_CACHE_DIR", f"{folder}/pocl")
        both = {}
        for program in programs:
            ours = corpus.build(program, options, folder)
            both[program] = (ours, build(program, options, folder)) if ours else None
            print(f"built {program}", file=sys.stderr)
        kept = [pair for pair in both.values() if pair]
        name = device(kept[0][1]) if kept else "not run"
        runs = {program: [] for program in programs}
        for number in range(options.rounds):
            for program in [program for program in programs if both[program]]:
                found = [corpus.run([built, "--time", "--digest", *sizes[program]], figures) for built in both[program]]
                both[program] = both[program] if all(found) else None
                runs[program].append([times for times, _ in found] if all(found) else None)
            print(f"round {number + 1} of {options.rounds}", file=sys.stderr)
        for program in programs:
            start = f"| {program} | {' '.join(sizes[program])} "
            if not both[program]:
                failed.append(program)
                lines.append(start + "| failed | | | | | |")
                continue
            reference = statistics.median(run[0]["reference"] for run in runs[program])
            ours, theirs = (statistics.median(run[side]["kernel"] for run in runs[program]) for side in (0, 1))
            single = [run[1]["kernel"] / run[0]["kernel"] for run in runs[program]]
            ratios.append(theirs / ours)
            lines.append(start + f"| {reference:.1f} | {theirs:.1f} | {ours:.1f} | {theirs / ours:.2f} | {min(single):.2f} | {max(single):.2f} |")
    if ratios:
        slower = sum(ratio < 1 for ratio in ratios)
        lines.append(f"| geometric mean | {slower} of {len(ratios)} slower | | | | {geomean(ratios):.2f} | {min(ratios):.2f} | {max(ratios):.2f} |")
    return [*heading(options, machine, name), *lines], failed


def heading(options, machine, name):
    return ["# The CPU target against POCL", "",
            f"Milliseconds of the kernels of six programs of idioms/ and of the same kernels in OpenCL (`opencl/`), both checked against the OpenMP",
            f"twin in their process; median of {options.rounds} interleaved runs, and the lowest and the highest ratio of one run. Kernels:",
            f"`-O3 -march=native{' ' + options.flags if options.flags else ''}`; OpenCL: `-cl-std=CL1.2`, compiled before anything is timed.",
            f"OpenCL: {name}.", f"Machine: {machine}. Written by `rodinia/bench.py pocl`.", "",
            "| program | sizes | OpenMP | POCL | kernels | speed against POCL | lowest | highest |", "|---|---|--:|--:|--:|--:|--:|--:|"]
