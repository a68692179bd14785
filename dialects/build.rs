//! Generates the dialect's C++ with mlir-tblgen into OUT_DIR and compiles `cpp/*.cpp`.

use std::{
    env,
    error::Error,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// Generator of mlir-tblgen, file it makes, and whether it wants the dialect's name.
const GENERATED: &[(&str, &str, bool)] = &[
    ("-gen-dialect-decls", "RegrainDialect.h.inc", true),
    ("-gen-dialect-defs", "RegrainDialect.cpp.inc", true),
    ("-gen-enum-decls", "RegrainEnums.h.inc", false),
    ("-gen-enum-defs", "RegrainEnums.cpp.inc", false),
    ("-gen-op-decls", "RegrainOps.h.inc", false),
    ("-gen-op-defs", "RegrainOps.cpp.inc", false),
];

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=regrain.td");
    println!("cargo:rerun-if-changed=cpp");
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=MLIR_SYS_220_PREFIX");
    let prefix = env::var("MLIR_SYS_220_PREFIX").unwrap_or_else(|_| "/usr/lib/llvm-22".into());
    let include = Path::new(&prefix).join("include");
    let out = PathBuf::from(env::var("OUT_DIR")?);
    for (generator, file, selects) in GENERATED {
        tablegen(&prefix, &include, generator, *selects, &out.join(file))?;
    }
    cc::Build::new()
        // MLIR knows traits and interfaces by the names that the compiler gives their types, so ours must be the one
        // that LLVM's packages are built with; g++ names some of them otherwise.
        .compiler(Path::new(&prefix).join("bin/clang++"))
        .cpp(true)
        .std("c++17")
        .opt_level(1)
        .flag("-fno-rtti")
        .flag("-fno-exceptions")
        .flag("-fPIC")
        .flags(["-Wall", "-Wextra", "-Wmissing-prototypes", "-Werror"])
        .define("NDEBUG", None)
        // Not ours to keep free of warnings, nor what mlir-tblgen makes.
        .flag("-isystem")
        .flag(&include)
        .flag("-isystem")
        .flag(&out)
        .include("cpp")
        .file("cpp/Regrain.cpp")
        .file("cpp/Attributes.cpp")
        .try_compile("regrain_dialect")?;
    Ok(())
}

fn tablegen(prefix: &str, include: &Path, generator: &str, selects: bool, to: &Path) -> Result<(), Box<dyn Error>> {
    let mut command = Command::new(Path::new(prefix).join("bin/mlir-tblgen"));
    command.arg(generator).arg("-I").arg(include).arg("regrain.td").arg("-o").arg(to);
    if selects {
        command.arg("-dialect=regrain");
    }
    let output = command.output().map_err(|error| format!("mlir-tblgen: {error}"))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
    }
    fs::metadata(to)?;
    Ok(())
}
