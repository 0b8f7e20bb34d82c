//! A trace that was written, and the line about it for the user.

use std::fmt;
use std::path::{Path, PathBuf};

/// Trace of a job that has ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recorded {
    /// File that it is in.
    pub file: PathBuf,
    /// Number of files that it is in, each on the host that it is of; 0 if it is in one, here.
    pub parts: u16,
    /// Number of events in it, if it is in one file.
    pub events: u64,
    /// Number of events that did not fit, in memory or in the file.
    pub lost: u64,
    /// Error for which the file is not whole.
    pub error: Option<String>,
}

impl Recorded {
    /// That of a job whose hosts have written a part each.
    pub fn in_parts(file: &Path, parts: u16) -> Self {
        Recorded { file: file.to_owned(), parts, ..Recorded::default() }
    }

    /// Says on standard error what is missing, if anything is.
    pub fn complain(&self) {
        let name = self.file.display();
        if self.lost > 0 {
            eprintln!("weft: {} events did not fit into the trace {name}", self.lost);
        }
        if let Some(error) = &self.error {
            eprintln!("weft: the rest of the trace {name} could not be written: {error}");
        }
    }
}

impl fmt::Display for Recorded {
    /// A line for people, who want to know where it is.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Recorded { file, parts, events, lost, error } = self;
        let name = file.display();
        if *parts > 0 {
            return write!(
                f,
                "each host has its part of the trace, {name}.0 to {name}.{}: `weft report {name}` shows them where \
                 they are together",
                parts - 1
            );
        }
        write!(f, "{events} events of this run are in {name}: `weft report {name}` shows them")?;
        if *lost > 0 {
            write!(f, "; {lost} more did not fit")?;
        }
        match error {
            Some(error) => write!(f, "; the rest could not be written: {error}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests;
