"""Waves of tiles (affine/sor*.c, affine/waves) over a grid of sizes: what the model says against what is measured. Used by bench.py, which writes the table."""
import functools
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
from statistics import median

import loops

HERE = Path(__file__).resolve().parent
# Of each program: the dimensions of its arrays, its steps, the sizes of a problem, and those of tiles. edit was for waves of few tiles, sweep3d for
# memory that is far away; heat1d was not looked at while the model was made, distance and transport were written when it was done.
PROGRAMS = {
    "sor1d": (1, 200, [20000, 100000], [10, 25, 50, 100, 200], [64, 256, 1024, 4096, 16384]),
    "sor2d": (2, 10, [400, 1500], [1, 2, 5, 10], [8, 16, 32, 64, 128, 256]),
    "sor3d": (3, 8, [80, 150], [1, 2, 4, 8], [2, 4, 8, 16, 32, 64]),
    "waves/heat1d": (1, 100, [30000], [10, 25, 50, 100], [256, 1024, 4096, 16384]),
    "waves/gs9": (2, 12, [1200], [1, 3, 6, 12], [8, 32, 128, 512]),
    "waves/edit": (2, 3000, [3000], [10, 50, 250, 1000], [32, 128, 512, 2048]),
    "waves/sweep3d": (3, 200, [200], [5, 20, 50, 100], [4, 16, 64, 256]),
    "waves/distance": (2, 16, [1000], [1, 4, 8, 16], [8, 32, 128, 512]),
    "waves/transport": (1, 120, [50000], [10, 30, 60, 120], [256, 1024, 4096, 16384]),
}
# Of pieces: as the model has it, and others.
PIECES = [0, 4, 6, 8, 12, 24]
# How many of the grid are measured again beside the sizes that the model chooses, and how often: of many sizes the one that is measured fastest once
# is mostly the one that was lucky.
BEST, AGAIN = 6, 12
# How often a nest runs while it tries sizes, unless it is over before.
TRIALS = 1000
# What the function of the host does in place of the search, and a program that calls it for sizes that it is told of: first, second and piece,
# where 0 leaves it to the model. It prints what the model says, and the least that several runs take. Before that it may run with trials, and print
# how often it ran until they were over, and the sizes.
STATED = """
#include <stdio.h>
#include <time.h>
static long first, second, piece;
static int runs, tries;
static struct tile_sizes chosen;
static struct tile_choices *tried;
static struct tile_sizes stated(const struct tile_band *band, const struct tile_machine *machine, struct tile_choices *choices) {
  tried = choices;
  if (tries)
    return tile_chosen(band, machine, choices);
  chosen = first == 0 ? tile_search(band, machine)
                      : tile_pieces(band, machine, first, second, piece ? piece : TILE_LEAST, piece ? piece : TILE_MOST);
  struct tile_sizes used = chosen;
  used.time = runs ? 1e-9 : 0; // where it does not run the nest is left alone
  return used;
}
"""
MAIN = """
static double now() {
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  return 1e9 * at.tv_sec + at.tv_nsec;
}

static double *numbers(long count) {
  double *made = (double *)malloc(count * sizeof *made);
  for (long at = 0; at < count; at++)
    made[at] = 1 + (at * 7919 % 1000) / 1000.0;
  return made;
}

int main(int, char **argv) {
  const long size = atol(argv[1]), steps = atol(argv[2]), count = atol(argv[3]), rounds = atol(argv[4]), trials = atol(argv[5]);
  static long sizes[1000][3];
  static double least[1000];
  int lines = 0;
  while (lines < 1000 && scanf("%ld %ld %ld", &sizes[lines][0], &sizes[lines][1], &sizes[lines][2]) == 3)
    lines++;
  CALLS
}
"""
CALLS = """ARRAYS
  for (tries = 1; tries <= trials && !(tried && tried->of[tried->last].trials.is_over); tries++)
    CALL;
  if (trials > 0) {
    const struct tile_sizes tile = tried->of[tried->last].tile;
    printf("%d %ld %ld %ld\\n", tries - 1, tile.first, tile.second, tile.piece);
  }
  tries = 0;
  for (long round = 0; round <= rounds; round++)
    for (int line = 0; line < lines; line++) {
      first = sizes[line][0], second = sizes[line][1], piece = sizes[line][2], runs = round != 0;
      const double start = now();
      CALL;
      const double time = now() - start;
      if (!runs)
        printf("%ld %ld %ld %.0f\\n", chosen.first, chosen.second, chosen.piece, chosen.time);
      else if (round == 1 || time < least[line])
        least[line] = time;
    }
  for (int line = 0; line < lines; line++)
    printf("%.0f\\n", least[line]);
  return 0;"""


def file_of(folder, program, side):
    """Where a program is."""
    return Path(folder) / f"{Path(program).name}-{side}"


def build(options, clang, folder):
    """Builds what is not there: a program as clang has it, and one that runs at any size of a tile."""
    driver = str(Path(options.driver).resolve())
    environment = {**os.environ, "REGRAIN_CALIBRATION": str(Path(options.calibration).resolve())}
    run = functools.partial(subprocess.run, check=True, env=environment)
    Path(folder).mkdir(parents=True, exist_ok=True)
    for program in PROGRAMS:
        source = [str(loops.FOLDER / f"{program}.c"), "-lm"]
        alone, cuda, stated = (file_of(folder, program, side) for side in ("alone", "chosen.cu", "stated"))
        if not alone.exists():
            run([str(clang), "-x", "c", "-O3", "-march=native", *source, "-o", str(alone)])
        if not stated.exists():
            common = [driver, "--offload-arch=cpu", "-O3", "-march=native", "-w"]
            run([*common, "-fregrain-parallelize", f"-fregrain-emit-cuda={cuda}", *source, "-o", str(file_of(folder, program, "chosen"))])
            stated.with_suffix(".cu").write_text(stated_of(cuda.read_text()))
            run([*common, str(stated.with_suffix(".cu")), "-o", str(stated)])


def stated_of(text):
    """The program of a nest's launches, at sizes that are stated."""
    head, nest = text.split("\n// Line ", 2)[:2]
    nest = nest.replace("tile_chosen(&band, &machine, &choices)", "stated(&band, &machine, &choices)")
    name, parameters = re.search(r"^extern \"C\" int (\w+)\((.*)\) {$", nest, re.M).groups()
    numbers, arrays, given = iter(["size", "steps"]), [], []
    for parameter in parameters.split(", "):
        if "*" in parameter:
            given.append(parameter.split("*")[1].strip())
            arrays.append(f"  double *{given[-1]} = numbers(count);\n")
        else:
            given.append(next(numbers))
    calls = CALLS.replace("ARRAYS", "".join(arrays)).replace("CALL", f"{name}({', '.join(given)})").strip()
    return f"{head}{STATED}// Line {nest}{MAIN.replace('CALLS', calls)}"


def grid(program):
    """The sizes of tiles and pieces; with 0 the model chooses."""
    _, _, _, firsts, seconds = PROGRAMS[program]
    return [(first, second, piece) for first in firsts for second in seconds for piece in PIECES]


def stated(folder, program, size, rounds, trials, asked):
    """The numbers that a program prints, line by line, which measures sizes in rounds after some trials."""
    dimensions, steps, _, _, _ = PROGRAMS[program]
    command = [file_of(folder, program, "stated"), size, steps, size**dimensions + 1, rounds, trials]
    done = subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True, input="".join("%d %d %d\n" % line for line in asked))
    return [list(map(float, line.split())) for line in done.stdout.splitlines()]


def measured(folder, program, size, asked, count):
    """What the model says of each size of a tile and what it takes, line by line, in several processes: where memory is decides about some per cent."""
    said, times = [], []
    for _ in range(count):
        lines = stated(folder, program, size, 2, 0, asked)
        said = lines[:len(asked)]
        times.append([time / 1e9 for [time] in lines[len(asked):]])
    return said, list(zip(*times))


def ran(options, folder, program, size, workers):
    """What the model says and what is measured of each size of a tile, in seconds; the sizes that the model chooses, those that trials lead to with how often
    the nest ran until they were over, and the best of the grid with its time and that of the model's, measured again; how much slower the first two are
    than what is fastest, and the time alone."""
    os.environ["REGRAIN_CPU_THREADS"] = str(workers)
    model, alone = (0, 0, 0), []
    asked = [model, *grid(program)]
    said, times = measured(folder, program, size, asked, options.rounds)
    for _ in range(options.rounds):
        alone.append(loops.seconds(file_of(folder, program, "alone"), [str(size)]))
        if loops.seconds(file_of(folder, program, "chosen"), [str(size)]) is None or alone[-1] is None:
            sys.exit(f"{program}: a check failed")
    least = dict(zip(asked, map(min, times)))
    predicted = {sizes: line[3] / 1e9 for sizes, line in zip(asked, said)}
    [runs, *tried] = map(int, stated(folder, program, size, 0, TRIALS, [])[0])
    tried = tuple(tried)
    again = list(dict.fromkeys([model, tried, *sorted(grid(program), key=least.get)[:BEST]]))
    # The machine's speed changes from one second to the next: what runs in one process is compared.
    taken = dict(zip(again, measured(folder, program, size, again, AGAIN)[1]))
    ratios = {sizes: median(time / chosen for time, chosen in zip(taken[sizes], taken[model])) for sizes in again}
    best = min((sizes for sizes in again if sizes in least and sizes != model), key=ratios.get)
    fastest = min(ratios.values())
    return (predicted, least, tuple(map(int, said[0][:3])), (tried, runs), best, (median(taken[best]), median(taken[model])),
            (1 / fastest, ratios[tried] / fastest), min(alone))


def heat_map(program, times, title):
    """Times of all sizes with pieces of the model: those of the first dimension down, of the second to the right; darker is faster."""
    _, _, _, firsts, seconds = PROGRAMS[program]
    width, height, left, top = 62, 26, 40, 40
    times = {sizes[:2]: time for sizes, time in times.items() if sizes[0] != 0 and sizes[2] == 0}
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
                said, times, chosen, (tried, runs), best, (fastest, time), slower, alone = ran(options, folder, program, size, workers)
                errors = sorted(abs(said[at] / times[at] - 1) for at in grid(program))
                lines.append(f"| {program} {size} | {workers} | {1e3 * alone:.2f} | {' x '.join(str(size or 'model') for size in best)} | {1e3 * fastest:.2f} | "
                             f"{' x '.join(map(str, chosen))} | {1e3 * said[0, 0, 0]:.2f} | {1e3 * time:.2f} | {100 * (slower[0] - 1):.0f} % | "
                             f"{' x '.join(map(str, tried))} | {runs} | {100 * (slower[1] - 1):.0f} % | {alone / time:.2f} | {100 * errors[len(errors) // 2]:.0f} % | {100 * errors[-1]:.0f} % |")
                print(lines[-1], file=sys.stderr)
                figures.append(f"<h2>{program}, {size}, workers: {workers}</h2><div class=row>{heat_map(program, times, 'measured')}"
                               f"{heat_map(program, said, 'predicted')}</div>")
    head = ["# Waves of tiles", "",
            "The nests of affine/ whose iterations wait for one another with each size of a tile of a grid, milliseconds; what the model (`tiles.h`) says of the same",
            "with the parameters of `regrain-tune calibrate`; and the sizes that it chooses, and that trials lead to from there (`trials.h`), which need not be of the grid. `-O3 -march=native`; alone: clang.",
            f"Errors are those of the model against the least of interleaved runs, over the whole grid; its {BEST} fastest sizes and the chosen ones are measured again, "
            f"medians of {AGAIN} processes, where ratios are of times in one process.",
            f"Machine: {machine}. `rodinia/bench.py --rounds {options.rounds} tiles`, {options.date}; [heat maps]({options.name}.html).", "",
            "| program, size | workers | alone | best of the grid | ms | chosen | predicted | measured | slower than the best | tried | runs | slower than the best | times faster than alone | median error | largest |",
            "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|"]
    given = json.loads(Path(options.calibration).read_text())
    shown = ", ".join(f"{name} {given[name]:g}" for name in ("start", "launch", "block", "row", "operation", "window", "alone"))
    return [*head, *lines, "", f"Parameters, nanoseconds: {shown}."], page(figures, machine)
