"""The programs of this folder at every grain: same bits on the CPU, resources on GPUs. Used by `bench.py grain`.

For the CPU each program is compiled with each grain forced (`-fregrain-coarsen-blocks=`, `-fregrain-coarsen-threads=`) and
run at small sizes; its digests are compared with those of coroutine mode, the oracle. For GPUs the grains are stated as
alternatives (`-fregrain-alternatives=`), and the compiler's report (`-fregrain-report=`) gives what ptxas or the code object said of each, and
what the model predicts. What was measured is kept in build/grain, by the content of driver, sources and options, so that
an interrupted run goes on where it stopped.
"""
import concurrent.futures
import hashlib
import html
import json
import os
import re
import resource
import signal
import string
import subprocess
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
WORK = ROOT / "build/grain"
BLOCKS = [1, 2, 3, 4, 5, 7, 8, 13, 16, 32]
THREADS = [1, 2, 4, 8, 16, 32]
# Odd and even grids, larger and smaller than a coarse block.
SIZES = {
    "hotspot": ["--rows 37 --cols 101 --steps 7 --pyramid 3", "--rows 120 --cols 130 --steps 4"],
    "lud": ["--size 48 --seed 3", "--size 144"],
    "pathfinder": ["--rows 20 --cols 777 --pyramid 7", "--rows 11 --cols 6000 --pyramid 5"],
    "nw": ["--size 144 --penalty 1", "--size 256"],
    "bfs": ["--nodes 5000 --degree 1 --source 9", "--nodes 20000"],
    "backprop": ["--inputs 144 --epochs 4", "--inputs 2048 --epochs 1"],
    "srad": ["--rows 37 --cols 101 --steps 3", "--rows 130 --cols 96 --steps 2"],
}
# The kernels of each program.
KERNELS = {
    "hotspot": ["advance_tile"],
    "lud": ["factor_diagonal", "solve_perimeter", "update_inner"],
    "pathfinder": ["advance_rows"],
    "nw": ["fill_upper_left", "fill_lower_right"],
    "bfs": ["expand_frontier", "commit_frontier"],
    "backprop": ["forward_layer", "adjust_weights"],
    "srad": ["measure_region", "find_coefficients", "diffuse"],
}
# Block factors that one compilation for a GPU tries.
TOGETHER = [[1, 2, 3, 4], [5, 7, 8], [13, 16], [32]]


def kernel_name(symbol):
    """The name in the source of a mangled kernel, without the grain behind it."""
    found = re.match(r"_Z(\d+)(\w+)", symbol)
    return found.group(2)[: int(found.group(1))] if found else symbol.split("$")[0]


NOT_TRIED = "not tried: the time was up"


class Cache:
    """What commands gave, by their content; one file for each."""

    def __init__(self, driver):
        WORK.mkdir(parents=True, exist_ok=True)
        runtime = driver.parent / "libregrain_rt.a"
        parts = [path.read_bytes() for path in (driver, runtime) if path.exists()]
        self.driver = hashlib.sha256(b"".join(hashlib.sha256(part).digest() for part in parts)).hexdigest()

    def get(self, program, options, compute):
        sources = sorted([*(HERE / program).iterdir(), *(HERE / "common").iterdir()])
        text = "\0".join([self.driver, *options, *(path.read_text() for path in sources)])
        path = WORK / f"{program}-{hashlib.sha256(text.encode()).hexdigest()[:24]}.json"
        if path.exists():
            return json.loads(path.read_text())
        if compute is None:
            return None
        found = compute()
        path.write_text(json.dumps(found))
        return found


def run(command, limit, env=None):
    """Exit code, output and seconds of processor time; each process may take `limit` of them, whatever else the machine does."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False, cwd=HERE,
                          env={**os.environ, **(env or {})},
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (limit, limit)))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return done.returncode, done.stdout + done.stderr, seconds


def stopped(code, output):
    """Whether a compilation ended because a process came to its limit: by a signal, or a child's."""
    return code in (-signal.SIGXCPU, -signal.SIGKILL, 128 + signal.SIGXCPU) or "CPU time limit" in output or "signal: 24" in output or "signal: 9" in output


def grain_options(blocks, threads):
    asked = [("blocks", blocks), ("threads", threads)]
    return [f"-fregrain-coarsen-{what}={factor}" for what, factor in asked if factor > 1]


def refusals(program, output):
    """Reasons why kernels kept their grain: by kernel, from the lines that remarks name."""
    source = (HERE / program / f"{program}.cu").read_text().split("\n")
    starts = [(number, match.group(1)) for number, line in enumerate(source, 1)
              if (match := re.search(r"__global__\s+void\s+(\w+)", line))]
    found = {}
    for line, what, why in re.findall(r":(\d+):\d+: remark: (?:kernel '[^:]*: )?(\w+) (?:not coarsened|keeps its grain): (.*)", output):
        at = [name for number, name in starts if number <= int(line)]
        reasons = found.setdefault(at[-1] if at else "?", [])
        if f"{what}: {why}" not in reasons:
            reasons.append(f"{what}: {why}")
    return found


def run_on_cpu(command, env):
    """Digests at all small sizes, or what went wrong."""
    digests = []
    for size in command[1]:
        code, output, _ = run([command[0], "--digest", *size.split()], 300, env)
        digest = re.search(r"digest (\w+)", output)
        if code != 0 or not digest:
            return None, f"fails at {size}: {output.strip()[-200:]}"
        digests.append(digest.group(1))
    return digests, ""


def on_cpu(options, program, blocks, threads):
    """Compiles for the CPU and runs: the digests, reasons, and the seconds of the compiler."""
    built = WORK / f"{program}-{blocks}-{threads}"
    reference = WORK / f"{program}-reference.o"
    sources = [f"{program}/{program}.cu", str(reference)]
    command = [str(options.driver), "--offload-arch=cpu", "-O2", "-fopenmp", "-Rpass-missed=regrain$", *grain_options(blocks, threads)]
    code, output, seconds = run([*command, *sources, "-o", str(built)], options.limit)
    if stopped(code, output):
        return {"error": f"compiler stopped after {options.limit} s", "seconds": seconds, "slow": True}
    if code != 0:
        return {"error": f"does not compile: {output.strip()[-300:]}", "seconds": seconds}
    # The oracle is the same for all grains.
    env = {"REGRAIN_CPU_MODE": "coroutine"} if (blocks, threads) == (1, 1) else {}
    digests, error = run_on_cpu((str(built), SIZES[program]), env)
    split = None
    if env and digests:
        split, error = run_on_cpu((str(built), SIZES[program]), {})
    built.unlink()
    return {"digests": digests, "split": split, "error": error, "refused": refusals(program, output), "seconds": seconds}


def totals(grain):
    """Block and thread totals of a grain as in `b4x2x1t2x1x1`."""
    found = {side: 1 for side in "bt"}
    for side, *factors in re.findall(r"([bt])(\d+)x(\d+)x(\d+)", grain):
        for factor in factors:
            found[side] *= int(factor)
    return found["b"], found["t"]


def on_gpu(options, program, arch, blocks, threads):
    """Compiles some grains for a GPU: the rows of the compiler's report, by block factor and kernel."""
    made, report = (WORK / f"{program}-{arch}-{blocks[0]}-{threads}.{end}" for end in ("o", "jsonl"))
    report.unlink(missing_ok=True)
    space = f"blocks={','.join(map(str, blocks))}:threads={threads}"
    command = [str(options.driver), f"--offload-arch={arch}", "-O3", "-c", "-Rpass-missed=regrain$", f"-fregrain-alternatives={space}",
               f"-fregrain-report={report}", f"{program}/{program}.cu", "-o", str(made)]
    code, output, seconds = run(command, options.limit)
    made.unlink(missing_ok=True)
    if stopped(code, output):
        return {"error": f"compiler or assembler stopped after {options.limit} s", "seconds": seconds, "slow": True}
    if code != 0:
        return {"error": output.strip()[-300:], "seconds": seconds}
    rows = {}
    for line in report.read_text().splitlines() if report.exists() else []:
        row = json.loads(line)
        at = totals(row["grain"])
        if at[0] in blocks and at[1] == threads:
            rows.setdefault(str(at[0]), {})[kernel_name(row["kernel"])] = row
    report.unlink(missing_ok=True)
    return {"rows": rows, "said": output[-2000:], "seconds": seconds}


def measure(options, programs):
    """All rows of the table: one for each kernel, architecture and grain; and one for each program and grain on the CPU."""
    cache = Cache(options.driver)
    for program in programs:
        reference = [str(options.driver), "-O2", "-fopenmp", "-c", f"{program}/{program}_omp.cpp", "-o", str(WORK / f"{program}-reference.o")]
        code, output, _ = run(reference, 300)
        if code != 0:
            raise SystemExit(output)
    jobs = [(program, "cpu", blocks, threads) for blocks in BLOCKS for threads in THREADS for program in programs if options.cpu]
    jobs += [(program, arch, tuple(blocks), threads) for blocks in TOGETHER for threads in THREADS for program in programs
             for arch in options.archs]
    # Code grows by the product of the factors: the large ones come last, as far as the time goes.
    jobs.sort(key=lambda job: (job[2] if job[1] == "cpu" else sum(job[2]) / 2) * job[3])
    slow, found, done, start = {}, {}, 0, time.monotonic()

    def work(job):
        program, target, blocks, threads = job
        # What is coarser than a grain that took too long need not be tried.
        least = blocks if target == "cpu" else blocks[0]
        if any(least >= b and threads >= t for b, t in slow.get((program, target), [])):
            return {"error": f"coarser than a grain that took more than {options.limit} s", "seconds": 0.0}
        said = [target, str(blocks), str(threads), *(SIZES[program] if target == "cpu" else [])]
        late = time.monotonic() - start > 60 * options.minutes
        def compute():
            if target == "cpu":
                return on_cpu(options, program, blocks, threads)
            return on_gpu(options, program, target, blocks, threads)

        measured = cache.get(program, said, None if late else compute)
        return measured or {"error": NOT_TRIED, "seconds": 0.0}

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        pending = {}
        queue = iter(jobs)
        while True:
            while len(pending) < options.jobs and (job := next(queue, None)):
                pending[pool.submit(work, job)] = job
            if not pending:
                break
            ready, _ = concurrent.futures.wait(pending, return_when=concurrent.futures.FIRST_COMPLETED)
            for future in ready:
                job = pending.pop(future)
                found[job] = future.result()
                if found[job].get("slow"):
                    most = job[2] if job[1] == "cpu" else job[2][-1]
                    slow.setdefault(job[:2], []).append((most, job[3]))
                done += 1
                if found[job].get("error") not in (None, "", NOT_TRIED) or done % 60 == 0:
                    print(f"{done}/{len(jobs)} {' '.join(map(str, job))} {found[job].get('error', '')}", flush=True)
    return found


def cpu_verdict(found, program, blocks, threads):
    """`same`, `differs`, or why there is no result; with the reasons of refusals."""
    if (program, "cpu", 1, 1) not in found:
        return "not run"
    oracle = found[program, "cpu", 1, 1]
    row = found[program, "cpu", blocks, threads]
    if row.get("error"):
        return row["error"]
    digests = row["split"] if (blocks, threads) == (1, 1) else row["digests"]
    return "same" if digests == oracle["digests"] else "differs"


def table(options, found, programs):
    rows = []
    for program in programs:
        for name in KERNELS[program]:
            for arch in options.archs:
                own = []
                for together in TOGETHER:
                    for blocks in together:
                        for threads in THREADS:
                            made = found[program, arch, tuple(together), threads]
                            row = dict(program=program, kernel=name, arch=arch, blocks=blocks, threads=threads,
                                       cpu=cpu_verdict(found, program, blocks, threads))
                            own.append(row | figures(made, name, blocks))
                # The model compares times for one original block, whatever was compiled together.
                timed = sorted((row for row in own if row.get("time")), key=lambda row: row["time"])
                for rank, row in enumerate(timed, 1):
                    row["rank"] = rank
                rows += own
    return rows


def figures(made, name, blocks):
    """What the report says of a kernel at a grain."""
    said = made.get("rows", {}).get(str(blocks), {}).get(name)
    if made.get("error") or said is None:
        return {"why": made.get("error") or "not in the report: kept its grain"}
    usage = said["resources"]
    if not usage:
        return {"why": f"{said['decision']}: {said['reason']}"}
    # Bytes in memory; what kept registers of warps elsewhere counts too.
    spills = sum(value for key, value in usage.items() if key.startswith("spill")) + 4 * usage.get("scalar_spills", 0)
    time = (said["prediction"] or {}).get("time")
    return dict(registers=usage["registers"], spills=spills, shared=usage["static_shared"], warps=(said["occupancy"] or {}).get("warps", 0),
                time=time, grain=said["grain"], partly=f"{said['decision']}: {said['reason']}" if said["reason"] else "")


# Metrics of heat maps: title, key, whether more is better.
METRICS = [("resident warps", "warps", True), ("registers", "registers", False), ("model rank", "rank", False)]


def heat_map(rows, key, more_is_better):
    """One kernel on one architecture: block totals to the right, thread totals down, as in the paper's figure 14."""
    values = [row[key] for row in rows if row.get(key) is not None]
    low, high = (min(values), max(values)) if values else (0, 0)
    width, height, left, top = 46, 26, 46, 40
    parts = [f'<svg viewBox="0 0 {left + width * len(BLOCKS)} {top + height * len(THREADS)}" role="img">',
             f'<text class="axis" x="{left}" y="12">block factor</text>',
             f'<text class="axis" x="0" y="{top - 10}">thread</text>']
    for x, blocks in enumerate(BLOCKS):
        parts.append(f'<text class="axis mid" x="{left + width * x + width // 2}" y="{top - 10}">{blocks}</text>')
    for y, threads in enumerate(THREADS):
        parts.append(f'<text class="axis end" x="{left - 8}" y="{top + height * y + 17}">{threads}</text>')
    for row in rows:
        x, y = left + width * BLOCKS.index(row["blocks"]), top + height * THREADS.index(row["threads"])
        value = row.get(key)
        if value is None:
            step, text = "none", "&#8211;" if "why" in row else ""
        else:
            share = (value - low) / (high - low) if high > low else 0.5
            step, text = f"h{round(8 * (share if more_is_better else 1 - share))}", str(value)
        best = value is not None and high > low and value == (high if more_is_better else low)
        note = html.escape(row.get("why", "")[:60] or f"{row.get('registers')} registers, {row.get('spills')} bytes spilled, "
                           f"{row.get('shared')} bytes shared, {row.get('warps')} warps")
        parts.append(f'<g><title>blocks {row["blocks"]}, threads {row["threads"]}: {note}</title>'
                     f'<rect class="{step}{" best" if best else ""}" x="{x + 1}" y="{y + 1}" width="{width - 2}" height="{height - 2}" rx="3"/>'
                     f'<text class="mid on-{step}" x="{x + width // 2}" y="{y + 17}">{text}</text></g>')
    return "".join(parts) + "</svg>"


def of(rows, **wanted):
    return [row for row in rows if all(row[key] == value for key, value in wanted.items())]


def page(options, rows, counts, machine):
    maps, figures = [], []
    for program, kernels in KERNELS.items():
        for name in kernels:
            for arch in options.archs:
                own = of(rows, program=program, kernel=name, arch=arch)
                if not own:
                    continue
                shown = [(title, heat_map(own, key, more)) for title, key, more in METRICS
                         if any(row.get(key) is not None for row in own) and (key != "registers" or name == "update_inner")]
                cells = "".join(f"<figure><figcaption>{title}</figcaption>{svg}</figure>" for title, svg in shown)
                text = f"<section><h3>{program}: <code>{name}</code> on {arch}</h3><div class=row>{cells}</div></section>"
                (figures if name == "update_inner" else maps).append(text)
    lines = []
    for row in rows:
        dash = "" if "why" in row else "-"
        cells = [row["program"], row["kernel"], row["arch"], row["blocks"], row["threads"],
                 *(row.get(key, dash) if row.get(key) is not None else dash for key in ("registers", "spills", "shared", "warps", "rank")),
                 row["cpu"], row.get("why") or row.get("partly", "")]
        lines.append("<tr>" + "".join(f"<td>{html.escape(str(cell))}</td>" for cell in cells) + "</tr>")
    template = string.Template((HERE / "grain.html.template").read_text())
    return template.substitute(machine=html.escape(machine), summary="".join(f"<li>{html.escape(line)}</li>" for line in counts),
                               lud="".join(figures), maps="".join(maps), rows="\n".join(lines))


def summary(options, found, rows, programs):
    verdicts = [(program, b, t, cpu_verdict(found, program, b, t)) for program in programs for b in BLOCKS for t in THREADS]
    count = lambda rest, what: sum(1 for entry in rest if entry[3] == what)
    lines = [f"CPU: {len(verdicts)} combinations of program and grain; {count(verdicts, 'same')} same bits as coroutine mode, "
             f"{count(verdicts, 'differs')} different, {len(verdicts) - count(verdicts, 'same') - count(verdicts, 'differs')} without a result"]
    lines = lines if options.cpu else []
    for arch in options.archs:
        own = [row for row in rows if row["arch"] == arch]
        made = [row for row in own if "registers" in row]
        spilled = [row for row in made if row["spills"]]
        lines.append(f"{arch}: {len(own)} combinations of kernel and grain; {len(made)} assembled ({len(spilled)} of them spill), "
                     f"{len(own) - len(made)} refused, pruned before assembling, or not tried")
    return lines


def reasons(rows):
    counts = {}
    for row in rows:
        if "why" in row:
            why = re.sub(r"0x[0-9a-f]+|\d{3,}", "N", row["why"].split("\n")[-1][-160:])
            counts[why] = counts.get(why, 0) + 1
    return sorted(counts.items(), key=lambda item: -item[1])


def markdown(options, found, rows, programs, machine):
    lines = ["# All programs at every grain", "",
             f"Block totals {{{','.join(map(str, BLOCKS))}}} times thread totals {{{','.join(map(str, THREADS))}}}. "
             f"Machine: {machine}. Written by `rodinia/bench.py grain`; [{options.name}.html]({options.name}.html) has every row and the heat maps.", ""]
    lines += [f"- {line}" for line in summary(options, found, rows, programs)]
    lines += ["", "| kernel | target | assembled | registers | shared, bytes | resident warps | spills |", "|---|---|--:|--:|--:|--:|--:|"]
    spread = lambda values: f"{min(values)} to {max(values)}" if values else "-"
    for program in programs:
        for name in KERNELS[program]:
            for arch in options.archs:
                own = of(rows, program=program, kernel=name, arch=arch)
                made = [row for row in own if "registers" in row]
                ranges = [spread([row[key] for row in made]) for key in ("registers", "shared", "warps")]
                lines.append(f"| {program} `{name}` | {arch} | {len(made)} of {len(own)} | " + " | ".join(ranges)
                             + f" | {sum(1 for row in made if row['spills'])} |")
    lines += ["", "Why kernels kept their grain, or have no figures:", "", "| combinations | reason |", "|--:|---|"]
    lines += [f"| {count} | {why.replace('|', '/')} |" for why, count in reasons(rows)]
    return lines
