//! What a search found for a whole source: device code that was raised, coarsened and weighed before is not again.
//!
//! The key is a hash of the device code as clang gave it for each chip, of what the host does with kernels (`Survey`), of the options
//! and of the measured times, besides what every key of the cache holds. What comes back is all that the search leads to: the images,
//! the host code that launches versions, and everything that was said on the way, so that a rebuild says and makes the same.

use std::path::PathBuf;

use anyhow::{Context as _, Result};
use regrain_passes::launch::isolate_launches::Version;
use regrain_targets::nvptx::DeviceImage;
use regrain_targets::toolkit::SmArch;
use regrain_targets::{Cache, Key};
use serde::{Deserialize, Serialize};

use crate::args::{Args, Remarks};
use crate::decisions::Statement;
use crate::parallel::Stages;
use crate::search::Searcher;

/// Where the cache has what is known of a source.
pub struct Memory {
    cache: Cache,
    key: Key,
}

/// What a search led to.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct Found {
    /// What `-Rpass-missed` shows, apart from the decisions.
    pub missed: Vec<String>,
    /// The decisions.
    pub statements: Vec<Statement>,
    /// The versions of kernels that launches may choose.
    pub kernels: Vec<Version>,
    /// The host code that launches them, as MLIR.
    pub host: String,
    /// Keys of the images in the cache, for each chip.
    pub images: Vec<String>,
}

impl Memory {
    /// The memory of the source that `stages` work on, whose device code for each of `archs` is in `files`. `None` without a cache.
    pub fn of(
        stages: &Stages<'_>,
        searcher: &Searcher<'_>,
        files: &[PathBuf],
        archs: &[SmArch],
    ) -> Result<Option<Self>> {
        let cache = Cache::open();
        if !cache.is_on() {
            return Ok(None);
        }
        let read = |path: &PathBuf| std::fs::read(path).with_context(|| format!("cannot read '{}'", path.display()));
        let codes = files.iter().map(read).collect::<Result<Vec<_>>>()?;
        let parts: Vec<&[u8]> = codes.iter().map(Vec::as_slice).collect();
        let compilation = stages.compilation;
        let args = options(&compilation.session.args);
        let source = &compilation.unit.input;
        let times = searcher.database_text();
        let all = format!("{source:?} {archs:?} {} {:?} {args:?} {times}", searcher.target_name(), stages.survey);
        Ok(Some(Self { cache, key: Key::of("search", &all, &parts, &compilation.session.toolkit()?.stamp()) }))
    }

    /// What was found before, with the images for `archs`, if all of it is still there.
    pub fn recall(&self, archs: &[SmArch]) -> Option<(Found, Vec<DeviceImage>)> {
        let found: Found = serde_json::from_slice(&self.cache.read(self.key)?).ok()?;
        if found.images.len() != archs.len() {
            return None;
        }
        let image = |(key, arch): (&String, &SmArch)| DeviceImage::decode(*arch, &self.cache.read(Key::parse(key)?)?);
        let images = found.images.iter().zip(archs).map(image).collect::<Option<Vec<_>>>()?;
        tracing::debug!(target: "cache", "the search is not repeated");
        Some((found, images))
    }

    /// Remembers what was found.
    pub fn keep(&self, found: &Found) {
        if let Ok(text) = serde_json::to_vec(found) {
            self.cache.write(self.key, &text);
        }
    }
}

/// The command line without what only decides where results go and what is shown of them. Of the database the content counts,
/// not the name.
fn options(args: &Args) -> Args {
    Args {
        inputs: Vec::new(),
        output: None,
        link: Vec::new(),
        all: Vec::new(),
        verbose: false,
        remarks: Remarks::default(),
        report: None,
        resource_usage: false,
        profile_use: args.profile_use.as_ref().map(|_| PathBuf::new()),
        ..args.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::parse;

    fn key_of(line: &str) -> String {
        let args = parse(line.split(' ').map(Into::into)).expect("a command line");
        format!("{:?}", options(&args))
    }

    #[test]
    fn what_is_shown_makes_no_difference() {
        let plain = key_of("-O2 -c a.cu -o a.o");
        assert_eq!(
            plain,
            key_of(
                "-O2 -c b.cu -o b.o -Rpass=regrain -Rpass-missed=regrain -fregrain-report=r -fregrain-resource-usage -v"
            )
        );
        assert_eq!(key_of("-O2 -fregrain-profile-use=a a.cu"), key_of("-O2 -fregrain-profile-use=b a.cu"));
    }

    #[test]
    fn what_is_searched_makes_a_difference() {
        let plain = key_of("-O2 a.cu");
        let options = [
            "-O3 a.cu",
            "-O2 -fregrain-alternatives=blocks=1,2 a.cu",
            "-O2 -fregrain-profile-generate a.cu",
            "-O2 -fregrain-profile-use=p a.cu",
            "-O2 -fregrain-round-trip a.cu",
            "-O2 -gline-tables-only a.cu",
            "-O2 -Xcuda-ptxas --maxrregcount=32 a.cu",
        ];
        for line in options {
            assert_ne!(plain, key_of(line), "{line}");
        }
    }
}
