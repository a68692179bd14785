//! Compiles the device libraries to LLVM bitcode: `device-lib/common/*.c` with those of one target, for the host to
//! `$OUT_DIR/cpu_library.bc`, for AMD's GPUs to `$OUT_DIR/amdgpu_library.bc`.
//!
//! The vector forms of `device-lib/lanes` go to `$OUT_DIR/lanes_<number>.bc`, for each number of elements, and what there is of them to
//! `$OUT_DIR/vector_forms.rs`.
//!
//! A library is inlined into kernels that are compiled for the processor that is there, so no function may carry the
//! `target-cpu` and `target-features` of this build: they are taken out of the textual IR.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

#[path = "build/vector_forms.rs"]
mod vector_forms;

const FLAGS: &[&str] = &[
    "-O2",
    "-std=gnu11",
    "-Wall",
    "-Wextra",
    "-Wno-unused-function",
    "-ffp-contract=off",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-fno-stack-protector",
    "-fno-ident",
    // Loops of the library are short; vectors in them would only fix a width for the caller.
    "-fno-vectorize",
    "-fno-slp-vectorize",
];

/// A target's library.
struct Library {
    /// Its folder beside `common`, and the name of what is made.
    name: &'static str,
    /// Further folders.
    more: &'static [&'static str],
    /// What clang is told beside [`FLAGS`].
    flags: &'static [&'static str],
}

const LIBRARIES: &[Library] = &[
    // What the CPU stands for where it runs code of other chips is a part of its library.
    Library { name: "cpu", more: &["emulation"], flags: &["-fPIC", "-I../runtime/include"] },
    Library {
        name: "amdgpu",
        more: &[],
        flags: &[
            "-target",
            "amdgcn-amd-amdhsa",
            "-nogpulib",
            "-ffreestanding",
            // The version is known where the library is linked.
            "-Xclang",
            "-mcode-object-version=none",
            // Lanes go in step: what they do together must stay where it is.
            "-fconvergent-functions",
        ],
    },
];

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=build");
    println!("cargo:rerun-if-changed=device-lib");
    println!("cargo:rerun-if-changed=../runtime/include");
    println!("cargo:rerun-if-env-changed=LLVM_SYS_221_PREFIX");
    let out_dir = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let llvm =
        PathBuf::from(env::var_os("LLVM_SYS_221_PREFIX").unwrap_or_else(|| "/usr/lib/llvm-22".into())).join("bin");
    for library in LIBRARIES {
        build(library, &llvm, &out_dir);
    }
    vector_forms::build(&llvm, &out_dir);
}

/// Compiles and joins one library.
fn build(library: &Library, llvm: &Path, out_dir: &Path) {
    let mut sources: Vec<PathBuf> = ["common", library.name]
        .iter()
        .chain(library.more)
        .flat_map(|folder| {
            fs::read_dir(Path::new("device-lib").join(folder)).expect("device-lib is part of this crate")
        })
        .map(|entry| entry.expect("device-lib is readable").path())
        .filter(|path| path.extension().is_some_and(|ext| ext == "c"))
        .collect();
    sources.sort();
    let work = out_dir.join(library.name);
    fs::create_dir_all(&work).expect("OUT_DIR is writable");
    let modules: Vec<PathBuf> = sources.iter().map(|source| compile(source, library, llvm, &work)).collect();
    let (joined, plain) = (work.join("joined.ll"), work.join("library.ll"));
    let made = out_dir.join(format!("{}_library.bc", library.name));
    run(Command::new(llvm.join("llvm-link")).arg("-S").args(&modules).arg("-o").arg(&joined));
    let text = fs::read_to_string(&joined).expect("llvm-link wrote the module");
    let mut adapted: String = text.lines().flat_map(|line| [adapt(line), "\n".into()]).collect();
    adapted.extend(text.lines().filter_map(vector_wrapper));
    fs::write(&plain, adapted).expect("OUT_DIR is writable");
    run(Command::new(llvm.join("llvm-as")).arg(&plain).arg("-o").arg(&made));
}

/// One C file to textual IR.
fn compile(source: &Path, library: &Library, llvm: &Path, work: &Path) -> PathBuf {
    let folder = source.parent().and_then(Path::file_name).expect("a file of a folder").to_string_lossy().into_owned();
    let name = source.file_stem().expect("a file").to_string_lossy().into_owned();
    let module = work.join(format!("{folder}.{name}.ll"));
    run(Command::new(llvm.join("clang"))
        .args(FLAGS)
        .args(library.flags)
        .args(["-Idevice-lib/common", "-S", "-emit-llvm"])
        .arg(format!("-Idevice-lib/{}", library.name))
        .arg(source)
        .arg("-o")
        .arg(&module));
    module
}

/// Takes `"target-cpu"="..."` and its like out of an attribute group, and makes each definition `linkonce_odr`, so
/// that linking the library into a module brings in only what the module uses.
///
/// `zeroext`, `signext` and `noundef` are dropped too: callers are lowered intrinsics, which promise nothing of the kind.
fn adapt(line: &str) -> String {
    let line = &[" zeroext", " signext", " noundef"].iter().fold(line.to_string(), |line, gone| line.replace(gone, ""));
    if let Some(rest) = line.strip_prefix("define dso_local ").or_else(|| line.strip_prefix("define ")) {
        let keeps_linkage = ["internal ", "private ", "linkonce_odr "].iter().any(|linkage| rest.starts_with(linkage));
        return if keeps_linkage { line.to_string() } else { format!("define linkonce_odr {rest}") };
    }
    if !line.starts_with("attributes #") {
        return line.to_string();
    }
    const GONE: &[&str] = &[
        "\"target-cpu\"",
        "\"target-features\"",
        "\"tune-cpu\"",
        "\"min-legal-vector-width\"",
        "\"stack-protector-buffer-size\"",
        // Of the kernel that it becomes a part of.
        "\"amdgpu-",
        "\"uniform-work-group-size\"",
    ];
    line.split(' ').filter(|word| !GONE.iter().any(|gone| word.starts_with(gone))).collect::<Vec<_>>().join(" ")
}

/// `i32 @__regrain_x2_NAME(i32...)` works on two 16-bit elements in one integer; NVVM's intrinsics have vectors there,
/// which C passes in another way. The wrapper has the intrinsic's own type.
fn vector_wrapper(line: &str) -> Option<String> {
    if !line.starts_with("define ") {
        return None;
    }
    let (_, signature) = line.split_once("@__regrain_x2_")?;
    let (name, rest) = signature.split_once('(')?;
    let (parameters, _) = rest.split_once(") ")?;
    let element = if name.contains("bf16") { "bfloat" } else { "half" };
    let vector = format!("<2 x {element}>");
    let is_vector: Vec<bool> = parameters.split(", ").map(|p| p.starts_with("i32")).collect();
    let declared: Vec<String> =
        is_vector.iter().enumerate().map(|(i, v)| format!("{} %a{i}", if *v { &vector } else { "float" })).collect();
    let casts: String = is_vector
        .iter()
        .enumerate()
        .map(|(i, v)| if *v { format!("  %b{i} = bitcast {vector} %a{i} to i32\n") } else { String::new() })
        .collect();
    let passed: Vec<String> = is_vector
        .iter()
        .enumerate()
        .map(|(i, v)| if *v { format!("i32 %b{i}") } else { format!("float %a{i}") })
        .collect();
    Some(format!(
        "\ndefine linkonce_odr {vector} @__regrain_llvm_nvvm_{name}({}) alwaysinline nounwind {{\n{casts}  %r = call i32 @__regrain_x2_{name}({})\n  %v = bitcast i32 %r to {vector}\n  ret {vector} %v\n}}\n",
        declared.join(", "),
        passed.join(", ")
    ))
}

fn run(command: &mut Command) {
    let status = command.status().unwrap_or_else(|error| panic!("cannot run {command:?}: {error}"));
    assert!(status.success(), "{command:?} failed: {status}");
}
