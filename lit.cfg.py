"""Configuration of lit for the tests of Regrain: `lit test` from the root of the repository."""

import ctypes.util
import os
import platform
import shutil
import subprocess
import sys

import lit.util

root = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(root, "test"))
from test_format import RemovingShTest  # beside the tests, where lit's workers find it by its name

llvm = os.environ.get("MLIR_SYS_220_PREFIX", "/usr/lib/llvm-22")
tools = os.path.join(llvm, "bin")
built = os.environ.get("REGRAIN_BUILD", os.path.join(root, "target", "release"))

config.name = "regrain"
config.test_format = RemovingShTest(execute_external=False)
config.suffixes = [".mlir", ".cu", ".ll", ".test"]
config.excludes = ["Inputs", "target", "build", ".toolchain", "crates", "passes", "rodinia"]
config.test_source_root = root
config.test_exec_root = os.path.join(root, "build", "lit")

config.environment["PATH"] = os.pathsep.join([tools, os.environ.get("PATH", "")])
for name in ["HOME", "CUDA_PATH", "REGRAIN_CPU_MODE", "LD_LIBRARY_PATH"]:
    if name in os.environ:
        config.environment[name] = os.environ[name]

# What a search finds must not depend on the machine's load, and what passes make must be valid after each of them.
config.environment["REGRAIN_APPEND_FLAGS"] = "-fregrain-search-budget=none"
config.environment["REGRAIN_VERIFY_EACH"] = "1"

# REGRAIN_LIT_EMULATE=sm_80: programs for the CPU run what is shipped for that chip. Of use for test/integration.
if "REGRAIN_LIT_EMULATE" in os.environ:
    config.environment["REGRAIN_APPEND_FLAGS"] += " -fregrain-emulate=" + os.environ["REGRAIN_LIT_EMULATE"]

# tools/sanitize.sh: with the runtime that it has built, and host code like it.
if "REGRAIN_LIT_SANITIZER" in os.environ:
    config.environment["REGRAIN_APPEND_FLAGS"] += " -fsanitize=" + os.environ["REGRAIN_LIT_SANITIZER"]
    for name in ["REGRAIN_LIB_DIR", "ASAN_OPTIONS", "LSAN_OPTIONS", "TSAN_OPTIONS"]:
        if name in os.environ:
            config.environment[name] = os.environ[name]

# A longer name must come before one that it begins with.
substitutions = {
    "%regrain-nvcc": os.path.join(built, "regrain-nvcc"),
    "%regrain-images": os.path.join(built, "regrain-images"),
    "%regrain-opt": os.path.join(built, "regrain-opt"),
    "%regrain-profiler": os.path.join(built, "libregrain_profiler.a"),
    "%regrain-plugin": os.path.join(built, "libregrain_plugin.so"),
    "%regrain-runtime": os.path.join(built, "libregrain_rt.a"),
    "%regrain-tune": os.path.join(built, "regrain-tune"),
    "%regrain": os.path.join(built, "regrain"),
    "%mlir-opt": os.path.join(tools, "mlir-opt"),
    "%mlir-tblgen": os.path.join(tools, "mlir-tblgen"),
    "%opt": os.path.join(tools, "opt"),
    "%llc": os.path.join(tools, "llc"),
    "%root": root,
    "%llvm-include": os.path.join(llvm, "include"),
    "%clang-headers": os.path.join(llvm, "lib/clang/22/include"),
}
for name in sorted(substitutions, key=len, reverse=True):
    config.substitutions.append((name, substitutions[name]))

toolkits = [os.environ.get("CUDA_PATH", ""), "/usr/local/cuda", os.path.join(root, ".toolchain/cuda")]
for path in toolkits:
    if path and os.path.exists(os.path.join(path, "bin", "ptxas")):
        config.available_features.add("cuda-toolkit")
        config.substitutions.append(("%ptxas", os.path.join(path, "bin", "ptxas")))
        config.substitutions.append(("%libdevice", os.path.join(path, "nvvm/libdevice/libdevice.10.bc")))
        # Builds the stand-in for NVIDIA's driver library in the folder named behind it.
        stand_in = f"sh {root}/test/driver/Inputs/stand_in.sh {root}/crates/runtime/tests/libcuda {path}/include"
        config.substitutions.insert(0, ("%make-libcuda", stand_in))
        # Likewise for AMD's HIP library; a program that is run against it needs the room that the second gives.
        hip = f"sh {root}/crates/runtime/tests/libamdhip64/build.sh {path}/include {built}/libregrain_rt.a"
        config.substitutions.insert(0, ("%make-libamdhip64", hip))
        config.substitutions.insert(0, ("%static-tls", "GLIBC_TUNABLES=glibc.rtld.optional_static_tls=1000000"))
        break

# NVIDIA's own compiler, to compare with: tools/bootstrap.sh fetches it.
nvcc = os.path.join(root, ".toolchain/nvcc13/bin/nvcc")
if os.path.exists(nvcc):
    config.available_features.add("nvcc")
    config.substitutions.append(("%nvcc", nvcc))
    config.substitutions.insert(0, ("%cuda13", os.path.join(root, ".toolchain/nvcc13")))
config.substitutions.append(("%python", sys.executable))

# AMD's device libraries, where `targets::amdgpu::rocm` looks for them.
rocm = [os.environ.get("REGRAIN_ROCM_DEVICE_LIB_PATH", "")]
rocm += [os.path.join(path, "amdgcn/bitcode") for path in [os.environ.get("ROCM_PATH", ""), "/opt/rocm"]]
rocm += [f"/usr/lib/{machine}-linux-gnu/amdgcn/bitcode" for machine in ["x86_64", "aarch64"]]
if any(os.path.exists(os.path.join(path, "ocml.bc")) for path in rocm):
    config.available_features.add("rocm-device-libs")
config.available_features.add("host-" + platform.machine())

# The feature `gdb`: a debugger that may start programs here, which containers can forbid, and call their functions, which it cannot where it does
# not know all of the processor's state. A runtime that is built with a sanitizer has lines, which a debugger of the program would step into.
if shutil.which("gdb") and "REGRAIN_LIT_SANITIZER" not in os.environ:
    asked_of_gdb = ["catch syscall exit_group", "run", "print (int)getpid()", "kill"]
    commands = [word for command in asked_of_gdb for word in ("-ex", command)]
    started = subprocess.run(
        ["gdb", "-nx", "-batch", *commands, "--args", sys.executable, "-c", "pass"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    if "$1 = " in started.stdout:
        config.available_features.add("gdb")

# The feature `libamdhip64`: AMD's own library is here, and no GPU for it.
if ctypes.util.find_library("amdhip64") and not os.path.exists("/dev/kfd"):
    config.available_features.add("libamdhip64")

# The feature `gpu`: a CUDA device that the driver can be asked about, in a process of its own because a driver does not survive a
# fork. test/gpu runs the programs of test/integration on it.
ASK_DRIVER = """
import ctypes
cuda = ctypes.CDLL("libcuda.so.1")
count, major, minor = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
if cuda.cuInit(0) == 0 and cuda.cuDeviceGetCount(ctypes.byref(count)) == 0 and count.value > 0:
    cuda.cuDeviceGetAttribute(ctypes.byref(major), 75, 0)
    cuda.cuDeviceGetAttribute(ctypes.byref(minor), 76, 0)
    print(f"sm_{major.value}{minor.value}")
"""


def find_gpu():
    """The architecture of the first GPU, or an empty string. REGRAIN_LIT_GPU=sm_80 says that there is one of that kind, for tests."""
    if "REGRAIN_LIT_GPU" in os.environ:
        return os.environ["REGRAIN_LIT_GPU"]
    if not any(os.path.exists(path) for path in ["/dev/nvidiactl", "/dev/dxg"]):
        return ""
    asked = subprocess.run([sys.executable, "-c", ASK_DRIVER], capture_output=True, text=True, timeout=60, check=False)
    return asked.stdout.strip()


config.gpu_arch = find_gpu()
if config.gpu_arch:
    config.available_features.add("gpu")
else:
    config.excludes.append("gpu")  # lit warns of a suite without tests
# Likewise test/hip: programs for AMD's GPUs can be made and run here.
config.runs_hip = {"cuda-toolkit", "rocm-device-libs", "host-x86_64"} <= config.available_features
if not config.runs_hip:
    config.excludes.append("hip")
