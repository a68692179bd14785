//! Which targets an invocation is for.

use std::path::Path;
use std::process::Command;

use anyhow::Result;
use regrain_frontend::Clang;
use regrain_targets::toolkit::{SmArch, Toolkit};

/// The targets asked for, or found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Targets {
    /// Code for the processor that runs the program.
    pub cpu: bool,
    /// NVIDIA chips, without repetition.
    pub sm: Vec<SmArch>,
}

/// What `__CUDA_ARCH__` stands for on the CPU target when no `sm_` is named.
const DEFAULT_CUDA_ARCH: SmArch = SmArch { number: 70, specific: false };

impl Targets {
    /// Reads `--offload-arch=` values. An architecture that nobody knows is an error.
    pub fn parse(archs: &[String]) -> Result<Self> {
        let mut targets = Self::default();
        for arch in archs {
            if arch == "cpu" {
                targets.cpu = true;
            } else if arch == "native" {
                targets.merge(Self::find(&Clang::find()?));
            } else {
                let sm = SmArch::parse(arch)?;
                if !targets.sm.contains(&sm) {
                    targets.sm.push(sm);
                }
            }
        }
        Ok(targets)
    }

    /// Without `--offload-arch`: the GPU that is there, else the CPU.
    pub fn find(clang: &Clang) -> Self {
        match installed_gpu(clang) {
            Some(sm) => Self { cpu: false, sm: vec![sm] },
            None => Self { cpu: true, sm: Vec::new() },
        }
    }

    fn merge(&mut self, other: Self) {
        self.cpu |= other.cpu;
        self.sm.extend(other.sm);
    }

    /// Whose `__CUDA_ARCH__` the source sees on the CPU: the lowest `sm_` asked for.
    pub fn lowest_cuda_arch(&self) -> SmArch {
        self.sm.iter().copied().min().unwrap_or(DEFAULT_CUDA_ARCH)
    }

    /// Checks each chip against what the toolkit's assembler knows.
    pub fn check(&self, toolkit: &Toolkit) -> Result<()> {
        for sm in self.sm.iter().filter(|_| !self.cpu) {
            toolkit.require(*sm)?;
        }
        Ok(())
    }
}

fn installed_gpu(clang: &Clang) -> Option<SmArch> {
    if !Path::new("/dev/nvidiactl").exists() {
        return None;
    }
    let output = Command::new(clang.sibling("nvptx-arch")).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    SmArch::parse(text.lines().next()?.trim()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn targets(list: &[&str]) -> Result<Targets> {
        Targets::parse(&list.iter().map(ToString::to_string).collect::<Vec<_>>())
    }

    #[test]
    fn the_cpu_sees_the_lowest_architecture() {
        assert_eq!(targets(&["cpu", "sm_90", "sm_80"]).unwrap().lowest_cuda_arch().to_string(), "sm_80");
        assert_eq!(targets(&["cpu"]).unwrap().lowest_cuda_arch().to_string(), "sm_70");
        assert_eq!(targets(&["cpu", "sm_100", "sm_90a"]).unwrap().lowest_cuda_arch().to_string(), "sm_90a");
    }

    #[test]
    fn refuses_unknown_architectures() {
        for bad in ["sm_12", "sm_", "gfx1", "sm_80x", "sm_90aa", "SM_80"] {
            assert!(targets(&[bad]).is_err(), "{bad}");
        }
    }
}
