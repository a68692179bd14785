"""The programs of idioms/: their split into two halves and their speed on the CPU against their OpenMP twins.

Used by bench.py, which writes the table.
"""
import os
import random
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import limits

FOLDER = Path(__file__).resolve().parent / "idioms"
HALVES = {"tuning": "for tuning", "measured": "measured only"}


def rows(name):
    """A file of lines `program words...`, as words by program."""
    return {words[0]: words[1:] for words in map(str.split, (FOLDER / name).read_text().splitlines())}


# Drawn to be measured only; what became of their code was looked into afterwards, to find why they were slow.
LOOKED_INTO = {"bounds_atomic", "dot_shuffle", "wave25d"}


def split(seed=11):
    """The half of each program, drawn by chance, but for those that were looked into: what halves.txt holds."""
    names = sorted(path.stem for path in FOLDER.glob("*.cu"))
    measured = set(random.Random(seed).sample(names, len(names) // 2)) - LOOKED_INTO
    return [f"{name} {'measured' if name in measured else 'tuning'}" for name in names]


def chosen(options):
    """The programs that are asked for, with their half."""
    halves = {name: words[0] for name, words in rows("halves.txt").items()}
    names = options.programs.split(",") if options.programs else list(halves)
    unknown = [name for name in names if name not in halves]
    if unknown:
        sys.exit(f"unknown programs: {' '.join(unknown)}")
    return {name: halves[name] for name in names if options.half in ("all", halves[name])}


def build(program, options, folder):
    """The executable, or None; the twin has an object of its own because its flags may differ."""
    common = [str(Path(options.driver).resolve()), "-O3", "-march=native", "-fopenmp"]
    twin, built = f"{folder}/{program}_omp.o", f"{folder}/{program}"
    for command in [[*common, *options.twin_flags.split(), "-c", str(FOLDER / f"{program}_omp.cpp"), "-o", twin],
                    [*common, "--offload-arch=cpu", *options.flags.split(), str(FOLDER / f"{program}.cu"), twin, "-o", built]]:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            print(f"failed: {' '.join(command)}\n{done.stdout}{done.stderr}", file=sys.stderr)
            return None
    return built


def run(command, figures):
    """Times and digest of one run, or None if it fails."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=dict(os.environ))
    if done.returncode != 0:
        print(f"failed: {' '.join(command)}\n{done.stdout}{done.stderr}", file=sys.stderr)
        return None
    return figures(done.stdout)


def measure(options, programs, figures):
    """All runs of each program; every round runs all of them. None where one failed."""
    sizes = rows("bench-sizes.txt")
    with tempfile.TemporaryDirectory() as folder:
        built = {}
        for program in programs:
            built[program] = build(program, options, folder)
            print(f"built {program}", file=sys.stderr)
        runs = {program: [] if built[program] else None for program in programs}
        for number in range(options.rounds):
            for program in programs:
                if runs[program] is None:
                    continue
                found = run([built[program], "--time", "--digest", *sizes[program]], figures)
                runs[program] = None if found is None else [*runs[program], found]
            print(f"round {number + 1} of {options.rounds}", file=sys.stderr)
    return runs


def table(options, figures, machine, geomean, limit):
    """The lines of results/idioms.md, and the programs that failed."""
    programs, sizes = chosen(options), rows("bench-sizes.txt")
    works = {program: limits.idiom_work(program, sizes[program]) for program in programs}
    limit.survey(works.values())
    runs = measure(options, programs, figures)
    limit.survey(works.values())
    flags = f" {options.flags}" if options.flags else ""
    lines = ["# GPU idioms on the CPU against OpenMP", "",
             f"Kernel milliseconds against the OpenMP twin's in the same process; median of {options.rounds} interleaved runs, and the lowest and the",
             f"highest ratio of one run. Kernels: `-O3 -march=native{flags}`; twins: `-O3 -march=native {options.twin_flags}`.",
             "Least: what compulsory traffic and operations take on this machine at its measured best (`limits.py`), whichever takes longer.",
             "Half: drawn by chance (`idioms/halves.txt`); no pass was tuned with those that are measured only.",
             f"Machine: {machine}. Written by `rodinia/bench.py idioms`.", "",
             "| program | half | sizes | OpenMP | kernels | speed against OpenMP | lowest | highest | least | bound by | least by kernels |",
             "|---|---|---|--:|--:|--:|--:|--:|--:|---|--:|"]
    ratios, shares, failed = {"tuning": [], "measured": []}, {"tuning": [], "measured": []}, []
    for program, half in programs.items():
        start = f"| {program} | {HALVES[half]} | {' '.join(sizes[program])} "
        if runs[program] is None or len({digest for _, digest in runs[program]}) != 1:
            failed.append(program)
            lines.append(start + ("| failed" if runs[program] is None else "| runs differ") + " | |" + " |" * 6)
            continue
        reference, ours = (statistics.median(times[name] for times, _ in runs[program]) for name in ("reference", "kernel"))
        single = [times["reference"] / times["kernel"] for times, _ in runs[program]]
        ratios[half].append(reference / ours)
        least, bound = limit.least(works[program])
        shares[half].append(least / ours)
        lines.append(start + f"| {reference:.1f} | {ours:.1f} | {reference / ours:.2f} | {min(single):.2f} | {max(single):.2f} "
                     f"| {least:.1f} | {bound} | {least / ours:.2f} |")
    both = lambda halves: [value for half in halves.values() for value in half]
    for name, values, share in [*((HALVES[half], ratios[half], shares[half]) for half in HALVES), ("all", both(ratios), both(shares))]:
        if values:
            slower = sum(value < 1 for value in values)
            lines.append(f"| geometric mean, {name} | {slower} of {len(values)} slower | | | | {geomean(values):.2f} "
                         f"| {min(values):.2f} | {max(values):.2f} | | | {geomean(share):.2f} |")
    return lines, failed
