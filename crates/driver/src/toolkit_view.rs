//! The toolkit as CMake is shown it: a folder of links to the real one, with stand-ins where Regrain does a tool's work.
//!
//! CMake takes the places of CUDA's libraries and of NVIDIA's device linker from the toolkit, whichever compiler it uses, and has the
//! host's compiler link programs that hold C++ too. So a toolkit that wants no knowledge of Regrain from a project has
//!
//! ```text
//! bin/nvlink, bin/fatbinary   this driver, which links device code under these names (`crate::device_linker`)
//! bin/crt/link.stub           nothing: what is made of it is what the device linker made
//! lib64/libcudart*            our runtime, where code is for more than NVIDIA's GPUs
//! ```
//!
//! and links for all else. It is made once for each toolkit, in the cache folder.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use regrain_targets::cache::Cache;
use regrain_targets::find;
use regrain_targets::toolkit::Toolkit;

use crate::our_library::library;
use crate::{archs, inputs};

/// NVIDIA's host libraries that our runtime stands for, without their versions.
const STOOD_FOR: &[&str] = &["libcudart.so", "libcudart_static.a", "libcuda.so"];

/// The library of the runtime for device code, of which nothing is needed.
const FOR_DEVICE_CODE: &str = "libcudadevrt.a";

/// Whether the environment asks for code that NVIDIA's own runtime does not run.
pub fn runtime_is_ours() -> bool {
    let list = std::env::var(archs::VARIABLE).unwrap_or_default();
    let names = list.split([',', ';', ' ']).map(|name| name.trim_start_matches('+'));
    let found = names.filter(|name| !name.is_empty()).filter_map(|name| find(name).ok());
    found.into_iter().any(|arch| !arch.target.has_own_runtime())
}

/// Where the view of `toolkit` is, or will be; none where there is no cache folder.
pub fn place(toolkit: &Toolkit, ours: bool) -> Option<PathBuf> {
    let own = std::env::current_exe().ok()?.canonicalize().ok()?;
    let root = toolkit.root.canonicalize().ok()?;
    // The runtime may be elsewhere another time, as where REGRAIN_LIB_DIR names its folder.
    let runtime = if ours { runtime().unwrap_or_default() } else { Default::default() };
    let key = format!("{} {} {} {}", own.display(), root.display(), toolkit.stamp(), runtime.display());
    let cache = Cache::open();
    Some(cache.folder()?.join("toolkits").join(inputs::hash(key.as_bytes())))
}

/// The view of `toolkit`, made if it is not there; where it cannot be made, the toolkit itself.
pub fn of(toolkit: &Toolkit, ours: bool) -> PathBuf {
    let made = place(toolkit, ours).and_then(|place| make(toolkit, ours, &place).ok().map(|()| place));
    made.unwrap_or_else(|| toolkit.root.clone())
}

fn make(toolkit: &Toolkit, ours: bool, place: &Path) -> Result<()> {
    if place.join("bin/nvlink").exists() {
        return Ok(());
    }
    let parent = place.parent().context("a folder in the root")?;
    fs::create_dir_all(parent)?;
    let made = tempfile::tempdir_in(parent)?;
    fill(toolkit, ours, made.path())?;
    // Another one may have been faster, or the links of this one may lead nowhere by now.
    let _ = fs::remove_dir_all(place);
    fs::rename(made.path(), place)?;
    // It has another name now.
    drop(made.keep());
    Ok(())
}

fn fill(toolkit: &Toolkit, ours: bool, view: &Path) -> Result<()> {
    let own = std::env::current_exe()?.canonicalize()?;
    let root = toolkit.root.canonicalize()?;
    link_all(&root, view, &["bin", "include", "lib", "lib64"])?;
    symlink(toolkit.include.canonicalize()?, view.join("include"))?;
    fs::create_dir_all(view.join("bin/crt"))?;
    link_all(&root.join("bin"), &view.join("bin"), &["nvcc", "nvlink", "fatbinary", "crt"])?;
    symlink(own.with_file_name("regrain-nvcc"), view.join("bin/nvcc"))?;
    for name in ["nvlink", "fatbinary"] {
        symlink(own.with_file_name("regrain"), view.join("bin").join(name))?;
    }
    fs::write(view.join("bin/crt/link.stub"), "// What is made of this is what the device linker made.\n")?;
    fs::create_dir(view.join("lib64"))?;
    symlink("lib64", view.join("lib"))?;
    let Some(libraries) = toolkit.lib_dir.clone() else { return Ok(()) };
    let is_ours = |name: &str| ours && (name == FOR_DEVICE_CODE || STOOD_FOR.iter().any(|one| name.starts_with(one)));
    let names = names(&libraries)?;
    for name in names.iter().filter(|name| !is_ours(name)) {
        symlink(libraries.canonicalize()?.join(name), view.join("lib64").join(name))?;
    }
    if ours {
        let runtime = runtime()?;
        let script = format!("INPUT({} -lpthread -ldl -lm)\n", runtime.display());
        for name in STOOD_FOR {
            fs::write(view.join("lib64").join(name), &script)?;
        }
        fs::write(view.join("lib64").join(FOR_DEVICE_CODE), "!<arch>\n")?;
    }
    Ok(())
}

fn runtime() -> Result<PathBuf> {
    Ok(library("runtime", "libregrain_rt.a")?.canonicalize()?)
}

fn names(folder: &Path) -> Result<Vec<String>> {
    let entries = fs::read_dir(folder).with_context(|| format!("cannot read '{}'", folder.display()))?;
    Ok(entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect())
}

/// Links to all that is in `from`, but for some.
fn link_all(from: &Path, to: &Path, without: &[&str]) -> Result<()> {
    for name in names(from)?.iter().filter(|name| !without.contains(&name.as_str())) {
        symlink(from.join(name), to.join(name))?;
    }
    Ok(())
}
