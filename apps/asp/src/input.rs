//! Reading text line by line, with errors that point at the line.

use std::io;
use std::path::Path;

/// Reason why the input could not be used.
#[derive(Debug, thiserror::Error)]
pub enum InputError {
    /// A file could not be read.
    #[error("{file}: {cause}")]
    Unreadable {
        /// The file.
        file: String,
        /// Error of the system.
        cause: io::Error,
    },
    /// A line is not what it should be.
    #[error("{file}:{line}: expected {expected}, found {found}")]
    Malformed {
        /// The file.
        file: String,
        /// Its line, from 1.
        line: usize,
        /// Expected contents.
        expected: String,
        /// Actual contents.
        found: String,
    },
    /// There is nothing to compute on.
    #[error("{file}: no route joins two airports, there and back")]
    Empty {
        /// The file of routes.
        file: String,
    },
}

/// A text and the name it goes by in errors.
#[derive(Debug, Clone)]
pub struct Input {
    /// The file's name.
    pub file: String,
    /// All of its text.
    pub text: String,
}

impl Input {
    /// Reads a whole file, which must be UTF-8.
    pub fn read(path: &Path) -> Result<Self, InputError> {
        let file = path.display().to_string();
        match std::fs::read_to_string(path) {
            Ok(text) => Ok(Self { file, text }),
            Err(cause) => Err(InputError::Unreadable { file, cause }),
        }
    }

    /// The lines that say something: neither empty nor a `#` comment.
    pub fn lines(&self) -> impl Iterator<Item = Line<'_>> {
        let numbered = self.text.lines().enumerate();
        numbered
            .filter(|(_, text)| !text.is_empty() && !text.starts_with('#'))
            .map(|(index, text)| Line { file: &self.file, number: index + 1, text })
    }
}

/// One line and where it stands.
#[derive(Debug, Clone, Copy)]
pub struct Line<'a> {
    file: &'a str,
    number: usize,
    /// The line without its end.
    pub text: &'a str,
}

impl Line<'_> {
    /// The error that something else stands here.
    pub fn malformed(&self, expected: impl Into<String>, found: impl Into<String>) -> InputError {
        InputError::Malformed {
            file: self.file.to_owned(),
            line: self.number,
            expected: expected.into(),
            found: found.into(),
        }
    }

    /// A number between two bounds, which is what `what` names.
    pub fn number_within(&self, text: &str, what: &str, bound: f64) -> Result<f64, InputError> {
        match text.parse::<f64>() {
            Ok(value) if value.abs() <= bound => Ok(value),
            _ => Err(self.malformed(format!("a {what} from -{bound} to {bound}"), quoted(text))),
        }
    }
}

/// A piece of input as errors show it: in quotes, and not longer than a line.
pub fn quoted(text: &str) -> String {
    const LONGEST: usize = 60;
    if text.chars().count() <= LONGEST {
        format!("{text:?}")
    } else {
        let start: String = text.chars().take(LONGEST).collect();
        format!("{start:?}...")
    }
}

#[cfg(test)]
mod tests;
