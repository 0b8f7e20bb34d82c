//! System calls that a filter may refuse, as those of containers do: the error names the call.

use rustix::io::Errno;
use std::io;

/// Error of a system call. If the system refuses the call altogether it has its name, and what to
/// do; others are as they are.
pub fn name_refusal(call: &str, error: Errno) -> io::Error {
    match error {
        Errno::PERM | Errno::NOSYS | Errno::ACCESS => {
            let text =
                format!("{call}: {error}; allow {call} in the container's system-call filter");
            io::Error::new(io::ErrorKind::PermissionDenied, text)
        }
        other => other.into(),
    }
}

#[cfg(test)]
mod tests;
