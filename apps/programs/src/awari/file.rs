//! Databases in files.
//!
//! ```text
//! bytes | 8 "WEFTAWRI" | 2 version | 2 rules | 4 stones | 8 count | 4 checksum | 4 zero | values
//! ```
//! Numbers are little-endian. A value is a byte with a sign, by the index of its board. The
//! checksum is CRC-32C of the first 24 bytes and the values. A file that is not whole has another
//! name, so that what has the right one is whole, whatever was killed when.

use crate::awari::database::{Database, Databases};
use crate::awari::error::Error;
use crate::awari::index::{MOST_STONES, count};
use rustix::fs::{FlockOperation, flock};
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

const MAGIC: [u8; 8] = *b"WEFTAWRI";
const VERSION: u16 = 1;
/// Rules that the values follow. Others, of grand slams above all, would have another number.
const RULES: u16 = 1;

/// Bytes before the values, and those of them that the checksum covers.
const HEADER: usize = 32;
const COVERED: usize = 24;

/// Databases in a directory.
#[derive(Clone, Debug)]
pub struct Files(PathBuf);

/// A directory in which nobody else makes databases.
#[derive(Debug)]
pub(crate) struct Claim(File);

/// A file that is being written, at rank 0. It is removed if it does not become whole.
pub(crate) struct Unfinished<'a> {
    files: &'a Files,
    stones: u32,
    is_whole: bool,
}

impl Files {
    /// Those in `directory`.
    pub fn new(directory: &Path) -> Self {
        Files(directory.to_owned())
    }

    /// The directory.
    pub fn directory(&self) -> &Path {
        &self.0
    }

    /// File of the database of so many stones.
    pub fn path(&self, stones: u32) -> PathBuf {
        self.0.join(format!("awari-{stones}.db"))
    }

    /// Name of that file while it is written.
    fn part(&self, stones: u32) -> PathBuf {
        self.0.join(format!("awari-{stones}.db.part"))
    }

    /// The database of so many stones; `None` if there is no such file.
    ///
    /// # Errors
    /// [`Error::Damaged`], or a file that cannot be read.
    pub fn read(&self, stones: u32) -> Result<Option<Database>, Error> {
        match fs::read(self.path(stones)) {
            Ok(bytes) => parse(stones, &bytes)
                .map(Some)
                .map_err(|why| Error::Damaged { path: self.path(stones), why }),
            Err(cause) if cause.kind() == ErrorKind::NotFound => Ok(None),
            Err(cause) => Err(file("read", &self.path(stones), cause)),
        }
    }

    /// The database of so many stones.
    ///
    /// # Errors
    /// Those of [`Self::read`], and [`Error::Missing`].
    pub fn need(&self, stones: u32) -> Result<Database, Error> {
        let (path, directory) = (self.path(stones), self.0.clone());
        self.read(stones)?.ok_or(Error::Missing { path, directory, stones })
    }

    /// All databases from 0 stones on up to the first that is missing.
    ///
    /// # Errors
    /// Those of [`Self::read`].
    pub fn read_all(&self) -> Result<Databases, Error> {
        let mut known = Databases::default();
        for stones in 0..=MOST_STONES {
            match self.read(stones)? {
                Some(database) => known.push(database),
                None => break,
            }
        }
        Ok(known)
    }

    /// Makes the directory, if it is not there, and keeps others from making databases in it while
    /// what is returned lives.
    pub(crate) fn claim(&self) -> Result<Claim, Error> {
        fs::create_dir_all(&self.0).map_err(|cause| file("make", &self.0, cause))?;
        let directory = File::open(&self.0).map_err(|cause| file("open", &self.0, cause))?;
        match flock(&directory, FlockOperation::NonBlockingLockExclusive) {
            Err(rustix::io::Errno::WOULDBLOCK) => Err(Error::Busy(self.0.clone())),
            // A file system without locks is none to be refused.
            _ => Ok(Claim(directory)),
        }
    }

    /// Begins to write a database.
    pub(crate) fn begin(&self, stones: u32) -> Result<Unfinished<'_>, Error> {
        let path = self.part(stones);
        let bytes = (HEADER + count(stones) as usize) as u64;
        let made = File::create(&path).and_then(|part| part.set_len(bytes));
        made.map_err(|cause| file("write", &path, cause))?;
        Ok(Unfinished { files: self, stones, is_whole: false })
    }

    /// Writes some of the values of a database that rank 0 has begun to write.
    pub(crate) fn write_values(
        &self,
        rank: usize,
        database: &Database,
        values: Range<usize>,
    ) -> Result<(), Error> {
        let (path, at) = (self.part(database.stones()), HEADER + values.start);
        let bytes = bytemuck::cast_slice(&database.values()[values]);
        let open = File::options().write(true).open(&path);
        let written = open.and_then(|part| {
            part.write_all_at(bytes, at as u64)?;
            part.sync_data()
        });
        written.map_err(|cause| match cause.kind() {
            ErrorKind::NotFound => Error::NotShared { rank, path },
            _ => file("write", &path, cause),
        })
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        // Closing does not end it while a process that another thread has just forked has the file.
        let _ = flock(&self.0, FlockOperation::Unlock);
    }
}

impl Unfinished<'_> {
    /// Ends a file whose values all ranks have written: reads them, writes the header, and gives it
    /// its name.
    pub fn finish(mut self, database: &Database) -> Result<(), Error> {
        let (part, path) = (self.files.part(self.stones), self.files.path(self.stones));
        let done = self.complete(&part, &header(database));
        done.map_err(|cause| file("write", &part, cause))?;
        let bytes = fs::read(&part).map_err(|cause| file("read", &part, cause))?;
        // A file that ranks of other hosts wrote into another directory, where one of that name had
        // been left, is not here.
        parse(self.stones, &bytes).map_err(|why| Error::Scattered { path: part.clone(), why })?;
        fs::rename(&part, &path).map_err(|cause| file("rename", &part, cause))?;
        self.is_whole = true;
        let directory = &self.files.0;
        let synced = File::open(directory).and_then(|directory| directory.sync_all());
        synced.map_err(|cause| file("write", directory, cause))
    }

    fn complete(&self, part: &Path, header: &[u8]) -> io::Result<()> {
        let part = File::options().write(true).open(part)?;
        part.write_all_at(header, 0)?;
        part.sync_all()
    }
}

impl Drop for Unfinished<'_> {
    fn drop(&mut self) {
        if !self.is_whole {
            // What is left behind if even this fails has no name that anybody reads.
            let _ = fs::remove_file(self.files.part(self.stones));
        }
    }
}

fn file(doing: &'static str, path: &Path, cause: io::Error) -> Error {
    Error::File { doing, path: path.to_owned(), cause }
}

fn header(database: &Database) -> [u8; HEADER] {
    let stones = database.stones();
    let mut header = [0; HEADER];
    header[..8].copy_from_slice(&MAGIC);
    header[8..10].copy_from_slice(&VERSION.to_le_bytes());
    header[10..12].copy_from_slice(&RULES.to_le_bytes());
    header[12..16].copy_from_slice(&stones.to_le_bytes());
    header[16..24].copy_from_slice(&u64::from(count(stones)).to_le_bytes());
    let sum = checksum(&header[..COVERED], bytemuck::cast_slice(database.values()));
    header[24..28].copy_from_slice(&sum.to_le_bytes());
    header
}

fn checksum(header: &[u8], values: &[u8]) -> u32 {
    crc32c::crc32c_append(crc32c::crc32c(header), values)
}

/// Database in the bytes of a file, or what is wrong with them.
fn parse(stones: u32, bytes: &[u8]) -> Result<Database, String> {
    let all = count(stones.min(MOST_STONES)) as usize;
    let Some((header, values)) = bytes.split_at_checked(HEADER) else {
        return Err(format!("it has {} bytes, fewer than its header", bytes.len()));
    };
    let number = |at: usize| u16::from_le_bytes([header[at], header[at + 1]]);
    if header[..8] != MAGIC {
        return Err("it does not begin as a database does".into());
    }
    if (number(8), number(10)) != (VERSION, RULES) {
        let (version, rules) = (number(8), number(10));
        return Err(format!(
            "it has version {version} and rules {rules}, this is {VERSION} and {RULES}"
        ));
    }
    let is_of = header[12..16] == stones.to_le_bytes();
    if !is_of || header[16..24] != (all as u64).to_le_bytes() || header[28..] != [0; 4] {
        return Err(format!("it is not the database of {stones} stones"));
    }
    if values.len() != all {
        return Err(format!("it has {} values instead of {all}", values.len()));
    }
    let sum = checksum(&header[..COVERED], values);
    if header[24..28] != sum.to_le_bytes() {
        return Err("its checksum is another".into());
    }
    Database::new(stones, bytemuck::cast_slice(values).to_vec())
        .ok_or_else(|| format!("a value is greater than {stones}"))
}

#[cfg(test)]
mod tests;
