//! Files beside pages, which keep what was seen: CSV, with names of fields in the first line.

use anyhow::{Context, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::path::Path;

/// Lines of a file; none, if it is not there.
///
/// # Errors
/// The file is wrong.
pub fn read<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>> {
    if !path.exists() {
        return Ok(Vec::new());
    }
    let context = || format!("cannot read {}", path.display());
    let mut reader = csv::Reader::from_path(path).with_context(context)?;
    reader.deserialize().collect::<Result<_, _>>().with_context(context)
}

/// Writes a file of these lines.
///
/// # Errors
/// The file cannot be written.
pub fn write<T: Serialize>(path: &Path, lines: impl IntoIterator<Item = T>) -> Result<()> {
    let context = || format!("cannot write {}", path.display());
    let mut writer = csv::Writer::from_path(path).with_context(context)?;
    for line in lines {
        writer.serialize(line).with_context(context)?;
    }
    writer.flush().with_context(context)
}
