//! Finding AMD's device libraries: `ocml.bc`, the mathematical functions, as LLVM bitcode.
//!
//! Looked at in order: the folder that the user names (`--rocm-device-lib-path=`, then `--rocm-path=`; then no other),
//! `$REGRAIN_ROCM_DEVICE_LIB_PATH`, `$ROCM_PATH`, `/opt/rocm`, and where Debian's package `rocm-device-libs` puts them.

use std::path::{Path, PathBuf};

use crate::Error;
use crate::Settings;

/// The file that makes a folder one of device libraries.
const OCML: &str = "ocml.bc";

/// Folders of bitcode in an installation of ROCm.
const INSIDE: &[&str] = &["amdgcn/bitcode", "lib/amdgcn/bitcode", "lib/llvm/lib/clang/lib/amdgcn/bitcode", "lib"];

/// Where Debian's package puts them.
const DEBIAN: &[&str] = &["/usr/lib/x86_64-linux-gnu/amdgcn/bitcode", "/usr/lib/aarch64-linux-gnu/amdgcn/bitcode"];

/// The path of `ocml.bc`.
///
/// # Errors
/// There is none: the error says where it was looked for, and what to install.
pub fn ocml(settings: &Settings) -> Result<PathBuf, Error> {
    let folders = folders(settings, |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from));
    let found = folders.iter().map(|folder| folder.join(OCML)).find(|path| path.is_file());
    found.ok_or_else(|| {
        let looked: Vec<String> = folders.iter().map(|folder| folder.display().to_string()).collect();
        Error::User(format!(
            "cannot find AMD's device library '{OCML}' (looked in {}); install the package rocm-device-libs, or say where ROCm is \
             with '--rocm-path='",
            looked.join(", ")
        ))
    })
}

fn folders(settings: &Settings, variable: impl Fn(&str) -> Option<PathBuf>) -> Vec<PathBuf> {
    let inside = |root: &Path| INSIDE.iter().map(|folder| root.join(folder)).collect::<Vec<_>>();
    if let Some(folder) = &settings.device_lib_path {
        return vec![folder.clone()];
    }
    if let Some(root) = &settings.rocm_path {
        return inside(root);
    }
    let mut all: Vec<PathBuf> = variable("REGRAIN_ROCM_DEVICE_LIB_PATH").into_iter().collect();
    let roots = variable("ROCM_PATH").into_iter().chain([PathBuf::from("/opt/rocm")]);
    all.extend(roots.flat_map(|root| inside(&root)));
    all.extend(DEBIAN.iter().map(PathBuf::from));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_user_says_goes_first_and_alone() {
        let environment = |name: &str| (name == "ROCM_PATH").then(|| PathBuf::from("/r"));
        let first = |settings: &Settings| folders(settings, environment)[0].display().to_string();
        let mut settings = Settings::default();
        assert_eq!(first(&settings), "/r/amdgcn/bitcode");
        settings.rocm_path = Some("/own".into());
        assert_eq!(first(&settings), "/own/amdgcn/bitcode");
        settings.device_lib_path = Some("/bitcode".into());
        assert_eq!(folders(&settings, environment), [PathBuf::from("/bitcode")]);
    }

    #[test]
    fn a_missing_library_names_the_package() {
        let settings = Settings { rocm_path: Some("/nowhere".into()), ..Settings::default() };
        let message = ocml(&settings).expect_err("nothing is there").to_string();
        assert!(message.contains("/nowhere/amdgcn/bitcode") && message.contains("rocm-device-libs"), "{message}");
    }
}
