//! Finding a CUDA toolkit, and what it says about itself: version, folders, the chips that its `ptxas` knows.
//!
//! A folder counts as a toolkit when it holds `bin/ptxas`, `include/cuda_runtime.h` and libdevice. Looked at in order:
//! the folder that the user names (then no other), `$CUDA_PATH`, the project's own `.toolchain/cuda`,
//! `/usr/local/cuda`, and the folder above a `ptxas` on `PATH`.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use crate::Error;
use crate::cache::stamp;

/// A CUDA toolkit on this machine.
#[derive(Clone, Debug)]
pub struct Toolkit {
    /// The folder that holds all of it.
    pub root: PathBuf,
    /// The version of the toolkit.
    pub version: Version,
    /// Headers.
    pub include: PathBuf,
    /// The assembler.
    pub ptxas: PathBuf,
    /// NVIDIA's device math library, LLVM bitcode.
    pub libdevice: PathBuf,
    /// The folder of `libcudart_static.a`, where the toolkit has one.
    pub lib_dir: Option<PathBuf>,
    known_archs: OnceLock<Vec<String>>,
}

/// A toolkit version, as in 12.9.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    /// 12 of 12.9.
    pub major: u32,
    /// 9 of 12.9.
    pub minor: u32,
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// Toolkit versions and the newest PTX of each that LLVM 22 writes, newest first; a newer toolkit counts as the first.
const PTX_OF_SDK: &[(u32, u32, u32)] = &[
    (13, 0, 90),
    (12, 9, 88),
    (12, 8, 87),
    (12, 7, 86),
    (12, 5, 85),
    (12, 4, 84),
    (12, 3, 83),
    (12, 2, 82),
    (12, 1, 81),
    (12, 0, 80),
    (11, 8, 78),
    (11, 7, 77),
    (11, 6, 76),
    (11, 5, 75),
    (11, 4, 74),
    (11, 3, 73),
    (11, 2, 72),
    (11, 1, 71),
    (11, 0, 70),
    (10, 2, 65),
    (10, 1, 64),
    (10, 0, 63),
];

impl Version {
    /// The PTX version to ask of LLVM for this toolkit, as in 88 for PTX 8.8: clang's, where clang knows the toolkit.
    pub fn ptx(self) -> u32 {
        PTX_OF_SDK
            .iter()
            .find(|(major, minor, _)| self >= Version { major: *major, minor: *minor })
            .map_or(60, |(_, _, ptx)| *ptx)
    }
}

impl Toolkit {
    /// Finds the toolkit to use; `explicit` is the user's `--cuda-path`.
    pub fn find(explicit: Option<&Path>) -> Result<Self, Error> {
        let candidates = match explicit {
            Some(path) => vec![path.to_path_buf()],
            None => default_candidates(),
        };
        candidates.iter().find_map(|root| Self::at(root)).ok_or_else(|| {
            let looked: Vec<_> = candidates.iter().map(|path| path.display().to_string()).collect();
            Error::User(format!(
                "cannot find a CUDA toolkit (looked in {}); provide its path via '--cuda-path'",
                looked.join(", ")
            ))
        })
    }

    /// The toolkit in the folder `root`, if there is one.
    pub fn at(root: &Path) -> Option<Self> {
        let include = root.join("include");
        let ptxas = root.join("bin/ptxas");
        let libdevice = root.join("nvvm/libdevice/libdevice.10.bc");
        if !include.join("cuda_runtime.h").is_file() || !ptxas.is_file() || !libdevice.is_file() {
            return None;
        }
        let lib_dir = ["lib64", "lib", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib"]
            .iter()
            .map(|dir| root.join(dir))
            .find(|dir| dir.join("libcudart_static.a").is_file());
        Some(Self {
            version: version_of(root)?,
            root: root.to_path_buf(),
            include,
            ptxas,
            libdevice,
            lib_dir,
            known_archs: OnceLock::new(),
        })
    }

    /// The chips that this toolkit's `ptxas` assembles for, as `sm_80` (empty when it cannot be run).
    pub fn archs(&self) -> &[String] {
        self.known_archs.get_or_init(|| {
            let output = Command::new(&self.ptxas).arg("--help").output();
            output.map(|o| archs_in_help(&String::from_utf8_lossy(&o.stdout))).unwrap_or_default()
        })
    }

    /// An error unless this toolkit assembles for `arch`.
    pub fn require(&self, arch: SmArch) -> Result<(), Error> {
        let known = self.archs();
        let name = arch.to_string();
        if known.is_empty() || known.contains(&name) {
            return Ok(());
        }
        Err(Error::User(format!(
            "unsupported CUDA gpu architecture: {name} (CUDA {} in {} supports {})",
            self.version,
            self.root.display(),
            known.join(", ")
        )))
    }

    /// The version of its `ptxas`, as in 12.9.86.
    pub fn ptxas_version(&self) -> Option<String> {
        let output = Command::new(&self.ptxas).arg("--version").output().ok()?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let (_, version) = text.split_once(", V")?;
        version.split_whitespace().next().map(str::to_owned)
    }

    /// The version with the build of nvcc behind it, as in `12.9.86`, where the toolkit's `version.json` names that.
    pub fn compiler_version(&self) -> String {
        let json = std::fs::read_to_string(self.root.join("version.json")).unwrap_or_default();
        let build = text_in_json(&json, "cuda_nvcc").and_then(|text| text.split('.').nth(2)?.parse::<u32>().ok());
        build.map_or_else(|| self.version.to_string(), |build| format!("{}.{build}", self.version))
    }

    /// Tells this toolkit from another one, or from itself after a change.
    pub fn stamp(&self) -> String {
        format!("{} {} {}", stamp(&self.ptxas), stamp(&self.libdevice), self.version)
    }

    /// What to give the linker so that a program finds NVIDIA's runtime; static unless `shared`.
    pub fn link_args(&self, shared: bool) -> Result<Vec<String>, Error> {
        let dir = self.lib_dir.as_ref().ok_or_else(|| {
            Error::User(format!("the CUDA toolkit in {} holds no libcudart_static.a", self.root.display()))
        })?;
        let mut args = vec![format!("-L{}", dir.display())];
        if shared {
            args.push(format!("-Wl,-rpath,{}", dir.display()));
            args.push("-lcudart".into());
        } else {
            args.extend(["-lcudart_static", "-ldl", "-lrt", "-lpthread"].map(String::from));
        }
        Ok(args)
    }
}

/// An NVIDIA chip: `sm_80`, or `sm_90a` with the features of that chip alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SmArch {
    /// 80 of `sm_80`.
    pub number: u32,
    /// Whether it ends in `a`.
    pub specific: bool,
}

/// Chips that LLVM 22 and clang 22 know. Not older than `sm_50`, the oldest that toolkits of CUDA 12 assemble for; not
/// `sm_88`, of which NVIDIA's guide gives no limits.
const KNOWN: &[u32] = &[50, 52, 53, 60, 61, 62, 70, 72, 75, 80, 86, 87, 89, 90, 100, 101, 103, 110, 120, 121];

impl SmArch {
    /// Reads `sm_NN` or `sm_NNa`, and `sm_100f` of a family as `sm_100`: clang has no features of families. What clang does not know
    /// is refused in clang's words.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let unsupported = || Error::User(format!("unsupported CUDA gpu architecture: {text}"));
        let name = text.strip_prefix("sm_").ok_or_else(unsupported)?;
        let digits = name.trim_end_matches(|c: char| c.is_ascii_lowercase());
        let (specific, since) = match &name[digits.len()..] {
            "" => (false, 0),
            "a" => (true, 90),
            "f" => (false, 100),
            _ => return Err(unsupported()),
        };
        let number = digits.parse().map_err(|_| unsupported())?;
        let plain = digits.bytes().all(|b| b.is_ascii_digit()) && KNOWN.contains(&number);
        if plain && number >= since { Ok(Self { number, specific }) } else { Err(unsupported()) }
    }

    /// All chips, the oldest first, without the features of one chip alone.
    pub fn all() -> impl Iterator<Item = Self> {
        KNOWN.iter().map(|number| Self { number: *number, specific: false })
    }

    /// The value of `__CUDA_ARCH__`.
    pub fn cuda_arch_macro(self) -> u32 {
        self.number * 10
    }
}

impl fmt::Display for SmArch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sm_{}{}", self.number, if self.specific { "a" } else { "" })
    }
}

fn default_candidates() -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = Vec::new();
    let mut add = |path: PathBuf| {
        if !found.contains(&path) {
            found.push(path);
        }
    };
    if let Some(path) = std::env::var_os("CUDA_PATH").filter(|path| !path.is_empty()) {
        add(path.into());
    }
    if let Ok(executable) = std::env::current_exe().and_then(|path| path.canonicalize()) {
        // target/release/regrain, and one folder deeper for tests and examples.
        let above = executable.ancestors().skip(1).take(5).map(|dir| dir.join(".toolchain/cuda"));
        if let Some(local) = above.clone().find(|dir| dir.is_dir()).or_else(|| above.clone().nth(2)) {
            add(local);
        }
    }
    // A copy of the executable finds the toolkit of the tree that it was built in.
    add(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.toolchain/cuda"));
    add("/usr/local/cuda".into());
    for dir in std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()) {
        let ptxas = dir.join("ptxas");
        if !ptxas.is_file() {
            continue;
        }
        let real = ptxas.canonicalize().unwrap_or(ptxas);
        if let Some(root) = real.parent().and_then(Path::parent) {
            add(root.to_path_buf());
        }
    }
    found
}

fn version_of(root: &Path) -> Option<Version> {
    let header = std::fs::read_to_string(root.join("include/cuda.h")).ok();
    header.as_deref().and_then(version_in_header).or_else(|| {
        let json = std::fs::read_to_string(root.join("version.json")).ok()?;
        version_in_json(&json)
    })
}

fn version_in_header(header: &str) -> Option<Version> {
    let line = header.lines().find_map(|line| line.trim().strip_prefix("#define CUDA_VERSION"))?;
    let number: u32 = line.trim().parse().ok()?;
    Some(Version { major: number / 1000, minor: number % 1000 / 10 })
}

fn version_in_json(json: &str) -> Option<Version> {
    let mut parts = text_in_json(json, "cuda")?.split('.').map(str::parse);
    Some(Version { major: parts.next()?.ok()?, minor: parts.next()?.ok()? })
}

/// The version that `version.json` gives for one part of the toolkit.
fn text_in_json<'j>(json: &'j str, part: &str) -> Option<&'j str> {
    let (_, rest) = json.split_once(&format!("\"{part}\""))?;
    let (_, rest) = rest.split_once("\"version\"")?;
    rest.split('"').nth(1)
}

fn archs_in_help(help: &str) -> Vec<String> {
    let mut archs: Vec<String> = Vec::new();
    for quoted in help.split('\'').skip(1).step_by(2) {
        if quoted.starts_with("sm_") && !archs.iter().any(|arch| arch == quoted) {
            archs.push(quoted.into());
        }
    }
    archs.sort_by_key(|arch| {
        let digits: String = arch.chars().filter(char::is_ascii_digit).collect();
        (digits.parse::<u32>().unwrap_or(0), arch.clone())
    });
    archs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arch_names() {
        assert_eq!(SmArch::parse("sm_80").unwrap(), SmArch { number: 80, specific: false });
        assert_eq!(SmArch::parse("sm_90a").unwrap().to_string(), "sm_90a");
        assert_eq!(SmArch::parse("sm_100f").unwrap().to_string(), "sm_100");
        for wrong in
            ["sm_12", "sm_80a", "sm_90f", "sm_100af", "sm_88", "sm_", "sm_8O", "sm_+80", "gfx90a", "compute_80", ""]
        {
            let message = SmArch::parse(wrong).unwrap_err().to_string();
            assert_eq!(message, format!("unsupported CUDA gpu architecture: {wrong}"));
        }
    }

    #[test]
    fn versions() {
        let header = "#define __CUDA_API_VERSION 12090\n#define CUDA_VERSION 12090\n";
        assert_eq!(version_in_header(header), Some(Version { major: 12, minor: 9 }));
        let json = r#"{ "cuda" : { "name" : "CUDA SDK", "version" : "11.8.20220929" } }"#;
        assert_eq!(version_in_json(json), Some(Version { major: 11, minor: 8 }));
        let json =
            r#"{ "cuda" : { "version" : "12.9.0" }, "cuda_nvcc" : { "name" : "CUDA NVCC", "version" : "12.9.86" } }"#;
        assert_eq!(text_in_json(json, "cuda_nvcc"), Some("12.9.86"));
        assert_eq!(version_in_json(json), Some(Version { major: 12, minor: 9 }));
    }

    #[test]
    fn ptx_versions_are_those_of_clang() {
        let ptx = |major, minor| Version { major, minor }.ptx();
        assert_eq!([ptx(12, 9), ptx(12, 8), ptx(12, 6), ptx(12, 4), ptx(11, 8)], [88, 87, 85, 84, 78]);
        assert_eq!([ptx(13, 0), ptx(13, 2)], [90, 90]);
    }

    #[test]
    fn archs_from_help() {
        let help = "Allowed values: 'compute_100','lto_90','sm_100',\n 'sm_100a','sm_90a','sm_90'.\nDefault: 'sm_90'.";
        assert_eq!(archs_in_help(help), ["sm_90", "sm_90a", "sm_100", "sm_100a"]);
    }

    #[test]
    fn a_folder_without_toolkit_is_named_in_the_error() {
        let message = Toolkit::find(Some(Path::new("/nonexistent/cuda"))).unwrap_err().to_string();
        assert!(message.starts_with("cannot find a CUDA toolkit (looked in /nonexistent/cuda)"), "{message}");
    }
}
