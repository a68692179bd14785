"""Algorithms of Thrust and CUB on the CPU target against the standard library (thrust/). Used by bench.py, which writes the table."""
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

FOLDER = Path(__file__).resolve().parent / "thrust"
ALGORITHMS = ["reduce", "scan", "sort", "reduce_by_key", "select", "histogram"]
COUNTS = [1000000, 16000000]


def build(options, clang, folder):
    """The program; the standard library's side by clang itself, for the same processor."""
    driver, built = str(Path(options.driver).resolve()), f"{folder}/thrust"
    flags = ["-O3", "-march=native", "-std=c++17"]
    for command in ([str(clang), *flags, "-c", str(FOLDER / "algorithms_std.cpp"), "-o", f"{folder}/std.o"],
                    [driver, "--offload-arch=cpu", "-w", *flags, *options.flags.split(), str(FOLDER / "thrust.cu"), f"{folder}/std.o", "-o", built]):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"failed: {' '.join(command)}\n{done.stderr}")
    return built


def table(options, clang, run_program, machine, geomean):
    """The lines of results/thrust.md."""
    lines = ["# Thrust and CUB against the standard library", "",
             f"Milliseconds of one call on {' and '.join(f'{count:,}' for count in COUNTS)} numbers of 32 bits, temporary storage included: median of the calls of",
             f"{options.rounds} interleaved runs. `std::`: the standard library's algorithm (plain loops for reduce_by_key and histogram) on one core.",
             "CPU time: with one thread, by the clock of the process. First: the first call of the program.",
             f"`-O3 -march=native{' ' + options.flags if options.flags else ''}`. Machine: {machine()}. Written by `rodinia/bench.py thrust`.", "",
             "| algorithm | numbers | `std::` | CPU time of one thread | speed | wall time of all threads | speed | first |",
             "|---|--:|--:|--:|--:|--:|--:|--:|"]
    with tempfile.TemporaryDirectory() as folder:
        built = build(options, clang, folder)
        for count in COUNTS:
            command = [built, "--count", str(count), "--repeat", "3" if count > 4000000 else "9"]
            alone, all_threads = [], []
            for _ in range(options.rounds):
                alone.append(run_program([*command, "--cpu-clock"], {"REGRAIN_CPU_THREADS": "1"})[0])
                all_threads.append(run_program(command)[0])
            one, every = [], []
            for name in ALGORITHMS:
                median = lambda runs, key: statistics.median(run[key] for run in runs)
                reference, ours = median(alone, f"{name}_std"), median(alone, name)
                wall_reference, wall = median(all_threads, f"{name}_std"), median(all_threads, name)
                one.append(reference / ours)
                every.append(wall_reference / wall)
                lines.append(f"| {name} | {count} | {reference:.2f} | {ours:.2f} | {one[-1]:.2f} | {wall:.2f} | {every[-1]:.2f} "
                             f"| {median(all_threads, f'{name}_first'):.2f} |")
            storage = statistics.median(run["storage"] for run in all_threads)
            lines.append(f"| geometric mean | {count} | | | {geomean(one):.2f} | | {geomean(every):.2f} | |")
            lines.append(f"| temporary storage alone | {count} | | | | {storage:.4f} | | |")
    # Wall time says nothing where others use the processors as well.
    return [*lines, "", f"Load average at the end: {os.getloadavg()[0]:.1f}, of which this benchmark is at most {os.cpu_count()}."]
