"""Sequential loops in parallel by -fregrain-parallelize, against clang -O3 and OpenMP (affine/). Used by bench.py, which writes the table."""
import os
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

FOLDER = Path(__file__).resolve().parent / "affine"
PROGRAMS = sorted(path.stem for path in FOLDER.glob("*.c"))
# Functions that are computed otherwise on a device.
FAST = {"mriq", "mrifhd"}
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
             f"version by hand, all on the processor. `-O3 -march=native{' ' + options.flags if options.flags else ''}`, {' and '.join(sorted(FAST))} with `-ffast-math`.",
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
