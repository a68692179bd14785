//! What a target is: its limits, data layout and device libraries, how code for it is assembled, and what its back
//! end reports about a kernel.

pub mod assembler;
pub mod cache;
pub mod device_link;
pub mod device_operations;
mod error;
mod extract;
pub mod from_amdgcn;
pub mod from_nvvm;
pub mod image;
pub mod jobs;
mod kernel_names;
pub mod listing;
pub mod machines;
mod merge;
pub mod nvvm;
pub mod offload;
pub mod registration;
mod settings;
pub mod target;
pub mod toolkit;
pub mod units;

pub use cache::{Cache, Key};
pub use error::{Error, Unsupported};
pub use extract::extract;
pub use from_nvvm::device_runtime;
pub use kernel_names::kernel_names;
pub use merge::merge;
pub use nvptx::Report;
/// The language of the device code that comes in.
pub use nvvm as device_language;
use regrain_tuning::model::Processor;
pub use settings::Settings;
pub use target::{Arch, Target};

/// The table of targets: each row names a folder and the type in it that is the [`Target`].
macro_rules! targets {
    ($($folder:ident :: $target:ident),+ $(,)?) => {
        $(pub mod $folder;)+

        /// All targets. The first one whose processor is in this machine is the one that code is made for where nothing is said.
        pub static TARGETS: &[&dyn Target] = &[$(&$folder::$target),+];
    };
}

targets! {
    nvptx::Nvptx,
    amdgpu::Amdgpu,
    cpu::Cpu,
}

/// The architecture that `--offload-arch=` calls `name`.
///
/// # Errors
/// No target knows it.
pub fn find(name: &str) -> Result<Arch, Error> {
    for target in TARGETS {
        match target.arch(name) {
            Some(Ok(name)) => return Ok(Arch { target: *target, name }),
            // Below all that are known are named.
            Some(Err(error)) if !name.starts_with("sm_") => return Err(error),
            _ => {}
        }
    }
    let all: Vec<String> = TARGETS.iter().flat_map(|target| target.known()).collect();
    let alike = |known: &&String| !name.starts_with("sm_") || known.starts_with("sm_");
    let known: Vec<&str> = all.iter().filter(alike).map(String::as_str).collect();
    let advice = older(name, &known).map_or(String::new(), |older| format!("; PTX of {older} runs on all later chips"));
    Err(Error::User(format!("unsupported CUDA gpu architecture: {name} (known are {}){advice}", known.join(", "))))
}

/// The architecture that comes before an unknown one, as in `compute_87` for `sm_88`.
fn older(name: &str, known: &[&str]) -> Option<String> {
    let number = |name: &str| name.strip_prefix("sm_")?.parse::<u32>().ok();
    let wanted = number(name)?;
    known
        .iter()
        .filter_map(|known| number(known))
        .filter(|known| *known < wanted)
        .max()
        .map(|found| format!("compute_{found}"))
}

/// What code for `name` (as in `--offload-arch=`) runs on, for the cost model.
///
/// # Errors
/// No target knows it.
pub fn processor(name: &str) -> Result<Processor<'static>, Error> {
    let Arch { target, name } = find(name)?;
    target.processor(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn architectures_are_found_by_name() {
        let found = |name: &str| find(name).map(|arch| format!("{arch:?}")).map_err(|error| error.to_string());
        assert_eq!(found("sm_90a"), Ok("nvptx:sm_90a".into()));
        assert_eq!(found("gfx90a"), Ok("amdgpu:gfx90a".into()));
        assert!(found("gfx1").is_err_and(|message| message.contains("known are gfx900,")));
        assert_eq!(found("cpu"), Ok("cpu:cpu".into()));
        for unknown in ["sm_12", "sm_", "sm_80x", "sm_90aa", "SM_80", "", "CPU"] {
            let message = found(unknown).expect_err("nobody knows it");
            assert!(
                message.starts_with(&format!("unsupported CUDA gpu architecture: {unknown} (known are ")),
                "{message}"
            );
            assert!(message.contains("sm_80, sm_86"), "{message}");
            assert_eq!(message.contains("cpu"), !unknown.starts_with("sm_"), "{message}");
        }
    }

    #[test]
    fn names_of_targets_differ() {
        let names: std::collections::HashSet<_> = TARGETS.iter().map(|target| target.name()).collect();
        assert_eq!(names.len(), TARGETS.len());
    }
}
