//! The HIP device against a stand-in for AMD's library, which carries calls out on the CPU.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

mod common;

use common::run::{Run, broken_libraries, run_part};
use common::{build, cuda_include, library};

/// Room in the static block of thread-local storage for what the stand-in has there: it is loaded late.
const STATIC_TLS: (&str, &str) = ("GLIBC_TUNABLES", "glibc.rtld.optional_static_tls=1000000");

/// A command that builds something in the folder of the tests.
fn finished(command: &mut Command) {
    let done = command.current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests")).output().expect("it runs");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

/// The folder of the stand-in `libamdhip64.so.7`.
fn stand_in() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("libamdhip64");
        finished(Command::new("sh").arg("libamdhip64/build.sh").arg(cuda_include()).arg(library()).arg(&folder));
        folder
    })
}

/// The folder of a shared object with kernels that print, fail and trap.
fn printing() -> &'static str {
    static BUILT: OnceLock<String> = OnceLock::new();
    BUILT.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("libamdhip64-modules");
        std::fs::create_dir_all(&folder).expect("a folder for the shared object");
        let mut compiler = Command::new("/usr/lib/llvm-22/bin/clang++");
        compiler.args(["-O1", "-std=c++17", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-I"]);
        compiler.arg(cuda_include()).args(["programs/printing.cpp", "-o"]).arg(folder.join("printing.so"));
        finished(&mut compiler);
        folder.to_str().expect("a path of UTF-8").into()
    })
}

/// A program of `tests/programs`.
fn program(name: &'static str) -> &'static Path {
    static DEVICE: OnceLock<PathBuf> = OnceLock::new();
    static HIP: OnceLock<PathBuf> = OnceLock::new();
    if name == "device" { DEVICE.get_or_init(|| build(name)) } else { HIP.get_or_init(|| build(name)) }
}

fn run_with(library: &Path, name: &'static str, image: &str, part: &str, env: &[(&str, &str)]) -> Run {
    let env = [&[STATIC_TLS], env].concat();
    run_part(program(name), "LIBAMDHIP64_LOG", Some(library), [image, part], &env)
}

fn run(name: &'static str, image: &str, part: &str, env: &[(&str, &str)]) -> Run {
    run_with(stand_in(), name, image, part, env)
}

const BOTH: &str = "set:cpu,gfx90a";
/// `kind` prints: kind, count, the results of counting, allocating, launching and waiting, and what the kernel wrote.
const ON_HIP: &str = "2 1 cudaSuccess cudaSuccess cudaSuccess cudaSuccess 0\npassed\n";
const ON_CPU: &str = "0 1 cudaSuccess cudaSuccess cudaSuccess cudaSuccess -448\npassed\n";

#[test]
fn the_gpu_is_used_where_there_is_an_image_a_library_and_a_gpu() {
    for image in [BOTH, "set:gfx90a", "set:cubin80,gfx1030,gfx90a,cpu"] {
        let run = run("device", image, "kind", &[]).passes();
        assert_eq!(run.out, ON_HIP, "{image}");
        run.records(&["hipInit(0) = 0", "hipModuleLoadData(gfx90a) = 0", "hipModuleLaunchKernel(add"]);
    }
}

#[test]
fn the_cpu_is_used_where_one_of_them_is_missing() {
    let broken = broken_libraries("no-libamdhip64");
    for (library, image, env) in [
        (stand_in(), "cpu", ("LIBAMDHIP64_GPUS", "1")),
        (stand_in(), BOTH, ("LIBAMDHIP64_GPUS", "0")),
        (stand_in(), BOTH, ("LIBAMDHIP64_FAIL", "hipGetDeviceCount=100")),
        (stand_in(), BOTH, ("LIBAMDHIP64_ARCH", "gfx1030")),
        (stand_in(), BOTH, ("REGRAIN_DEVICE", "cpu")),
        (broken.as_path(), BOTH, ("LIBAMDHIP64_GPUS", "1")),
    ] {
        let run = run_with(library, "device", image, "kind", &[env, ("REGRAIN_CPU_THREADS", "1")]);
        assert_eq!((run.out.as_str(), run.err.as_str()), (ON_CPU, ""), "{image} {env:?}");
    }
}

#[test]
fn what_is_forced_and_cannot_be_had_is_said() {
    let broken = broken_libraries("no-libamdhip64");
    for (library, image, env, error, says) in [
        (
            broken.as_path(),
            BOTH,
            ("LIBAMDHIP64_GPUS", "1"),
            "cudaErrorInsufficientDriver",
            "REGRAIN_DEVICE=hip: no AMD HIP library; tried libamdhip64.so.7: ",
        ),
        (
            stand_in(),
            BOTH,
            ("LIBAMDHIP64_GPUS", "0"),
            "cudaErrorNoDevice",
            "AMD's HIP library (libamdhip64.so.7) is there, but finds no GPU (hipInit answers with 100); \
             the program holds: cpu, code object gfx90a",
        ),
        (
            stand_in(),
            BOTH,
            ("LIBAMDHIP64_FAIL", "hipInit=3"),
            "cudaErrorInitializationError",
            "AMD's HIP library (libamdhip64.so.7) is there, but hipInit answers with error 3 (cudaErrorInitializationError)",
        ),
        (
            stand_in(),
            "set:gfx90a,gfx1100",
            ("LIBAMDHIP64_ARCH", "gfx1030"),
            "cudaErrorNoKernelImageForDevice",
            "no image of the program fits the AMD GPUs of this machine (gfx1030); the program holds: \
             code object gfx90a, code object gfx1100",
        ),
    ] {
        let run = run_with(library, "device", image, "kind", &[("REGRAIN_DEVICE", "hip"), env]);
        assert_eq!(run.out, format!("0 0 {error} {error} {error} {error} 1\npassed\n"), "{env:?} {}", run.err);
        assert!(run.err.contains(says), "{}", run.err);
        assert_eq!(run.err.lines().count(), 1, "{}", run.err);
    }
}

#[test]
fn the_code_object_that_fits_a_gpu_is_loaded() {
    let set = "set:gfx1030,gfx90a:xnack+,gfx90a,gfx1100";
    for (name, loaded) in [("gfx1100", "gfx1100"), ("gfx90a:sramecc+:xnack-", "gfx90a"), ("gfx1030", "gfx1030")] {
        for rocm in ["5", "6", "7"] {
            let env = [("LIBAMDHIP64_ARCH", name), ("LIBAMDHIP64_ROCM", rocm)];
            let run = run("device", set, "kind", &env).passes();
            run.records(&[&format!("hipModuleLoadData({loaded}) = 0"), "hipModuleLaunchKernel(add"]);
            assert_eq!(run.counts("hipModuleLoadData"), 1, "{}", run.log);
        }
    }
    // A GPU whose name cannot be had is offered one after the other.
    for (rocm, code) in [("5", 218), ("7", 209)] {
        let env = [("LIBAMDHIP64_ARCH", "gfx1100"), ("LIBAMDHIP64_NAMELESS", "1"), ("LIBAMDHIP64_ROCM", rocm)];
        let nameless = run("device", "set:gfx1030,gfx90a,gfx1100", "kind", &env).passes();
        nameless.records(&[
            &format!("hipModuleLoadData(gfx1030) = {code}"),
            &format!("hipModuleLoadData(gfx90a) = {code}"),
            "hipModuleLoadData(gfx1100) = 0",
        ]);
        let none = run("device", "set:gfx1030", "kind", &env);
        assert_eq!(
            none.err,
            format!(
                "regrain runtime: error: no image for an AMD GPU of unknown name; there is: code object gfx1030; \
                 HIP refuses the code object gfx1030 with error {code}\n"
            )
        );
    }
    // One GPU of two has an image: the other's launches say what there is.
    let mixed =
        run("device", "set:gfx90a", "gpus", &[("LIBAMDHIP64_GPUS", "2"), ("LIBAMDHIP64_ARCH", "gfx90a,gfx906")]);
    assert!(mixed.err.contains("no image for an AMD GPU of gfx906; there is: code object gfx90a"), "{}", mixed.err);
    assert!(mixed.out.contains("no kernel image is available for execution on the device"), "{}", mixed.out);
}

#[test]
fn memory_is_allocated_copied_and_freed_with_every_version() {
    for rocm in ["5", "6", "7"] {
        let run = run("device", BOTH, "memory", &[("LIBAMDHIP64_ROCM", rocm)]).passes();
        run.records(&[
            "hipMalloc(4000) = 0",
            "hipMemcpy(4000, 1) = 0",
            "hipMemsetD8(255, 4000) = 0",
            "hipMemcpyAsync(4000, 2, legacy) = 0",
            "hipMemcpy2D(28, 10) = 0",
            "hipMemcpy2DAsync(28, 10, per-thread) = 0",
            "hipMemcpy3D(8, 4, 3) = 0",
            "hipMemPrefetchAsync(64, 0, legacy) = 0",
            "hipMemPrefetchAsync(64, -1, legacy) = 0",
            "hipHostMalloc(64, 0x2) = 0",
            "hipMallocAsync(64, per-thread) = 0",
        ]);
    }
}

#[test]
fn arrays_streams_and_symbols_are_hips_own() {
    run("device", BOTH, "arrays", &[]).passes().records(&[
        "hipMallocArray(5, 3, 0) = 0",
        "hipMemcpy2DToArray(40, 3) = 0",
        "hipMemcpy2DFromArrayAsync(16, 2, legacy) = 0",
        "hipMalloc3DArray(4, 3, 2, 0) = 0",
        "hipFreeArray = 0",
    ]);
    run("device", BOTH, "streams", &[]).passes().records(&[
        "hipStreamCreateWithPriority(1, -9) = 0",
        "hipModuleLaunchKernel(add, grid 2 1 1, block 32 1 1, shared 0, stream",
        "hipModuleLaunchKernel(add, grid 1 1 1, block 1 1 1, shared 0, per-thread",
        "hipModuleLaunchKernel(add, grid 1 1 1, block 1 1 1, shared 0, legacy",
        "hipStreamSynchronize(per-thread) = 0",
        "hipLaunchHostFunc(stream) = 0",
        "hipStreamAddCallback(stream) = 0",
    ]);
    run("device", BOTH, "symbols", &[]).passes().records(&["hipModuleGetGlobal(scale) = 0", "hipMemcpy(16, 1) = 0"]);
    assert_eq!(run("device", BOTH, "misuse", &[]).out, "passed\n");
}

#[test]
fn launches_hand_over_shape_stream_and_arguments() {
    let run = run("hip", BOTH, "launches", &[]).passes();
    run.records(&[
        "hipModuleLaunchKernel(add, grid 4 5 6, block 8 4 2, shared 128, legacy, args device -7 0 11) = 0",
        "hipModuleLaunchKernel(add, grid 1 1 1, block 1 1 1, shared 0, legacy, args device -7 0 11) = 0",
        "hipModuleLaunchCooperativeKernel(add, grid 2 1 1, block 64 1 1, shared 0, per-thread, args device -7 0 11) = 0",
        "hipModuleLaunchKernel(add, grid 4 1 1, block 32 1 1",
        "hipModuleLaunchCooperativeKernel(add, grid 4 1 1, block 32 1 1",
        "hipModuleGetFunction(only_cpu) = 500",
        "shared 60000, legacy, args device -7 0 11) = 0",
    ]);
    assert_eq!(run.counts("hipModuleLoadData"), 1);
    assert_eq!(run.counts("hipModuleGetFunction(add)"), 1);
}

#[test]
fn figures_are_cudas_and_warps_have_32_threads() {
    for rocm in ["5", "7"] {
        self::run("hip", BOTH, "figures", &[("LIBAMDHIP64_ROCM", rocm)]).passes();
    }
}

#[test]
fn failures_stay_until_the_gpu_is_reset() {
    run("device", BOTH, "sticky", &[("LIBAMDHIP64_KERNEL_FAIL", "add=719")]).passes();
    let told = "hipMalloc=2@1,hipStreamCreateWithPriority=202,hipModuleLaunchKernel=701";
    run("device", BOTH, "told", &[("LIBAMDHIP64_FAIL", told)]).passes();
    run("device", BOTH, "reset", &[]).passes().records(&[
        "hipModuleLoadData",
        "hipModuleUnload = 0",
        "hipDeviceReset = 0",
        "hipModuleLoadData",
    ]);
}

#[test]
fn several_gpus_and_threads_are_kept_apart() {
    let gpus = run("device", BOTH, "gpus", &[("LIBAMDHIP64_GPUS", "2")]);
    assert_eq!((gpus.out.as_str(), gpus.err.as_str()), ("passed\n", ""), "{}", gpus.log);
    gpus.records(&["g0 hipMalloc(4) = 0", "g1 hipMalloc(4) = 0", "g1 hipMemcpyPeer(1, 0, 4) = 0"]);
    let threads = run("device", BOTH, "threads", &[("LIBAMDHIP64_GPUS", "2")]).passes();
    assert_eq!((threads.counts("hipModuleLaunchKernel(add"), threads.counts("hipModuleLoadData")), (80, 2));
}

#[test]
fn managed_variables_are_there_before_the_first_call() {
    assert_eq!(run("device", "set:amdmanaged90a", "managed", &[]).passes().out, "type 3\npassed\n");
}

/// What `count` lines of the printing kernel are.
fn lines(count: usize) -> String {
    (0..count).map(|line| format!("line {line} of add: {line}.5\n")).collect()
}

#[test]
fn what_kernels_print_is_shown_when_work_was_waited_for() {
    let run = run("hip", "set:output90a", "printing", &[("STANDIN_HIP_MODULES", printing())]);
    // 1,024 bytes hold twelve records of 80.
    let expected = ["before\n", &lines(3), "between\n", &lines(12), "again\n", &lines(1), "after\npassed\n", &lines(2)];
    assert_eq!((run.out, run.err.as_str()), (expected.concat(), ""), "{}", run.log);
    assert!(!run.log.contains("MISUSE"), "{}", run.log);
}

#[test]
fn assertions_and_traps_fail_the_kernel_as_in_cuda() {
    let env = [("STANDIN_HIP_MODULES", printing())];
    let asserting = run("hip", "set:output90a", "asserting", &env);
    assert_eq!(asserting.out, lines(1) + "passed\n", "{}", asserting.log);
    assert_eq!(asserting.err, "a.cu:7: void k(int): block: [1,0,2], thread: [3,0,0] Assertion `x > 0` failed.\n");
    let trapping = run("hip", "set:output90a", "trapping", &env);
    assert_eq!((trapping.out, trapping.err.as_str()), (lines(1) + "passed\n", ""), "{}", trapping.log);
}
