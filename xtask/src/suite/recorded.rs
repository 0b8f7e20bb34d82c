//! A program as Cargo would run it: its words, folder and environment, in a file.

use anyhow::{Context, Result};
use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Byte between two texts of a file, which no word, folder or variable of a process has.
const END: u8 = 0;

/// A program, and all that it is to be given.
#[derive(Clone)]
pub struct Recorded {
    folder: PathBuf,
    words: Vec<OsString>,
    environment: Vec<(OsString, OsString)>,
}

/// Writes down, into a new file of `folder`, how this process was told to run `words`.
///
/// # Errors
/// The file cannot be written.
pub fn record(folder: &Path, words: &[OsString]) -> Result<()> {
    let mut bytes = Vec::new();
    let mut put = |text: &[u8]| {
        bytes.extend(text);
        bytes.push(END);
    };
    put(env::current_dir()?.as_os_str().as_bytes());
    put(words.len().to_string().as_bytes());
    words.iter().for_each(|word| put(word.as_bytes()));
    for (name, value) in env::vars_os() {
        put(name.as_bytes());
        put(value.as_bytes());
    }
    // Cargo runs one after the other.
    let number = fs::read_dir(folder)?.count();
    Ok(fs::write(folder.join(format!("{number:04}")), bytes)?)
}

impl Recorded {
    /// The program that a file tells of.
    ///
    /// # Errors
    /// It cannot be read, or is no such file.
    pub fn read(file: &Path) -> Result<Self> {
        let bytes = fs::read(file)?;
        Self::parse(&bytes).with_context(|| format!("{} tells of no program", file.display()))
    }

    fn parse(bytes: &[u8]) -> Option<Self> {
        let mut texts = bytes.strip_suffix(&[END])?.split(|byte| *byte == END);
        let mut next = || Some(OsString::from_vec(texts.next()?.to_vec()));
        let folder = next()?.into();
        let count: usize = next()?.to_str()?.parse().ok()?;
        let words = (0..count).map(|_| next()).collect::<Option<_>>()?;
        let environment = std::iter::from_fn(|| Some((next()?, next()?))).collect();
        Some(Recorded { folder, words, environment })
    }

    /// Name of the target: `it` of `target/debug/deps/it-0123456789abcdef`.
    pub fn name(&self) -> String {
        let file = self.words.first().map(Path::new).and_then(Path::file_name).unwrap_or_default();
        let file = file.to_string_lossy();
        file.rsplit_once('-').map_or(&*file, |(name, _)| name).to_owned()
    }

    /// Folder of its crate, from the root of the repository.
    pub fn folder_in(&self, root: &Path) -> &Path {
        self.folder.strip_prefix(root).unwrap_or(&self.folder)
    }

    /// The command that runs it as Cargo would, with these words before all of its own.
    pub fn command(&self, before: &[&str]) -> Command {
        let mut words = before.iter().map(OsStr::new).chain(self.words.iter().map(|word| &**word));
        let mut command = Command::new(words.next().unwrap_or_default());
        command.args(words).current_dir(&self.folder);
        command.env_clear().envs(self.environment.iter().map(|(name, value)| (name, value)));
        command.stdin(Stdio::null());
        command
    }
}
