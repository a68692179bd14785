"""The measurements of the search for grains: what it costs to compile, and what the choice by measured times gains.

Used by bench.py, which writes the tables.
"""
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

# Sixteen versions of each kernel, the original among them.
SIXTEEN = "-fregrain-alternatives=blocks=1,2,4,8:threads=1,2,4,8"
TUNED = ["hotspot", "lud", "nw", "pathfinder", "srad"]


def checked(command, **environment):
    """Runs a command that must succeed; gives its standard output."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, env={**os.environ, **environment})
    if done.returncode != 0:
        sys.exit(f"failed: {' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def compile_times(program, options, clang, regrain, seconds):
    """Median seconds of one program: clang, the original grain, the usual search and 16 versions, cold and warm."""
    sides = {"clang": [], "original": [], "usual cold": [], "usual warm": [], "16 cold": [], "16 warm": []}
    for _ in range(options.rounds):
        with tempfile.TemporaryDirectory() as cache:
            def ours(name, flags, folder):
                os.environ["REGRAIN_CACHE_DIR"] = folder
                sides[name].append(seconds([*regrain, *flags]))

            sides["clang"].append(seconds(clang))
            ours("original", ["-fregrain-alternatives=none"], "")
            ours("usual cold", [], f"{cache}/usual")
            ours("usual warm", [], f"{cache}/usual")
            ours("16 cold", [SIXTEEN], f"{cache}/sixteen")
            ours("16 warm", [SIXTEEN], f"{cache}/sixteen")
    return {name: statistics.median(times) for name, times in sides.items()}


def chosen(report, decision):
    """The grains that a report says were chosen, by kernel."""
    found = {}
    for line in Path(report).read_text().splitlines():
        row = json.loads(line)
        if row["decision"] == decision:
            found.setdefault(row["kernel"], row["grain"])
    return [grain for grain in found.values()]


def build(regrain, sources, output, flags):
    checked([regrain, "--offload-arch=cpu", "-O3", "-march=native", "-fopenmp", *flags, *sources, "-o", output])
    return output


def loop(program, here, regrain, arguments, folder):
    """The whole loop for one program; gives the executables and what was chosen."""
    sources = [here / program / f"{program}.cu", here / program / f"{program}_omp.cpp"]
    path = lambda name: f"{folder}/{program}.{name}"
    database = path("tuning")
    original = build(regrain, sources, path("original"), ["-fregrain-alternatives=none"])
    model = build(regrain, sources, path("model"), [f"-fregrain-report={path('model.jsonl')}"])
    generate = build(regrain, sources, path("generate"), ["-fregrain-profile-generate"])
    tuner = Path(regrain).with_name("regrain-tune")
    checked([tuner, "run", "--db", database, "--samples", "7", "--max-runs", "40", "--", generate, "--no-check", *arguments])
    timed = build(regrain, sources, path("timed"), [f"-fregrain-profile-use={database}", f"-fregrain-report={path('timed.jsonl')}"])
    grains = {"model": chosen(path("model.jsonl"), "chosen_by_model"), "timed": chosen(path("timed.jsonl"), "chosen_by_profile")}
    return {"original": original, "model": model, "timed": timed}, grains


def table(options, here, regrain, sizes, figures, machine, geomean):
    """The rows of the table of gains."""
    lines = ["# Choice by measured times on the CPU", "",
             f"Kernel milliseconds (all launches of a program), median of {options.rounds} interleaved runs: the original grain, the model's",
             "choice, and the choice by the times that `regrain-tune run` measured; chosen grains in the order of the kernels.",
             f"Machine: {machine}. Written by `rodinia/bench.py tune`.", "",
             "| program | sizes | original | model | timed | gain of the model | gain of timing | model chose | timing chose | same bits |",
             "|---|---|--:|--:|--:|--:|--:|---|---|---|"]
    gains = {"model": [], "timed": []}
    with tempfile.TemporaryDirectory() as folder:
        for program in TUNED:
            sides, grains = loop(program, here, regrain, sizes[program], folder)
            runs = {side: [] for side in sides}
            for _ in range(options.rounds):
                for side, executable in sides.items():
                    runs[side].append(figures(checked([executable, "--time", "--digest", "--no-check", *sizes[program]])))
            times = {side: statistics.median(run[0]["kernel"] for run in runs[side]) for side in sides}
            same = len({run[1] for side in runs.values() for run in side}) == 1
            for side in gains:
                gains[side].append(times["original"] / times[side])
            lines.append(f"| {program} | {' '.join(sizes[program])} | {times['original']:.1f} | {times['model']:.1f} | {times['timed']:.1f} "
                         f"| {gains['model'][-1]:.2f}x | {gains['timed'][-1]:.2f}x | {', '.join(grains['model'])} | {', '.join(grains['timed'])} "
                         f"| {'yes' if same else 'NO'} |")
            print(lines[-1], file=sys.stderr)
    lines.append(f"| geometric mean | | | | | {geomean(gains['model']):.2f}x | {geomean(gains['timed']):.2f}x | | | |")
    slow = sum(gain < 0.98 for gain in gains["timed"])
    return [*lines, "", f"Programs whose timed choice is slower than the original by more than 2%: {slow} of {len(TUNED)}."]
