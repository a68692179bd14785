//! The file of a tuning database: many processes may write it at once and none loses what another wrote.
//!
//! A writer locks the file, reads it, writes a new one beside it and renames that over the old. Whoever waited for the lock
//! of the old file finds that the name means another file now, and starts again. No lock file stays behind.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::database::{Database, Error};

impl Database {
    /// Changes the database at `path` while nobody else does, and returns it as it is now. A file that does not exist is
    /// made. Waits at most `patience` for other processes.
    pub fn update(path: &Path, patience: Duration, change: impl FnOnce(&mut Self)) -> Result<Self, Error> {
        let failed = |what| move |cause| Error::Io { what, path: path.to_owned(), cause };
        // A link stays a link.
        let target = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let mut file = lock(&target, path, Instant::now() + patience)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(failed("read"))?;
        let mut database = Self::parse(&bytes, path)?;
        change(&mut database);
        let content = database.to_bytes();
        if content != bytes {
            replace(&target, &content, &file).map_err(failed("write"))?;
        }
        Ok(database)
    }

    /// Writes the database to a file of its own, over whatever was there.
    pub fn save(&self, path: &Path) -> Result<(), Error> {
        let target = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let file = lock(&target, path, Instant::now() + Duration::from_secs(30))?;
        replace(&target, &self.to_bytes(), &file).map_err(|cause| Error::Io {
            what: "write",
            path: path.to_owned(),
            cause,
        })
    }
}

/// Opens and locks the file that `path` means once the lock is ours; `shown` is its name in messages.
fn lock(path: &Path, shown: &Path, deadline: Instant) -> Result<File, Error> {
    let failed = |what| move |cause| Error::Io { what, path: shown.to_owned(), cause };
    loop {
        if path.metadata().is_ok_and(|metadata| !metadata.is_file()) {
            return Err(failed("write")(io::Error::other("not a regular file")));
        }
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)
            .map_err(failed("open"))?;
        loop {
            match file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) if Instant::now() < deadline => {
                    std::thread::sleep(Duration::from_millis(2))
                }
                Err(TryLockError::WouldBlock) => return Err(Error::Locked { path: shown.to_owned() }),
                Err(TryLockError::Error(cause)) => return Err(failed("lock")(cause)),
            }
        }
        let locked = file.metadata().map_err(failed("read"))?;
        if path.metadata().is_ok_and(|now| (now.dev(), now.ino()) == (locked.dev(), locked.ino())) {
            return Ok(file);
        }
    }
}

/// Puts a new file in the place of the locked one.
fn replace(path: &Path, content: &[u8], locked: &File) -> io::Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.tmp", std::process::id()));
    let temporary: PathBuf = path.with_file_name(name);
    let write = || {
        let mut file = File::create(&temporary)?;
        file.set_permissions(locked.metadata()?.permissions())?;
        file.write_all(content)?;
        file.sync_data()?;
        std::fs::rename(&temporary, path)
    };
    write().inspect_err(|_| {
        let _ = std::fs::remove_file(&temporary);
    })
}
