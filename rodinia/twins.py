"""Our kernels against twins that were ported to HIP by hand (test/AMDGPU/twins), on AMD's chips. Used by `bench.py twins`.

Both sides are compiled by the same LLVM: the twin by `clang++ -x hip -O3`, ours from its CUDA source by regrain at the original grain.
Registers, spills and shared memory are those of the code objects' metadata, instructions those of the disassembly. Occupancy, waves of a
SIMD, is LLVM's own: what it says of a stub with these registers and this shared memory in blocks as the program launches them. No GPU is needed.
"""
import os
import platform
import re
import subprocess
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
TWINS = HERE.parent / "test/AMDGPU/twins"
LLVM = Path("/usr/lib/llvm-22/bin")
# Threads of a block of each kernel.
BLOCKS = {
    "hotspot": {"advance_tile": 256},
    "lud": {"factor_diagonal": 16, "solve_perimeter": 32, "update_inner": 256},
    "nw": {"fill_upper_left": 16, "fill_lower_right": 16},
    "pathfinder": {"advance_rows": 256},
    "srad": {"measure_region": 256, "find_coefficients": 256, "diffuse": 256},
    "backprop": {"forward_layer": 256, "adjust_weights": 256},
    "bfs": {"expand_frontier": 512, "commit_frontier": 512},
}
# What the geometric mean of VGPRs may differ by.
MOST_APART = 0.03
# Scalar registers up to which they limit no chip's waves.
HARMLESS = 96
STUB = """target triple = "amdgcn-amd-amdhsa"
@shared = internal addrspace(3) global [%d x i8] poison
define amdgpu_kernel void @stub() "amdgpu-flat-work-group-size"="%d,%d" {
  call void asm sideeffect "", "v,~{v%d}"(ptr addrspace(3) @shared)
  ret void
}
"""


def run(command, **how):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False, **how)
    if done.returncode != 0:
        raise SystemExit(f"failed: {' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def device_libraries():
    """Where AMD's device libraries are, by default Debian's folder."""
    named = os.environ.get("REGRAIN_ROCM_DEVICE_LIB_PATH")
    roots = [os.environ.get("ROCM_PATH"), "/opt/rocm", f"/usr/lib/{platform.machine()}-linux-gnu"]
    folders = [named, *(f"{root}/amdgcn/bitcode" for root in roots if root)]
    return next((folder for folder in folders if folder and Path(folder, "ocml.bc").exists()), folders[-1])


def occupancy(arch, threads, registers, shared):
    """Waves of a SIMD by LLVM."""
    stub = STUB % (max(shared, 1), threads, threads, max(registers, 1) - 1)
    text = run([LLVM / "llc", f"-mcpu={arch}", "-o", "-"], input=stub)
    return int(re.search(r"; Occupancy: (\d+)", text).group(1))


def source_name(symbol):
    """The kernel's name in the source, of its mangled one."""
    found = re.match(r"_Z(\d+)(\w+)", symbol)
    return found.group(2)[: int(found.group(1))] if found else symbol


def instructions(code):
    """Instructions of each function by their mnemonics, without those behind its end that only fill up."""
    found, name = {}, None
    for line in run([LLVM / "llvm-objdump", "-d", code]).splitlines():
        if head := re.match(r"[0-9a-f]+ <(.+)>:", line):
            name = found[head.group(1)] = []
        elif name is not None and (word := re.match(r"\s+([a-z]\w+)", line)):
            name.append(word.group(1))
    for words in found.values():
        while words and words[-1] in ("s_nop", "s_code_end"):
            words.pop()
    return found


def kernels(code):
    """What the metadata of a code object says of each kernel, by its name in the source."""
    words, found, kernel = instructions(code), {}, {}
    for line in run([LLVM / "llvm-readelf", "--notes", code]).splitlines():
        # Kernels are the first list; the fields of each stand at its depth, those of arguments deeper.
        if not (field := re.match(r"  (- |  )\.(\w+):\s*(\S*)", line)):
            continue
        if field.group(1) == "- ":
            kernel = {}
        key, value = field.group(2), field.group(3)
        kernel[key] = int(value) if value.isdigit() else value
        if key == "symbol":
            found[value.removesuffix(".kd")] = kernel
    called = sum(len(words[name]) for name in words if name not in found)
    for symbol, kernel in found.items():
        # What is not inlined is counted with each kernel that calls something.
        calls = any(word.startswith("s_swappc") for word in words[symbol])
        kernel["instructions"] = len(words[symbol]) + called * calls
    return {source_name(symbol): kernel for symbol, kernel in found.items()}


def twin(folder, program, arch, libraries):
    made = Path(folder) / f"{program}.{arch}.twin"
    run([LLVM / "clang++", "-x", "hip", f"--offload-arch={arch}", "-nogpuinc", f"--rocm-device-lib-path={libraries}", "-O3",
         "-mcode-object-version=4", "--cuda-device-only", "--no-gpu-bundle-output", TWINS / f"{program}.hip", "-o", made])
    return kernels(made)


def ours(folder, program, arch, driver):
    made = Path(folder) / f"{program}.{arch}.ours"
    run([driver, f"--offload-arch={arch}", "-O3", "-fregrain-alternatives=none", "-c", "--cuda-device-only",
         HERE / program / f"{program}.cu", "-o", made])
    return kernels(made)


def figures(kernel, arch, threads):
    registers, shared = kernel["vgpr_count"], kernel["group_segment_fixed_size"]
    if kernel["sgpr_count"] > HARMLESS:
        raise SystemExit(f"{kernel['symbol']}: {kernel['sgpr_count']} scalar registers may limit the waves: the stub must know them")
    return dict(vgprs=registers, sgprs=kernel["sgpr_count"], spills=kernel["vgpr_spill_count"] + kernel["sgpr_spill_count"],
                scratch=kernel["private_segment_fixed_size"], lds=shared, occupancy=occupancy(arch, threads, registers, shared),
                instructions=kernel["instructions"])


# Heading and figure, and whether a ratio of it makes sense.
COLUMNS = [("VGPRs", "vgprs", True), ("SGPRs", "sgprs", True), ("spills", "spills", False), ("scratch", "scratch", False),
           ("LDS", "lds", False), ("waves", "occupancy", True), ("instructions", "instructions", True)]


def table(archs, programs, driver, libraries, geomean):
    """The lines of the table, of each kernel ours against the twin's; and what is not as it should be."""
    wrong = []
    lines = ["# Against twins in HIP", "",
             "The kernels of rodinia/ from their CUDA source at the original grain, against the same kernels ported to HIP by hand",
             "(`test/AMDGPU/twins`), compiled by `clang++-22 -x hip -O3`: ours / the twin's. VGPRs, SGPRs, spilled registers, bytes of",
             "scratch and LDS by the code objects' metadata, waves of a SIMD by LLVM for blocks as launched, instructions by `llvm-objdump`.",
             "Written by `rodinia/bench.py twins`."]
    with tempfile.TemporaryDirectory() as folder:
        for arch in archs:
            lines += ["", f"## {arch}", "", "| kernel | " + " | ".join(title for title, _, _ in COLUMNS) + " |",
                      "|---|" + "--:|" * len(COLUMNS)]
            ratios, worse = {}, 0
            for program in programs:
                sides = ours(folder, program, arch, driver), twin(folder, program, arch, libraries)
                for name, threads in BLOCKS[program].items():
                    mine, theirs = (figures(side[name], arch, threads) for side in sides)
                    worse += mine["spills"] > theirs["spills"] or mine["scratch"] > theirs["scratch"]
                    for _, key, is_ratio in COLUMNS:
                        if is_ratio:
                            ratios.setdefault(key, []).append(mine[key] / theirs[key])
                    lines.append(f"| {program} `{name}` | " + " | ".join(f"{mine[key]} / {theirs[key]}" for _, key, _ in COLUMNS) + " |")
            cells = [f"{geomean(ratios[key]):.3f}" if is_ratio else "" for _, key, is_ratio in COLUMNS]
            lines += ["| geometric mean of the ratios | " + " | ".join(cells) + " |", "",
                      f"Kernels of {arch} that spill more or have more scratch than their twin: {worse}."]
            if worse:
                wrong.append(f"{arch}: new spills in {worse} kernels")
            if abs(geomean(ratios["vgprs"]) - 1) > MOST_APART:
                wrong.append(f"{arch}: VGPRs are {geomean(ratios['vgprs']):.3f} of the twins'")
    return lines, wrong
