//! Files that a command writes: never over what it reads, never half.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, fchown};
use std::path::Path;

use tempfile::NamedTempFile;

/// True if two names are those of one file.
pub fn are_same(one: &Path, other: &Path) -> bool {
    let identity = |path| fs::metadata(path).map(|about| (about.dev(), about.ino()));
    matches!((identity(one), identity(other)), (Ok(one), Ok(other)) if one == other)
}

/// Replaces the text of a file, which keeps its permissions. If that fails, such as on a full disk,
/// it has the text that it had.
///
/// # Errors
/// Errors of the system: neither the file nor its folder may be written, or there is no room.
pub fn replace(path: &Path, text: &str) -> io::Result<()> {
    // Of a link what it leads to is replaced.
    let path = fs::canonicalize(path)?;
    let folder = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
    // A user that may not write it may not replace it, either.
    let about = File::options().write(true).open(&path)?.metadata()?;
    let mut draft = NamedTempFile::new_in(folder)?;
    draft.write_all(text.as_bytes())?;
    // Only for root another owner can be kept, and for some another group.
    let _ = fchown(draft.as_file(), Some(about.uid()), Some(about.gid()));
    draft.as_file().set_permissions(about.permissions())?;
    draft.as_file().sync_all()?;
    draft.persist(&path)?;
    Ok(())
}
