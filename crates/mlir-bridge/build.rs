//! Compiles `cpp/*.cpp` against the headers of LLVM and MLIR 22, without warnings, and makes the Rust declarations of
//! what `cpp/bridge.h` declares. Objects are kept between builds and only compiled again when their source or a header of
//! ours is newer.

use std::{env, error::Error, fs, path::Path, path::PathBuf, process::Command, time::SystemTime};

fn modified(path: &Path) -> SystemTime {
    fs::metadata(path).and_then(|data| data.modified()).unwrap_or(SystemTime::UNIX_EPOCH)
}

fn sources(extension: &str) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let mut found = Vec::new();
    for entry in fs::read_dir("cpp")? {
        let path = entry?.path();
        if path.extension().is_some_and(|found| found == extension) {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=cpp");
    println!("cargo:rerun-if-changed=src/isl/isl.h");
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=MLIR_SYS_220_PREFIX");
    let prefix = PathBuf::from(env::var_os("MLIR_SYS_220_PREFIX").unwrap_or_else(|| "/usr/lib/llvm-22".into()));
    let out = PathBuf::from(env::var("OUT_DIR")?);
    generate_bindings(&prefix, &out)?;
    generate_isl_bindings(&prefix, &out)?;
    compile(&prefix, &out)?;
    // The linker script over MLIR's C API, also for doc tests, which do not see the rustflags.
    let root = env::current_dir()?.join("../../.toolchain/lib");
    println!("cargo:rustc-link-search=native={}", root.display());
    Ok(())
}

/// The functions and types of `cpp/bridge.h`. Handles of the C APIs are those of `mlir-sys` and `llvm-sys`, which
/// `src/ffi.rs` brings into scope.
fn generate_bindings(prefix: &Path, out: &Path) -> Result<(), Box<dyn Error>> {
    let bindings = bindgen::builder()
        .header("cpp/bridge.h")
        .clang_arg("-isystem")
        .clang_arg(prefix.join("include").display().to_string())
        .allowlist_item("[Rr]egrain.*")
        .blocklist_type("Mlir.*|LLVM.*")
        .prepend_enum_name(false)
        .layout_tests(false)
        .generate_comments(false)
        .generate()?;
    // An unchanged file keeps its time, so that nothing is compiled again for it.
    let (file, text) = (out.join("bridge.rs"), bindings.to_string());
    if fs::read_to_string(&file).ok().as_ref() != Some(&text) {
        fs::write(file, text)?;
    }
    Ok(())
}

/// The functions and types of isl, as Debian's `libisl-dev` declares them. The code is what LLVM has for Polly, which computes with small
/// integers where Debian's has those of GMP; where LLVM was built without Polly, it is Debian's, as a shared library: the static one cannot be
/// part of a plugin.
fn generate_isl_bindings(prefix: &Path, out: &Path) -> Result<(), Box<dyn Error>> {
    let bindings = bindgen::builder()
        .header("src/isl/isl.h")
        .allowlist_item("isl_.*|ISL_.*")
        .layout_tests(false)
        .generate_comments(false)
        .generate()?;
    let (file, text) = (out.join("isl.rs"), bindings.to_string());
    if fs::read_to_string(&file).ok().as_ref() != Some(&text) {
        fs::write(file, text)?;
    }
    let ours = prefix.join("lib/libPollyISL.a");
    if ours.exists() {
        println!("cargo:rerun-if-changed={}", ours.display());
        println!("cargo:rustc-link-search=native={}", prefix.join("lib").display());
        println!("cargo:rustc-link-lib=static:-bundle=PollyISL");
    } else {
        println!("cargo:rustc-link-lib=isl");
    }
    Ok(())
}

fn compile(prefix: &Path, out: &Path) -> Result<(), Box<dyn Error>> {
    let newest_header = sources("h")?.iter().map(|path| modified(path)).chain([modified(Path::new("build.rs"))]).max();
    let mut build = cc::Build::new();
    build
        // MLIR knows traits and interfaces by the names that the compiler gives their types, so ours must be the one
        // that LLVM's packages are built with; g++ names some of them otherwise.
        .compiler(prefix.join("bin/clang++"))
        .cpp(true)
        .std("c++17")
        .opt_level(1)
        .flags(["-fno-rtti", "-fno-exceptions", "-fPIC"])
        .flags(["-Wall", "-Wextra", "-Wmissing-prototypes", "-Werror"])
        .define("NDEBUG", None)
        // Not ours to keep free of warnings.
        .flag("-isystem")
        .flag(prefix.join("include"))
        .include("cpp");
    let compiler = build.get_compiler();
    let mut running = Vec::new();
    for source in sources("cpp")? {
        println!("cargo:rerun-if-changed={}", source.display());
        let stem = source.file_stem().ok_or("source without a name")?;
        let object = out.join(stem).with_extension("o");
        let fresh = modified(&object);
        if fresh <= modified(&source) || newest_header.is_some_and(|header| fresh <= header) {
            let mut command: Command = compiler.to_command();
            command.arg("-c").arg(&source).arg("-o").arg(&object);
            running.push((source.clone(), command.spawn()?));
        }
        while running.len() >= 2 {
            finish(running.remove(0))?;
        }
        build.object(object);
    }
    for job in running {
        finish(job)?;
    }
    build.compile("regrain_bridge");
    Ok(())
}

fn finish((source, mut child): (PathBuf, std::process::Child)) -> Result<(), Box<dyn Error>> {
    if child.wait()?.success() {
        return Ok(());
    }
    Err(format!("the C++ compiler failed on {}", source.display()).into())
}
