//! File with the key of a door.

use crate::messages::DoorKey;
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

/// File with the key of a job's door, which goes with the job.
#[derive(Debug)]
pub(crate) struct DoorFile {
    path: PathBuf,
    text: String,
}

impl DoorFile {
    /// Writes it, whole or not at all, for this user alone; one that a job has left is replaced.
    ///
    /// # Errors
    /// Those of the system; [`AlreadyExists`](io::ErrorKind::AlreadyExists) if there is another
    /// file.
    pub fn write(path: &Path, key: &DoorKey) -> io::Result<Self> {
        if path.exists() && DoorKey::find(&path.to_string_lossy()).is_err() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        let text = format!("{key}\n");
        let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?.to_string_lossy();
        let part = path.with_file_name(format!(".{name}.{}", std::process::id()));
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&part)?;
        let written = file.write_all(text.as_bytes()).and_then(|()| fs::rename(&part, path));
        written.inspect_err(|_| drop(fs::remove_file(&part)))?;
        Ok(DoorFile { path: path.into(), text })
    }
}

impl Drop for DoorFile {
    /// Removes it, unless another job has written its own there.
    fn drop(&mut self) {
        if fs::read_to_string(&self.path).is_ok_and(|text| text == self.text) {
            let _ = fs::remove_file(&self.path);
        }
    }
}
