//! The device of a process: which one is chosen, and the CUDA device against a stand-in for NVIDIA's driver library.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

mod common;

use common::run::{Run, broken_hip, broken_libraries, run_part};
use common::{build, cuda_include};

/// The folder of the stand-in `libcuda.so.1`.
fn driver() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("libcuda");
        std::fs::create_dir_all(&folder).expect("a folder for the stand-in");
        broken_hip(&folder);
        let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
        let sources =
            ["copies.c", "images.c", "launches.c", "machine.c", "memory.c", "state.c", "streams.c", "textures.c"]
                .map(|name| tests.join("libcuda").join(name));
        let done = Command::new("cc")
            .args(["-Wall", "-Wextra", "-Werror", "-O1", "-shared", "-fPIC", "-fvisibility=hidden", "-I"])
            .arg(cuda_include())
            .arg("-I")
            .arg(tests.join("standin"))
            .arg("-o")
            .arg(folder.join("libcuda.so.1"))
            .args(sources)
            .arg(tests.join("standin/record.c"))
            .arg("-lpthread")
            .output()
            .expect("cc runs");
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        folder
    })
}

fn program() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| build("device"))
}

/// Runs a part of the program with an image and a driver, if one is given.
fn run_with(library: Option<&Path>, image: &str, part: &str, env: &[(&str, &str)]) -> Run {
    run_part(program(), "LIBCUDA_LOG", library, [image, part], env)
}

fn run(image: &str, part: &str, env: &[(&str, &str)]) -> Run {
    run_with(Some(driver()), image, part, env)
}

/// A folder with files in the place of the driver, and of AMD's, that the loader refuses.
fn broken_driver() -> &'static Path {
    static MADE: OnceLock<PathBuf> = OnceLock::new();
    MADE.get_or_init(|| broken_libraries("no-libcuda"))
}

const BOTH: &str = "set:cpu,cubin80";
/// `kind` prints: kind, count, the results of counting, allocating, launching and waiting, and what the kernel wrote.
const ON_CPU: &str = "0 1 cudaSuccess cudaSuccess cudaSuccess cudaSuccess -448\npassed\n";
const ON_CUDA: &str = "1 1 cudaSuccess cudaSuccess cudaSuccess cudaSuccess 0\npassed\n";

fn refused(kind: u32, error: &str) -> String {
    format!("{kind} 0 {error} {error} {error} {error} 1\npassed\n")
}

#[test]
fn the_gpu_is_used_where_there_is_an_image_a_driver_and_a_gpu() {
    for image in [BOTH, "fatbin", "set:cubin80", "set:gfx90a,cpu,ptx70"] {
        let run = run(image, "kind", &[]).passes();
        assert_eq!(run.out, ON_CUDA, "{image}");
        run.records(&["cuInit(0) = 0", "cuDevicePrimaryCtxRetain(0) = 0", "cuModuleLoadData", "cuLaunchKernel(add"]);
    }
}

#[test]
fn the_cpu_is_used_where_one_of_them_is_missing() {
    for (library, image, env) in [
        (driver(), "cpu", ("LIBCUDA_GPUS", "1")),
        (driver(), "none", ("LIBCUDA_GPUS", "1")),
        (driver(), "set:cpu,gfx90a", ("LIBCUDA_GPUS", "1")),
        (driver(), BOTH, ("LIBCUDA_GPUS", "0")),
        (driver(), BOTH, ("LIBCUDA_FAIL", "cuInit=100")),
        (driver(), BOTH, ("LIBCUDA_CAPABILITY", "75")),
        (driver(), BOTH, ("REGRAIN_DEVICE", "cpu")),
        (broken_driver(), BOTH, ("LIBCUDA_GPUS", "1")),
    ] {
        let run = run_with(Some(library), image, "kind", &[env, ("REGRAIN_CPU_THREADS", "1")]);
        let expected = if image == "none" {
            ON_CPU.replacen("cudaSuccess cudaSuccess -448", "cudaErrorInvalidDeviceFunction cudaSuccess 0", 1)
        } else {
            ON_CPU.into()
        };
        assert_eq!((run.out, run.err.as_str()), (expected, ""), "{image} {env:?}");
        assert!(!run.log.contains("cuDevicePrimaryCtxRetain"), "{}", run.log);
    }
}

#[test]
fn what_is_forced_and_cannot_be_had_is_said() {
    let cuda = ("REGRAIN_DEVICE", "cuda");
    for (library, image, env, error, says) in [
        (
            broken_driver(),
            BOTH,
            ("LIBCUDA_GPUS", "1"),
            "cudaErrorInsufficientDriver",
            "REGRAIN_DEVICE=cuda: no NVIDIA driver library; tried libcuda.so.1: ",
        ),
        (
            driver(),
            BOTH,
            ("LIBCUDA_GPUS", "0"),
            "cudaErrorNoDevice",
            "finds no GPU (cuDeviceGetCount gives 0); the program holds: cpu, cubin sm_80",
        ),
        (
            driver(),
            BOTH,
            ("LIBCUDA_FAIL", "cuInit=803"),
            "cudaErrorSystemDriverMismatch",
            "cuInit answers with error 803 (cudaErrorSystemDriverMismatch)",
        ),
        (
            driver(),
            BOTH,
            ("LIBCUDA_CAPABILITY", "75"),
            "cudaErrorNoKernelImageForDevice",
            "no image of the program fits the GPUs of this machine (sm_75); the program holds: cpu, cubin sm_80",
        ),
        (
            driver(),
            "cpu",
            ("LIBCUDA_GPUS", "1"),
            "cudaErrorInvalidKernelImage",
            "REGRAIN_DEVICE=cuda: the program has no image for this device; the program holds: cpu",
        ),
    ] {
        let run = run_with(Some(library), image, "kind", &[cuda, env]);
        assert_eq!(run.out, refused(0, error), "{env:?} {}", run.err);
        assert!(run.err.contains(says), "{}", run.err);
        assert_eq!(run.err.lines().count(), 1, "{}", run.err);
    }
}

#[test]
fn a_device_that_is_unknown_or_has_no_image_is_said() {
    let unknown = run(BOTH, "kind", &[("REGRAIN_DEVICE", "gpu")]);
    assert_eq!(unknown.out, refused(0, "cudaErrorNoDevice"));
    assert_eq!(unknown.err, "regrain runtime: error: REGRAIN_DEVICE: expected one of cuda, hip, cpu, got 'gpu'\n");
    let no_cpu = run("set:cubin80", "kind", &[("REGRAIN_DEVICE", "cpu")]);
    assert_eq!(no_cpu.out, refused(0, "cudaErrorInvalidKernelImage"));
    assert_eq!(
        no_cpu.err,
        "regrain runtime: error: REGRAIN_DEVICE=cpu: the program has no image for this device; the program holds: cubin sm_80\n"
    );
    // Nothing is forced, and the program can run on a GPU alone.
    let no_gpu = run("fatbin", "kind", &[("LIBCUDA_GPUS", "0")]);
    assert_eq!(no_gpu.out, refused(0, "cudaErrorNoDevice"));
    assert!(no_gpu.err.contains("the program holds: NVIDIA fat binary"), "{}", no_gpu.err);
    let foreign = run("set:object", "kind", &[]);
    assert_eq!(foreign.out, refused(0, "cudaErrorInvalidKernelImage"));
    assert!(foreign.err.contains("object for riscv64-unknown-elf object"), "{}", foreign.err);
    // Code for two kinds of GPU, and neither is there: both are named.
    let neither = run("set:cubin80,gfx90a", "kind", &[("LIBCUDA_GPUS", "0")]);
    assert_eq!(neither.out, refused(0, "cudaErrorNoDevice"));
    for says in [
        "the NVIDIA driver library is there, but finds no GPU (cuDeviceGetCount gives 0); ",
        "no AMD HIP library; tried libamdhip64.so.7: ",
        "; the program holds: cubin sm_80, code object gfx90a",
    ] {
        assert!(neither.err.contains(says), "{}", neither.err);
    }
}

#[test]
fn a_broken_image_set_is_said_and_not_read() {
    let run = run("set:broken", "kind", &[]);
    assert!(run.err.contains("the offload binary at byte 0 of an image set is cut short"), "{}", run.err);
    assert!(run.out.contains("cudaErrorInvalidKernelImage"), "{}", run.out);
}

#[test]
fn the_image_that_fits_a_gpu_best_is_loaded() {
    let set = "set:cpu,cubin80,ptx70,cubin86,cubin90a";
    for (capability, loaded) in [("80", "cubin"), ("89", "cubin"), ("90", "cubin"), ("100", "ptx"), ("75", "ptx")] {
        let run = run(set, "kind", &[("LIBCUDA_CAPABILITY", capability)]).passes();
        run.records(&[&format!("cuModuleLoadData({loaded}) = 0"), "cuLaunchKernel(add"]);
        assert_eq!(run.counts("cuModuleLoadData"), 1);
    }
    // One GPU of two has an image: the other's launches say what there is.
    let mixed = run("set:cubin80", "gpus", &[("LIBCUDA_GPUS", "2"), ("LIBCUDA_CAPABILITY", "80,75")]);
    assert!(mixed.err.contains("no image for a GPU of sm_75; there is: cubin sm_80"), "{}", mixed.err);
    assert!(mixed.out.contains("no kernel image is available for execution on the device"), "{}", mixed.out);
}

#[test]
fn memory_is_allocated_copied_and_freed() {
    let run = run(BOTH, "memory", &[]).passes();
    run.records(&[
        "cuMemAlloc(4000) = 0",
        "cuMemcpyHtoD(4000) = 0",
        "cuMemcpy(4000) = 0",
        "cuMemsetD8(255, 4000) = 0",
        "cuMemcpyDtoHAsync(4000, legacy) = 0",
        "cuMemcpy2DUnaligned(28, 10) = 0",
        "cuMemcpy2DAsync(28, 10, per-thread) = 0",
        "cuMemcpy3D(8, 4, 3) = 0",
        "cuMemPrefetchAsync_v2(64, 1:0, 0, legacy) = 0",
        "cuMemPrefetchAsync_v2(64, 2:0, 0, legacy) = 0",
        "cuMemHostAlloc(64, 2) = 0",
        "cuMemAllocAsync(64, per-thread) = 0",
        "cuMemAlloc(1073741825) = 2",
    ]);
    assert_eq!(self::run("cpu", "memory", &[]).out, "passed\n");
}

#[test]
fn wrong_pointers_and_handles_get_the_errors_of_the_driver() {
    let run = run(BOTH, "misuse", &[]);
    assert_eq!((run.out.as_str(), run.err.as_str()), ("passed\n", ""), "{}", run.log);
    assert_eq!(run.counts("MISUSE"), 5, "{}", run.log);
    assert_eq!(self::run("cpu", "misuse", &[]).out, "passed\n");
}

#[test]
fn each_spelling_of_a_function_uses_its_own_default_stream() {
    let run = run(BOTH, "streams", &[]).passes();
    run.records(&[
        "cuStreamCreateWithPriority(0, 0) = 0",
        "cuStreamCreateWithPriority(1, -9) = 0",
        "cuMemcpyHtoDAsync(4, stream0) = 0",
        "cuLaunchKernel(add, grid 2 1 1, block 32 1 1, shared 0, stream0",
        "cuLaunchKernel(add, grid 2 1 1, block 32 1 1, shared 0, legacy",
        "cuLaunchKernel(add, grid 1 1 1, block 1 1 1, shared 0, per-thread",
        "cuLaunchKernel(add, grid 1 1 1, block 1 1 1, shared 0, legacy",
        "cuMemcpyDtoHAsync(4, per-thread) = 0",
        "cuStreamSynchronize(per-thread) = 0",
        "cuMemsetD8Async(0, 4, per-thread) = 0",
        "cuStreamSynchronize(per-thread) = 0",
        "cuMemcpyHtoDAsync(4, per-thread) = 0",
        "cuMemcpyHtoDAsync(4, per-thread) = 0",
        "cuStreamSynchronize(legacy) = 0",
        "cuEventRecord(stream0) = 0",
        "cuEventRecord(per-thread) = 0",
        "cuStreamWaitEvent(stream1, 0) = 0",
        "cuLaunchHostFunc(stream0) = 0",
    ]);
}

#[test]
fn variables_are_found_in_the_module() {
    let run = run(BOTH, "symbols", &[]).passes();
    run.records(&["cuModuleGetGlobal(scale) = 0", "cuMemcpyHtoD(16) = 0", "cuMemcpyDtoH(8) = 0"]);
    assert_eq!(run.counts("cuModuleLoadData"), 1);
    assert_eq!(self::run("cpu", "symbols", &[]).out, "passed\n");
}

#[test]
fn launches_hand_over_shape_stream_and_arguments() {
    let run = run(BOTH, "launches", &[]).passes();
    run.records(&[
        "cuLaunchKernel(add, grid 4 5 6, block 8 4 2, shared 128, legacy, args device -7 0 11) = 0",
        "cuLaunchCooperativeKernel(add, grid 2 1 1, block 64 1 1, shared 0, per-thread, args device -7 0 11) = 0",
        "cuLaunchKernel(only_gpu, grid 1 1 1, block 1 1 1, shared 0, legacy, args 0x102...) = 0",
        "cuLaunchKernelEx[4:2](add, grid 4 1 1, block 32 1 1, shared 0, legacy, args device -7 0 11) = 0",
        "cuLaunchCooperativeKernel(add, grid 4 1 1, block 32 1 1",
        "cuModuleGetFunction(only_cpu) = 500",
        "cuModuleGetFunction(nowhere) = 500",
        "shared 60000, legacy, args = 1",
        "cuFuncSetAttribute(8, 65536) = 0",
        "shared 60000, legacy, args device -7 0 11) = 0",
    ]);
    assert_eq!(run.counts("cuModuleLoadData"), 1);
    assert_eq!(run.counts("cuModuleGetFunction(add)"), 1);
}

#[test]
fn the_failure_of_a_kernel_stays_until_the_gpu_is_reset() {
    run(BOTH, "sticky", &[("LIBCUDA_KERNEL_FAIL", "add=719")]).passes();
    let run =
        run(BOTH, "told", &[("LIBCUDA_FAIL", "cuMemAlloc=2@1,cuStreamCreateWithPriority=202,cuLaunchKernel=701")]);
    run.passes();
}

#[test]
fn a_reset_forgets_modules_and_memory() {
    let run = run(BOTH, "reset", &[]).passes();
    run.records(&[
        "cuModuleLoadData",
        "cuDevicePrimaryCtxReset(0) = 0",
        "cuDevicePrimaryCtxRetain(0) = 0",
        "cuModuleLoadData",
    ]);
}

#[test]
fn several_gpus_and_threads_have_contexts_of_their_own() {
    let run = run(BOTH, "gpus", &[("LIBCUDA_GPUS", "2")]);
    assert_eq!((run.out.as_str(), run.err.as_str()), ("passed\n", ""), "{}", run.log);
    run.records(&[
        "g0 cuMemAlloc(4) = 0",
        "g1 cuMemAlloc(4) = 0",
        "g1 cuMemcpyPeer(1, 0, 4) = 0",
        "g1 cuModuleLoadData",
    ]);
    let threads = self::run(BOTH, "threads", &[("LIBCUDA_GPUS", "2")]).passes();
    assert_eq!(threads.counts("cuLaunchKernel(add"), 80);
    assert_eq!((threads.counts("cuModuleLoadData"), threads.counts("cuDevicePrimaryCtxRetain")), (2, 2));
}

#[test]
fn managed_variables_are_there_before_the_first_call() {
    assert_eq!(run("set:cpu,managed80", "managed", &[]).passes().out, "type 3\npassed\n");
    assert_eq!(run("set:cpu,managed80", "managed", &[("REGRAIN_DEVICE", "cpu")]).passes().out, "type 2\npassed\n");
    let two = run("set:managed80", "managed", &[("LIBCUDA_GPUS", "2")]);
    assert_eq!(two.out, "type 3\npassed\n");
    assert_eq!(two.err, "regrain runtime: error: an image with managed variables runs on one GPU alone\n");
}

#[test]
fn launches_on_the_gpu_are_timed_by_its_events() {
    let database = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("profiled-{}", std::process::id()));
    let run = run(BOTH, "profiled", &[("REGRAIN_TUNING_DB", database.to_str().expect("a path of UTF-8"))]).passes();
    run.records(&["cuStreamIsCapturing(stream", "cuEventRecord(stream", "cuLaunchKernel(add", "cuEventRecord(stream"]);
    let found = regrain_tuning::database::Database::open(&database).expect("a database");
    let _ = std::fs::remove_file(&database);
    let shapes = found.shapes();
    let samples: Vec<_> = shapes.iter().flat_map(|shape| shape.candidates.values()).collect();
    assert_eq!((shapes.len(), samples.len()), (1, 2));
    assert_eq!(shapes[0].launches, 40);
}

#[test]
fn images_that_come_after_the_choice_are_said_to_be_of_no_use() {
    let late = run("set:cubin80", "early", &[]);
    assert!(late.out.contains("0 1 cudaSuccess cudaSuccess cudaErrorInvalidKernelImage"), "{}", late.out);
    assert!(
        late.err.contains("images (cubin sm_80) were registered after a CUDA call had chosen the device 'cpu'"),
        "{}",
        late.err
    );
    assert_eq!(run("set:cubin80", "early", &[("REGRAIN_DEVICE", "cuda")]).passes().out, ON_CUDA);
    assert_eq!(run(BOTH, "early", &[]).passes().out, ON_CPU);
}

#[test]
fn arrays_hold_elements_of_several_channels() {
    let run = run(BOTH, "arrays", &[]).passes();
    run.records(&[
        "cuArray3DCreate(5, 3, 0, 32:2, 0) = 0",
        "cuMemcpy2DUnaligned(40, 3) = 0",
        "cuMemcpy2DAsync(16, 2, legacy) = 0",
        "cuMemcpy3D(32, 3, 2) = 0",
        "cuMemcpy3D(16, 2, 1) = 0",
        "cuArrayDestroy = 0",
        "cuArray3DCreate(4, 3, 2, 32:2, 1) = 0",
        "cuArray3DCreate(4, 4, 6, 32:2, 4) = 0",
    ]);
    assert_eq!(self::run("cpu", "arrays", &[]).out, "passed\n");
}

#[test]
fn textures_and_surfaces_hand_over_what_they_are_made_of() {
    let run = run(BOTH, "textures", &[]).passes();
    run.records(&[
        "cuArray3DCreate(8, 4, 0, 1:4, 2) = 0",
        "cuTexObjectCreate(array, address 2 3 0, filter 1, flags 0x12, anisotropy 3, levels 0 0 0 0, \
         border 0 0.25 0.5 0.75, view 6 8 4 0 levels 0 0 layers 0 0) = 0",
        "cuSurfObjectCreate(array) = 0",
        "cuSurfObjectDestroy = 0",
        "cuTexObjectDestroy = 0",
        "cuSurfObjectCreate(array) = 1",
        "cuTexObjectCreate(pitched 10:1 10 3 512, address 1 1 1, filter 0, flags 0x1, anisotropy 0, levels 0 0 0 0, \
         border 0 0 0 0, no view) = 0",
        "cuTexObjectCreate(linear 10:1 64, address 1 1 1, filter 1, flags 0x1, anisotropy 0, levels 0 0 0 0, \
         border 0 0 0 0, no view) = 0",
        "cuMipmappedArrayCreate(8, 4, 0, 32:1, 2, 3) = 0",
        "cuMipmappedArrayGetLevel(1) = 0",
        "cuMipmappedArrayGetLevel(3) = 1",
        "cuTexObjectCreate(mipmap, address 0 0 0, filter 1, flags 0x62, anisotropy 0, levels 1 0.5 0.25 1.5, \
         border 0 0 0 0, view 0 4 2 0 levels 1 2 layers 0 0) = 0",
        "cuSurfObjectCreate(array) = 0",
        "cuMipmappedArrayDestroy = 0",
        "cuTexObjectCreate(array, address 1 1 1, filter 0, flags 0x1,",
    ]);
    assert_eq!(run.counts("cuTexObjectCreate"), 5);
    assert_eq!(self::run("cpu", "textures", &[]).out, "passed\n");
}
