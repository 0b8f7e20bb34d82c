//! Finding the program that the ranks run.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};
use serde::{Deserialize, Serialize};
use weft_wire::Rank;

/// Bytes of a script's first line that the system looks at.
const INTERPRETER_BYTES_MAX: u64 = 256;

/// Reason why there is no program to run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FindError {
    /// Nothing of that name is anywhere it was looked for.
    #[error(
        "cannot find the program {name:?}: looked {places}; give its path, or put its directory in PATH"
    )]
    NotFound {
        /// Name that was looked for.
        name: OsString,
        /// Directories that were searched, in words.
        places: String,
    },
    /// The path leads nowhere.
    #[error("cannot find the program {0:?}: there is no such file")]
    NoFile(PathBuf),
    /// The path leads to a directory.
    #[error("cannot run {0:?}: it is a directory")]
    Directory(PathBuf),
    /// The path leads to another thing that no one can run.
    #[error("cannot run {0:?}: it is not a file")]
    NotAFile(PathBuf),
    /// The script begins with the name of an interpreter that is not there.
    #[error(
        "cannot run {script:?}: its first line names the interpreter {interpreter:?}, and there is no such file"
    )]
    NoInterpreter {
        /// The script.
        script: PathBuf,
        /// File that its first line names.
        interpreter: PathBuf,
    },
    /// The file is the source of a program.
    #[error("cannot run {file:?}: it is {what}")]
    Source {
        /// The file.
        file: PathBuf,
        /// Description of it, and what to do with it.
        what: &'static str,
    },
    /// The file may not be run.
    #[error("cannot run {0:?}: it is not executable (chmod +x makes it so)")]
    NotExecutable(PathBuf),
}

impl FindError {
    /// Exit status that shells have for it.
    pub fn status(&self) -> u8 {
        match self {
            FindError::NotFound { .. } | FindError::NoFile(_) => 127,
            FindError::Directory(_)
            | FindError::NotAFile(_)
            | FindError::NoInterpreter { .. }
            | FindError::Source { .. }
            | FindError::NotExecutable(_) => 126,
        }
    }
}

/// A program with its arguments, which ranks from some number on run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program {
    /// Number of the first of them. They are all up to the next program's first.
    pub first: u16,
    /// The program, a path or a name.
    pub program: OsString,
    /// Its arguments.
    pub arguments: Vec<OsString>,
}

/// Files of the programs that some ranks of a job run, by the first ranks of these programs.
#[derive(Debug)]
pub(crate) struct Found(Vec<(u16, PathBuf)>);

impl Found {
    /// Finds what the ranks of `here` run, of `programs` in the order of their first ranks. Paths
    /// are from `directory`, if that is given: ranks start there.
    pub fn find<'a>(
        programs: impl Iterator<Item = (u16, &'a OsStr)>,
        here: &[Rank],
        beside: Option<&Path>,
        directory: Option<&Path>,
    ) -> Result<Self, FindError> {
        let path = env::var_os("PATH");
        let mut programs = programs.peekable();
        let mut found = Vec::new();
        while let Some((first, name)) = programs.next() {
            let end = programs.peek().map_or(u16::MAX, |(next, _)| *next);
            if here.iter().any(|rank| (first..end).contains(&rank.0)) {
                found.push((first, find_from(directory, name, beside, path.as_deref())?));
            }
        }
        Ok(Found(found))
    }

    /// All of them.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        self.0.iter().map(|(_, file)| &**file)
    }

    /// The file of the program of a rank for which they were found.
    pub fn of(&self, rank: Rank) -> &Path {
        let later = self.0.partition_point(|(first, _)| *first <= rank.0);
        &self.0[later.saturating_sub(1)].1
    }
}

/// The directory of this executable: the programs that come with Weft lie in it.
pub fn own_directory() -> Option<PathBuf> {
    env::current_exe().ok()?.parent().map(Path::to_path_buf)
}

/// Finds `name`: a path as it is, a bare name in the directory `beside` first and then in each of
/// `path`.
///
/// # Errors
/// [`FindError`] says what was looked for, and where.
pub fn find_program(
    name: &OsStr,
    beside: Option<&Path>,
    path: Option<&OsStr>,
) -> Result<PathBuf, FindError> {
    if name.as_bytes().contains(&b'/') || name == "." || name == ".." {
        let file = PathBuf::from(name);
        return match check(&file) {
            Some(error) => Err(error),
            None => Ok(file),
        };
    }
    let in_path = path.into_iter().flat_map(env::split_paths);
    let mut not_executable = None;
    for directory in beside.map(Path::to_path_buf).into_iter().chain(in_path) {
        let file = directory.join(name);
        match check(&file) {
            None if !name.is_empty() => return Ok(file),
            Some(error @ FindError::NotExecutable(_)) => {
                not_executable.get_or_insert(error);
            }
            _ => {}
        }
    }
    let places = places(beside, path);
    Err(not_executable.unwrap_or(FindError::NotFound { name: name.to_owned(), places }))
}

/// Finds `name` likewise, as a process finds it that is in this directory.
fn find_from(
    directory: Option<&Path>,
    name: &OsStr,
    beside: Option<&Path>,
    path: Option<&OsStr>,
) -> Result<PathBuf, FindError> {
    let Some(directory) = directory else { return find_program(name, beside, path) };
    let is_path = name.as_bytes().contains(&b'/');
    let from_there = directory.join(name);
    let found = find_program(if is_path { from_there.as_os_str() } else { name }, beside, path)?;
    // PATH may have folders that are named from here.
    std::path::absolute(&found).map_err(|_| FindError::NoFile(found))
}

/// Error that keeps this file from being run, if there is one.
fn check(file: &Path) -> Option<FindError> {
    let Ok(metadata) = file.metadata() else { return Some(FindError::NoFile(file.into())) };
    if metadata.is_dir() {
        return Some(FindError::Directory(file.into()));
    }
    if !metadata.is_file() {
        return Some(FindError::NotAFile(file.into()));
    }
    if access(file, Access::EXEC_OK).is_err() {
        return Some(match source(file) {
            Some(what) => FindError::Source { file: file.into(), what },
            None => FindError::NotExecutable(file.into()),
        });
    }
    let interpreter = interpreter_of(file).filter(|interpreter| !interpreter.exists())?;
    Some(FindError::NoInterpreter { script: file.into(), interpreter })
}

/// Description of a file whose name is that of a source.
fn source(file: &Path) -> Option<&'static str> {
    Some(match file.extension()?.to_str()? {
        "c" | "cc" | "cpp" | "cxx" | "f" | "f90" => {
            "source: compile it, and run the program that comes of it"
        }
        "rs" => "source: cargo build compiles it, and its program is in target",
        "orca" => "an Orca program: orcac run starts it",
        "py" => "a Python program: put its interpreter before it, as in python3 program.py",
        "java" | "jar" | "class" => "a Java program: put java before it",
        _ => return None,
    })
}

/// The file that the first line of a script names.
fn interpreter_of(file: &Path) -> Option<PathBuf> {
    let mut line = Vec::new();
    let script = BufReader::new(File::open(file).ok()?);
    script.take(INTERPRETER_BYTES_MAX).read_until(b'\n', &mut line).ok()?;
    let words = line.strip_prefix(b"#!")?.trim_ascii();
    let name = words.split(u8::is_ascii_whitespace).next().filter(|name| !name.is_empty())?;
    Some(OsStr::from_bytes(name).into())
}

fn places(beside: Option<&Path>, path: Option<&OsStr>) -> String {
    let mut words = String::new();
    if let Some(beside) = beside {
        // Writing to a string never fails.
        let _ = write!(words, "beside weft ({}) and ", beside.display());
    }
    match path {
        Some(path) => words + "in PATH (" + &path.to_string_lossy() + ")",
        None => words + "in PATH (which is not set)",
    }
}

#[cfg(test)]
mod tests;
