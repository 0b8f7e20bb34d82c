//! Standard output of programs.
//!
//! If nobody reads on, as behind `head`, nobody misses what follows, and the program's status still
//! tells. Any other error loses what somebody wants: it is said, and the status is not 0.

use std::fmt;
use std::io::{self, ErrorKind, Write};

/// Writes text.
///
/// # Errors
/// Output that could not be written, and why.
pub fn write_out(text: impl fmt::Display) -> io::Result<()> {
    write_to(io::stdout().lock(), text)
}

/// Writes text to a program's standard output by another handle to it.
///
/// # Errors
/// Those of [`write_out`].
pub fn write_to(mut out: impl Write, text: impl fmt::Display) -> io::Result<()> {
    written(write!(out, "{text}").and_then(|()| out.flush()))
}

/// Result of what was written to standard output, once it has left.
pub(crate) fn written(outcome: io::Result<()>) -> io::Result<()> {
    match outcome.and_then(|()| io::stdout().flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(io::Error::new(error.kind(), format!("cannot write to standard output: {error}")))
        }
        _ => Ok(()),
    }
}

/// Writes a line; a program that cannot says why, and ends.
pub fn say_line(line: fmt::Arguments<'_>) {
    if let Err(error) = write_out(format_args!("{line}\n")) {
        eprintln!("weft: {error}");
        std::process::exit(1);
    }
}

/// Does what `println!` does, except that a reader who is gone is no error, and others are one line
/// and status 1.
#[macro_export]
macro_rules! say {
    ($($line:tt)*) => { $crate::say_line(format_args!($($line)*)) };
}
