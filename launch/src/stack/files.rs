//! Files that are mapped to where a process runs, by `/proc/PID/maps`.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::ops::Range;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Device and number of a file.
pub type Identity = (u64, u64);

/// Device and number of the file at a path, if it is there.
pub fn identity_of(path: &Path) -> Option<Identity> {
    let file = fs::metadata(path).ok()?;
    Some((file.dev(), file.ino()))
}

/// A file with instructions that a process has mapped, and how to find it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct MappedFile {
    /// Paths at which it is, in this order: as the process sees it, while that runs, and as this
    /// one does.
    pub paths: [PathBuf; 2],
    /// Its device and number there.
    pub identity: Identity,
    /// Parts of it, in the order of addresses.
    pub mappings: Vec<FileMapping>,
}

/// Part of a file that is mapped.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FileMapping {
    /// Addresses in the process.
    pub addresses: Range<u64>,
    /// Offset in the file.
    pub offset: u64,
    /// True if its bytes are instructions.
    pub runs: bool,
}

/// Files of the process of this thread, those that cannot be read left out; and where its memory
/// can be written, which is where stacks are.
pub(crate) fn mapped(thread: u32) -> io::Result<(Vec<MappedFile>, Vec<Range<u64>>)> {
    let maps = fs::read_to_string(format!("/proc/{thread}/maps"))?;
    let root = PathBuf::from(format!("/proc/{thread}/root"));
    let mut files: BTreeMap<&str, Vec<FileMapping>> = BTreeMap::new();
    let mut writable = Vec::new();
    for line in maps.lines().filter_map(Line::of) {
        if line.can_be_written {
            writable.push(line.mapping.addresses.clone());
        }
        if let Some(path) = line.path {
            files.entry(path).or_default().push(line.mapping);
        }
    }
    files.retain(|_, mappings| mappings.iter().any(|mapping| mapping.runs));
    let known = |(path, mappings): (&str, _)| {
        // As the process sees it, which may be in a container.
        let paths = [root.join(path.trim_start_matches('/')), path.into()];
        let identity = identity_of(&paths[0])?;
        Some(MappedFile { paths, identity, mappings })
    };
    Ok((files.into_iter().filter_map(known).collect(), writable))
}

/// A line of `/proc/PID/maps`.
struct Line<'a> {
    mapping: FileMapping,
    can_be_written: bool,
    /// Path of the file, if it is one's.
    path: Option<&'a str>,
}

impl<'a> Line<'a> {
    fn of(line: &'a str) -> Option<Self> {
        let number = |text| u64::from_str_radix(text, 16).ok();
        let (addresses, rest) = line.split_once(' ')?;
        let (start, end) = addresses.split_once('-')?;
        let (rights, rest) = rest.split_once(' ')?;
        let (offset, _) = rest.split_once(' ')?;
        let addresses = number(start)?..number(end)?;
        let mapping =
            FileMapping { addresses, offset: number(offset)?, runs: rights.contains('x') };
        let path = line.find('/').map(|at| &line[at..]);
        Some(Line { mapping, can_be_written: rights.contains('w'), path })
    }
}

#[cfg(test)]
mod tests;
