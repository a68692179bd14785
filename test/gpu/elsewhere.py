#!/usr/bin/env python3
"""The programs of test/integration and random kernels for a GPU that is on another machine.

  elsewhere.py build sm_90    here: makes the programs below build/elsewhere, where no GPU is needed
  elsewhere.py run            there, from the same folder of the repository: runs them and keeps what they print
  elsewhere.py check          here again, with what `run` wrote: says what failed

`run` needs python3 and a driver. A program's RUN lines that call a compiler are done by `build`, the others by `run`; what a line pipes
into FileCheck is looked at by `check`. Random kernels are those that REGRAIN_PROPTEST_WRITE left in build/elsewhere/random: each file is
made by clang (of LLVM, its results are what the others must give) and in the forms whose options stand beside it.
"""
import argparse
import concurrent.futures
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
OUT = Path("build/elsewhere")
LLVM = Path("/usr/lib/llvm-22/bin")
RELEASE = Path("target/release")
NVCC = ROOT / ".toolchain/nvcc13/bin"  # clang needs fatbinary, which the toolkit of the wheels lacks


def toolkit():
    return next(str(p) for p in [ROOT / ".toolchain/cuda", Path("/usr/local/cuda")] if (p / "include/cuda_runtime.h").exists())


def script(test, arch):
    """The commands of a test, as lit would run them."""
    lines, text = [], test.read_text(encoding="utf-8")
    stem = OUT / "integration" / test.name
    places = [("%regrain-images", RELEASE / "regrain-images"), ("%regrain-nvcc", RELEASE / "regrain-nvcc"), ("%regrain", RELEASE / "regrain"),
              ("%clang", LLVM / "clang"), ("%root", "."), ("%python", "python3"), ("%s", test), ("%S", test.parent), ("%t", f"{stem}.tmp")]
    for line in (part for line in re.findall(r"RUN:\s*(.*)", text) for part in line.split(" && ")):
        if lines and lines[-1].endswith("\\"):
            lines[-1] = lines[-1][:-1] + line
        else:
            lines.append(line)
    for at, line in enumerate(lines):
        line = re.sub(r"--offload-arch=cpu[,\w]*", f"--offload-arch={arch}", line)
        for name, place in places:
            line = re.sub(re.escape(name) + r"(?![\w-])" if name == "%s" else re.escape(name), str(place), line)
        lines[at] = line
    return lines


def is_made_here(line):
    return any(str(tool) in line for tool in [RELEASE, LLVM]) or re.match(r"\s*(ar|rm|mkdir|cp|split-file|g\+\+|gcc|cc)\b", line)


def kept(line, program, builds):
    """A command that runs a copy of a program, whose place the next build takes."""
    copy = program.with_suffix(f".{builds}")
    words = [str(copy) if word == str(program) else word for word in line.split(" ")]
    if str(copy) in words and not (ROOT / copy).exists():
        shutil.copy(ROOT / program, ROOT / copy)
    return " ".join(words)


def shell(line, seconds):
    try:
        done = subprocess.run(["bash", "-c", f"set -o pipefail; {line}"], cwd=ROOT, capture_output=True, text=True, errors="replace",
                              timeout=seconds, check=False)
        return done.returncode, done.stdout, done.stderr
    except subprocess.TimeoutExpired:
        return 124, "", f"not done after {seconds} s"


def build_tests(arch, only):
    (ROOT / OUT / "integration").mkdir(parents=True, exist_ok=True)
    plan = {}
    for test in sorted((ROOT / "test/integration").iterdir()):
        if test.suffix not in {".cu", ".test"} or "CPU-ONLY:" in test.read_text(encoding="utf-8") or only and test.name not in only:
            continue
        runs, builds = [], 0
        for line in script(test.relative_to(ROOT), arch):
            if str(RELEASE / "regrain-tune") in line:  # of a database that a run writes
                continue
            if not is_made_here(line):
                runs.append(kept(line, OUT / "integration" / f"{test.name}.tmp", builds))
                continue
            builds += 1
            status, said, wrong = shell(f"PATH={LLVM}:$PATH; {line}", 300)
            if status:
                print(f"{test.name}: {line}\n{said}{wrong}")
                runs = None
                break
        plan[test.name] = runs
    return plan


def build_random(arch):
    """For each file the forms, the first of them clang's."""
    plan = {}
    for source in sorted((ROOT / OUT / "random").glob("*.cu")):
        # In one step clang would want its clang-linker-wrapper, which Debian's package lacks.
        forms = [("clang", f"PATH={NVCC}:$PATH {LLVM}/clang++ --cuda-path={toolkit()} -Wno-unknown-cuda-version -w -O2 --offload-arch={arch} "
                           f"-c {source} -o {source}.o && g++ {source}.o -L{toolkit()}/lib64 -lcudart_static -ldl -lrt -lpthread")]
        # clang's square roots, which the others are compared with, are not exact.
        ours = f"{RELEASE}/regrain -w -O2 -prec-sqrt=false --offload-arch={arch} {source}"
        forms += [(name, f"{ours} {options}") for name, options in
                  [("original", "-fregrain-alternatives=none"), ("round-trip", "-fregrain-round-trip"), ("usual", "")]]
        forms += [(grain, f"{ours} {grain}") for grain in source.with_suffix(".grains").read_text().splitlines()]
        made = []
        for number, (name, command) in enumerate(forms):
            program = OUT / "random" / f"{source.stem}.{number}"
            status, said, wrong = shell(f"{command} -o {program} && strip -s {program}", 300)
            if status:
                print(f"{source.name}: {name}: {said}{wrong}")
                made = None
                break
            made.append((name, str(program)))
        plan[source.name] = made
    return plan


def run_test(item):
    name, lines = item
    for number, line in enumerate(lines):
        before, piped, after = line.partition("| FileCheck") if "| FileCheck" in line else line.partition("| env FileCheck")
        line = re.sub(r"^(env (?:\w+=\S+ )*)?not (--crash )?(.*)", r"! \1\3", before.strip())
        status, said, wrong = shell(line, 60)
        if piped:
            (ROOT / OUT / f"{name}.{number}.out").write_text(said + wrong if "2>&1" in line else said)
        elif status:
            return name, {"line": line, "status": status, "said": said[:1500], "wrong": wrong[:1500]}
    return name, None


def run_random(item):
    name, forms = item
    wanted, found = None, []
    for form, program in forms:
        status, said, wrong = shell(program, 60)
        if wanted is None:
            wanted = said
        if status or said != wanted:
            differing = [f"{a} instead of {b}" for a, b in zip(said.splitlines(), wanted.splitlines()) if a != b]
            found.append({"form": form, "status": status, "wrong": wrong[-500:], "differs": differing})
    return name, found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    build = commands.add_parser("build")
    build.add_argument("arch")
    build.add_argument("only", nargs="*")
    build.add_argument("--what", choices=["all", "tests", "random"], default="all")
    run = commands.add_parser("run")
    run.add_argument("--jobs", type=int, default=8)
    options = parser.parse_args()
    plan = ROOT / OUT / "plan.json"
    if options.command == "build":
        plans = json.loads(plan.read_text()) if plan.exists() else {"tests": {}, "random": {}}
        if options.what != "random":
            plans["tests"].update(build_tests(options.arch, options.only))
        if options.what != "tests":
            plans["random"] = build_random(options.arch)
        plan.write_text(json.dumps(plans, indent=1))
        return any(None in plans[what].values() for what in plans)
    plans = {what: {name: made for name, made in of.items() if made} for what, of in json.loads(plan.read_text()).items()}
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        tests = dict(pool.map(run_test, plans["tests"].items()))
        for name in [name for name, why in tests.items() if why]:  # others may have taken its memory or its time
            tests[name] = run_test((name, plans["tests"][name]))[1]
        random = dict(pool.map(run_random, plans["random"].items()))
    (ROOT / OUT / "results.json").write_text(json.dumps({"tests": tests, "random": random}, indent=1))
    failed = {name: why for name, why in tests.items() if why} | {name: why for name, why in random.items() if why}
    for name, why in failed.items():
        print(f"FAILED {name}: {json.dumps(why, indent=1)}")
    forms = sum(len(made) for made in plans["random"].values())
    print(f"{len(tests)} tests, {len(plans['random'])} files of random kernels in {forms} programs: {len(failed)} failed")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
