//! Device images by content: a module that was compiled before, by whichever program, is not compiled again. What else is
//! worth keeping may lie beside them.
//!
//! The key is a hash of the module's bitcode, of everything that decides what becomes of it (options, chip, tools), and of
//! this compiler itself with its LLVM. An entry is one file under `REGRAIN_CACHE_DIR`, else `$XDG_CACHE_HOME/regrain`, else
//! `~/.cache/regrain`; with `REGRAIN_CACHE_DIR` set to nothing there is no cache. It is written beside and moved into place,
//! carries a checksum, and whatever is wrong with one is as if it were not there: the cache never makes a compilation fail.
//! `REGRAIN_CACHE_SIZE` (MiB, 1024 by default) bounds it; the entries that were used longest ago go first.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

const DEFAULT_SIZE: u64 = 1024;
const CHECKSUM_SIZE: usize = 32;

/// The cache of this user; without a folder it holds nothing.
#[derive(Clone, Debug)]
pub struct Cache {
    root: Option<PathBuf>,
    /// Bytes.
    size: u64,
}

/// What a compilation depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key(blake3::Hash);

/// Tells one state of a file from another: its size and time.
pub fn stamp(path: &Path) -> String {
    let seen = path.metadata().ok();
    let time = seen.as_ref().and_then(|m| m.modified().ok()?.duration_since(SystemTime::UNIX_EPOCH).ok());
    format!("{:?} {:?}", seen.map(|m| m.len()), time)
}

impl Key {
    /// The key of what this compiler makes of `parts`. `kind` keeps apart what is made of the same; `options` is everything
    /// else that it depends on, `tools` the stamp of the tools that it takes.
    pub fn of(kind: &str, options: &str, parts: &[&[u8]], tools: &str) -> Self {
        let us = std::env::current_exe().map(|path| stamp(&path)).unwrap_or_default();
        let llvm = format!("{:?}", inkwell::support::get_llvm_version());
        let texts = [us.as_str(), &llvm, tools, kind, options].map(str::as_bytes);
        Self::combine(texts.into_iter().chain(parts.iter().copied()))
    }

    fn combine<'p>(parts: impl Iterator<Item = &'p [u8]>) -> Self {
        let mut hasher = blake3::Hasher::new();
        for part in parts {
            // With its length, so that no other parts are the same bytes.
            hasher.update(&(part.len() as u64).to_le_bytes()).update(part);
        }
        Self(hasher.finalize())
    }

    /// As [`Key::parse`] reads it.
    pub fn text(&self) -> String {
        self.0.to_hex().to_string()
    }

    /// A key from its text.
    pub fn parse(text: &str) -> Option<Self> {
        blake3::Hash::from_hex(text).ok().map(Self)
    }
}

impl Cache {
    /// The cache that the environment names.
    pub fn open() -> Self {
        let folder = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let root = match std::env::var_os("REGRAIN_CACHE_DIR") {
            Some(named) => Some(PathBuf::from(named)).filter(|path| !path.as_os_str().is_empty()),
            None => folder("XDG_CACHE_HOME")
                .or_else(|| folder("HOME").map(|home| home.join(".cache")))
                .map(|p| p.join("regrain")),
        };
        let size = std::env::var("REGRAIN_CACHE_SIZE").ok().and_then(|text| text.parse().ok()).unwrap_or(DEFAULT_SIZE);
        Self { root, size: size << 20 }
    }

    /// A cache in a folder of one's own, of at most `size` bytes.
    pub fn at(root: impl Into<PathBuf>, size: u64) -> Self {
        Self { root: Some(root.into()), size }
    }

    fn path(&self, key: Key) -> Option<PathBuf> {
        let name = key.0.to_hex();
        Some(self.root.as_ref()?.join(&name[..2]).join(&name[2..]))
    }

    /// The folder of it all, if anything is kept.
    pub fn folder(&self) -> Option<&Path> {
        self.root.as_deref()
    }

    /// Whether anything is kept at all.
    pub fn is_on(&self) -> bool {
        self.root.is_some()
    }

    /// What was kept under `key`.
    pub fn read(&self, key: Key) -> Option<Vec<u8>> {
        let path = self.path(key)?;
        let mut bytes = std::fs::read(&path).ok()?;
        let (content, checksum) = bytes.split_at_checked(bytes.len().checked_sub(CHECKSUM_SIZE)?)?;
        if blake3::hash(content).as_bytes() != checksum {
            return None;
        }
        bytes.truncate(content.len());
        // The time of the last use, by which entries go.
        let _ = std::fs::File::options().append(true).open(&path).and_then(|file| file.set_modified(SystemTime::now()));
        Some(bytes)
    }

    /// Keeps `content`.
    pub fn write(&self, key: Key, content: &[u8]) {
        if let Some(path) = self.path(key)
            && let Err(error) = write(&path, content)
        {
            tracing::debug!(target: "cache", "{}: {error}", path.display());
        }
        // Rarely, since it looks at every entry.
        if key.0.as_bytes()[31] < 8 {
            self.trim();
        }
    }

    /// Removes what was used longest ago until the rest fits.
    pub fn trim(&self) {
        let Some(root) = &self.root else { return };
        let list = |path: &Path| std::fs::read_dir(path).into_iter().flatten().filter_map(Result::ok);
        let mut entries: Vec<(SystemTime, u64, PathBuf)> = list(root)
            .flat_map(|folder| list(&folder.path()))
            .filter_map(|entry| {
                let seen = entry.metadata().ok().filter(std::fs::Metadata::is_file)?;
                Some((seen.modified().ok()?, seen.len(), entry.path()))
            })
            .collect();
        entries.sort();
        let mut total: u64 = entries.iter().map(|(_, size, _)| size).sum();
        for (_, size, path) in entries {
            if total <= self.size {
                break;
            }
            if std::fs::remove_file(path).is_ok() {
                total -= size;
            }
        }
    }
}

fn write(path: &Path, content: &[u8]) -> std::io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(content)?;
    file.write_all(blake3::hash(content).as_bytes())?;
    file.persist(path).map(drop).map_err(|error| error.error)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(text: &str) -> Key {
        Key(blake3::hash(text.as_bytes()))
    }

    #[test]
    fn gives_back_what_it_got() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let cache = Cache::at(folder.path(), 1 << 20);
        assert_eq!(cache.read(key("a")), None);
        cache.write(key("a"), b"content\nof a");
        assert_eq!(cache.read(key("a")).as_deref(), Some(&b"content\nof a"[..]));
        assert_eq!(cache.read(key("b")), None);
    }

    #[test]
    fn keys_depend_on_all_they_are_made_of() {
        let key = Key::of("image", "-O3", &[b"bitcode"], "tools 1");
        assert_eq!(key, Key::of("image", "-O3", &[b"bitcode"], "tools 1"));
        for other in [
            Key::of("search", "-O3", &[b"bitcode"], "tools 1"),
            Key::of("image", "-O2", &[b"bitcode"], "tools 1"),
            Key::of("image", "-O3", &[b"other"], "tools 1"),
            Key::of("image", "-O3", &[b"bitcode"], "tools 2"),
        ] {
            assert_ne!(key, other);
        }
    }

    #[test]
    fn keys_keep_parts_apart() {
        let of = |parts: &[&str]| Key::combine(parts.iter().map(|part| part.as_bytes()));
        let key = of(&["a", "b", "c"]);
        assert_eq!(key, of(&["a", "b", "c"]));
        for other in [&["ab", "", "c"][..], &["a", "bc"], &["a", "b", "c", ""], &["c", "b", "a"]] {
            assert_ne!(key, of(other), "{other:?}");
        }
        assert_eq!(Key::parse(&key.text()), Some(key));
        assert_eq!(Key::parse("../escape"), None);
    }

    #[test]
    fn damage_is_a_miss() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let cache = Cache::at(folder.path(), 1 << 20);
        cache.write(key("a"), b"content");
        let path = cache.path(key("a")).expect("a path");
        let whole = std::fs::read(&path).expect("an entry");
        let mut other = whole.clone();
        other[whole.len() / 2] ^= 1;
        for bad in [&whole[..10], &whole[..0], &whole[..whole.len() - 1], &other] {
            std::fs::write(&path, bad).expect("written");
            assert!(cache.read(key("a")).is_none());
        }
        std::fs::write(&path, &whole).expect("written");
        assert!(cache.read(key("a")).is_some());
    }

    #[test]
    fn the_longest_unused_goes_first() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let one = Cache::at(folder.path(), 1 << 20);
        let names: Vec<String> = (0..10).map(|number| number.to_string()).collect();
        for (age, name) in names.iter().enumerate() {
            one.write(key(name), &[b'x'; 1200]);
            let path = one.path(key(name)).expect("a path");
            let time = SystemTime::now() - std::time::Duration::from_secs(1000 - age as u64);
            let file = std::fs::File::options().append(true).open(path).expect("an entry");
            file.set_modified(time).expect("a time");
        }
        Cache::at(folder.path(), 3500).trim();
        let left: Vec<&String> = names.iter().filter(|name| one.read(key(name)).is_some()).collect();
        assert_eq!(left.last(), Some(&&names[9]));
        assert!((1..=3).contains(&left.len()), "{left:?}");
    }

    #[test]
    fn without_a_folder_nothing_is_kept() {
        let cache = Cache { root: None, size: 0 };
        cache.write(key("a"), b"content");
        assert!(cache.read(key("a")).is_none());
    }
}
