//! Files that are being written: they go when what writes them fails, and when the process is told to end.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

static ALL: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// All of them, files and folders, for whoever ends the process.
pub fn all() -> Vec<PathBuf> {
    ALL.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// A file that is being written, or a folder of such.
pub struct Unfinished {
    path: PathBuf,
    /// Whether it goes when nobody says that it is done.
    is_ours: bool,
}

impl Unfinished {
    /// A file of ours.
    pub fn new(path: &Path) -> Self {
        Self::noted(path, true)
    }

    /// What others write, and remove when they fail.
    pub fn of_others(path: &Path) -> Self {
        Self::noted(path, false)
    }

    fn noted(path: &Path, is_ours: bool) -> Self {
        ALL.lock().unwrap_or_else(PoisonError::into_inner).push(path.to_path_buf());
        Self { path: path.to_path_buf(), is_ours }
    }

    /// It is complete.
    pub fn done(mut self) {
        self.is_ours = false;
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        ALL.lock().unwrap_or_else(PoisonError::into_inner).retain(|path| *path != self.path);
        if self.is_ours {
            // It may never have come to be.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_done_goes() {
        let name =
            |number: u32| std::env::temp_dir().join(format!("regrain-unfinished-{}-{number}", std::process::id()));
        let (done, failed) = (name(1), name(2));
        for path in [&done, &failed] {
            std::fs::write(path, "x").expect("a temporary file");
        }
        let (first, second) = (Unfinished::new(&done), Unfinished::new(&failed));
        assert!(all().contains(&failed));
        first.done();
        drop(second);
        assert!(done.exists() && !failed.exists() && !all().contains(&failed));
        std::fs::remove_file(done).expect("it is there");
    }
}
