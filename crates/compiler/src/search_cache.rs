//! What a search found for a whole source: device code that was raised, coarsened and weighed before is not again.
//!
//! The key is a hash of the device code as clang gave it for each chip, of what the host does with kernels (`Survey`), of the options
//! and of the measured times, besides what every key of the cache holds. What comes back is all that the search leads to: the images,
//! the host code that launches versions, and everything that was said on the way, so that a rebuild says and makes the same.

use std::collections::BTreeMap;
use std::path::PathBuf;

use regrain_passes::launch::isolate_launches::Version;
use regrain_targets::image::Image;
use regrain_targets::{Arch, Cache, Key};
use regrain_tuning::Grain;
use serde::{Deserialize, Serialize};

use crate::chips::Chips;
use crate::decisions::Statement;
use crate::error::{Error, Result};
use crate::search::Searcher;
use crate::stages::Stages;

/// Where the cache has what is known of a source.
pub struct SearchCache {
    cache: Cache,
    key: Key,
}

/// What a search led to.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct Found {
    /// What was remarked, apart from the decisions.
    pub remarks: Vec<String>,
    /// The decisions.
    pub statements: Vec<Statement>,
    /// The versions of kernels that launches may choose.
    pub kernels: Vec<Version>,
    /// The host code that launches them, as MLIR.
    pub host: String,
    /// What they run before anything is known, where programs choose by themselves.
    pub firsts: BTreeMap<String, Grain>,
    /// Keys of the images in the cache, for each chip.
    pub images: Vec<String>,
}

impl SearchCache {
    /// What is known of the source that `stages` work on, with its device code for `chips`. `None` without a cache.
    ///
    /// # Errors
    /// The device code cannot be read.
    pub fn of(stages: &Stages<'_>, searcher: &Searcher<'_>, chips: &Chips<'_>) -> Result<Option<Self>> {
        let cache = Cache::open();
        if !cache.is_on() {
            return Ok(None);
        }
        let read = |path: &PathBuf| std::fs::read(path).map_err(Error::io("read", path));
        let codes = chips.bitcode.iter().map(read).collect::<Result<Vec<_>>>()?;
        let parts: Vec<&[u8]> = codes.iter().map(Vec::as_slice).collect();
        let source = stages.source;
        let options = source.options.that_matter();
        let (input, words) = (&source.unit.input, &source.unit.options);
        let (archs, target, times) = (&chips.archs, searcher.target_name(), searcher.database_text());
        let all = format!("{input:?} {words:?} {archs:?} {target} {:?} {options:?} {times}", stages.survey);
        let stamp = |arch: &&Arch| chips.target.stamp(&source.toolchain.toolkit, &source.kernel_options(&arch.name));
        let tools: String = chips.archs.iter().map(stamp).collect();
        Ok(Some(Self { cache, key: Key::of("search", &all, &parts, &tools) }))
    }

    /// What was found before, with the images of so many architectures, if all of it is still there.
    pub fn recall(&self, archs: usize) -> Option<(Found, Vec<Image>)> {
        let found: Found = serde_json::from_slice(&self.cache.read(self.key)?).ok()?;
        if found.images.len() != archs {
            return None;
        }
        let image = |key: &String| Image::decode(&self.cache.read(Key::parse(key)?)?);
        let images = found.images.iter().map(image).collect::<Option<Vec<_>>>()?;
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
