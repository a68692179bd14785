"""Waves of tiles (affine/sor*.c) over a grid of sizes: what the model says against what is measured. Used by bench.py, which writes the table."""
import html
import json
import os
import re
import subprocess
import sys
import tempfile
from contextlib import nullcontext
from math import log
from pathlib import Path

import loops

HERE = Path(__file__).resolve().parent
MODEL = HERE.parent / "crates/compiler/src/parallelize"
# Of each program: dimensions of the array, steps, the sizes of a problem, and those of tiles.
PROGRAMS = {
    "sor1d": (1, 200, [20000, 100000], [10, 25, 50, 100, 200], [64, 256, 1024, 4096, 16384]),
    "sor2d": (2, 10, [400, 1500], [1, 2, 5, 10], [8, 16, 32, 64, 128, 256]),
    "sor3d": (3, 8, [80, 150], [1, 2, 4, 8], [2, 4, 8, 16, 32, 64]),
}


def build(options, clang, folder):
    """Builds what is not there: a program for each size of a tile, and one whose sizes are chosen."""
    driver = str(Path(options.driver).resolve())
    environment = {**os.environ, "REGRAIN_CALIBRATION": str(Path(options.calibration).resolve())}
    for program, (_, _, _, firsts, seconds) in PROGRAMS.items():
        source = [str(loops.FOLDER / f"{program}.c"), "-lm"]
        sides = {"alone": [str(clang), "-x", "c", "-O3", "-march=native", *source]}
        common = [driver, "--offload-arch=cpu", "-O3", "-march=native", "-fregrain-parallelize", *source]
        sides["chosen"] = common
        for first in firsts:
            for second in seconds:
                stated = [f"-fregrain-parallelize-tiles={first},{second}", "-fregrain-parallelize-from=0"]
                sides[f"{first},{second}"] = [*common, *stated]
        for side, command in sides.items():
            built = Path(folder) / f"{program}-{side}"
            if not built.exists():
                subprocess.run([*command, "-o", str(built)], check=True, env=environment)


def predicted(options, clang, folder, program, size, workers):
    """What the model says of each size of a tile, in seconds, and what it chooses."""
    dimensions, steps, _, firsts, seconds = PROGRAMS[program]
    machine = json.loads(Path(options.calibration).read_text())
    levels = machine["levels"] + machine["levels"][-1:] * (4 - len(machine["levels"]))
    model = f"{folder}/tiles-model"
    subprocess.run([str(clang), "-x", "c", "-O2", f"-I{MODEL}", str(HERE / "tiles-model.c"), "-o", model], check=True)
    given = [*(machine[name] for name in ("launch", "block", "row", "operation", "alone", "piece")), *(level["bytes"] for level in levels),
             *(level["byte"] for level in levels), dimensions, size, steps, workers]
    asked = "".join(f"{first} {second}\n" for first in firsts for second in seconds)
    lines = subprocess.run([model, *map(str, given)], input=asked, capture_output=True, text=True, check=True).stdout.split("\n")
    sizes = [(first, second) for first in firsts for second in seconds]
    first, second, time = lines[len(sizes)].split()
    return {size: float(line) / 1e9 for size, line in zip(sizes, lines)}, (int(first), int(second)), float(time) / 1e9


def measured(options, folder, program, size, workers):
    """The least of several runs of each side, in seconds: the machine's slow moments meet any."""
    _, _, _, firsts, seconds = PROGRAMS[program]
    sides = ["alone", "chosen", *(f"{first},{second}" for first in firsts for second in seconds)]
    times = {side: [] for side in sides}
    os.environ["REGRAIN_CPU_THREADS"] = str(workers)
    for _ in range(options.rounds):
        for side in sides:
            times[side].append(loops.seconds(f"{folder}/{program}-{side}", [str(size)]))
    if any(None in of for of in times.values()):
        sys.exit(f"{program}: a check failed")
    return {side: min(of) for side, of in times.items()}


def heat_map(program, times, title):
    """Times of all sizes: those of the first dimension down, of the second to the right; darker is faster."""
    _, _, _, firsts, seconds = PROGRAMS[program]
    width, height, left, top = 62, 26, 40, 40
    low, high = min(times.values()), max(times.values())
    parts = [f'<svg viewBox="0 0 {left + width * len(seconds)} {top + height * len(firsts)}" role="img" aria-label="{title}">',
             f'<text class="axis" x="{left}" y="12">second dimension, ms</text>']
    for x, second in enumerate(seconds):
        parts.append(f'<text class="axis mid" x="{left + width * x + width // 2}" y="{top - 10}">{second}</text>')
    for y, first in enumerate(firsts):
        parts.append(f'<text class="axis end" x="{left - 8}" y="{top + height * y + 17}">{first}</text>')
        for x, second in enumerate(seconds):
            time = times[first, second]
            step = f"h{round(8 * (1 - log(time / low) / log(high / low)))}" if high > low else "h4"
            best = " best" if time == low else ""
            at, down = left + width * x, top + height * y
            parts.append(f'<rect class="{step}{best}" x="{at + 1}" y="{down + 1}" width="{width - 2}" height="{height - 2}" rx="3"/>'
                         f'<text class="mid on-{step}" x="{at + width // 2}" y="{down + 17}">{1e3 * time:.2f}</text>')
    return f"<figure><figcaption>{html.escape(title)}</figcaption>{''.join(parts)}</svg></figure>"


def page(figures, machine):
    """The heat maps, in the style of those of grains."""
    style = re.search(r"<style>.*?</style>", (HERE / "grain.html.template").read_text(), re.S)[0]
    return "\n".join(['<!doctype html>', '<html lang="en">', '<head>', '<meta charset="utf-8">', "<title>Regrain: waves of tiles</title>", style,
                      "</head>", "<body>", "<h1>Waves of tiles</h1>",
                      f"<p>Milliseconds at each size of a tile. Machine: {html.escape(machine)}. Written by <code>rodinia/bench.py tiles</code>.</p>",
                      *figures, "</body>", "</html>", ""])


def table(options, clang, machine):
    """The lines of results/tiles.md, and the page with the heat maps; none where programs are only built."""
    keeps = nullcontext(options.folder) if options.folder else tempfile.TemporaryDirectory()
    with keeps as folder:
        build(options, clang, folder)
        if options.rounds == 0:
            return None
        lines, figures = [], []
        for program, (_, _, sizes, _, _) in PROGRAMS.items():
            for size, workers in ((size, workers) for size in sizes for workers in sorted({1, os.cpu_count()})):
                said, chosen, expected = predicted(options, clang, folder, program, size, workers)
                times = measured(options, folder, program, size, workers)
                grid = {(first, second): times[f"{first},{second}"] for first, second in said}
                best = min(grid, key=grid.get)
                errors = sorted(abs(said[at] / grid[at] - 1) for at in grid)
                within = times["chosen"] / min(grid[best], times["chosen"]) - 1
                lines.append(f"| {program} {size} | {workers} | {1e3 * times['alone']:.2f} | {best[0]} x {best[1]} | {1e3 * grid[best]:.2f} | "
                             f"{chosen[0]} x {chosen[1]} | {1e3 * expected:.2f} | {1e3 * times['chosen']:.2f} | {100 * within:.0f} % | "
                             f"{times['alone'] / times['chosen']:.2f} | {100 * errors[len(errors) // 2]:.0f} % | {100 * errors[-1]:.0f} % |")
                print(lines[-1], file=sys.stderr)
                figures.append(f"<h2>{program}, {size}, workers: {workers}</h2><div class=row>{heat_map(program, grid, 'measured')}"
                               f"{heat_map(program, said, 'predicted')}</div>")
    head = ["# Waves of tiles", "",
            "The relaxations of affine/ with each size of a tile of a grid, milliseconds, the least of interleaved runs; what the model (`tiles.h`) says of the same",
            "with the parameters of `regrain-tune calibrate`; and the sizes that it chooses, which need not be of the grid. `-O3 -march=native`; alone: clang.",
            f"Machine: {machine}. `rodinia/bench.py --rounds {options.rounds} tiles`, {options.date}; [heat maps]({options.name}.html).", "",
            "| program, size | workers | alone | best of the grid | ms | chosen | predicted | measured | slower than the best | times faster than alone | median error | largest |",
            "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|"]
    given = json.loads(Path(options.calibration).read_text())
    shown = ", ".join(f"{name} {given[name]:g}" for name in ("launch", "block", "row", "operation", "alone", "piece"))
    return [*head, *lines, "", f"Parameters, nanoseconds: {shown}."], page(figures, machine)
