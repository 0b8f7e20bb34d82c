//! Output of results: lines for people on standard error, objects for programs on standard output.

use std::fs::File;
use std::io;

/// Standard output as programs read it. While this lives, what the simulated program prints goes to
/// standard error, so that nothing comes between the objects.
pub struct Lines(File);

impl Lines {
    /// Takes standard output away from everybody else.
    ///
    /// # Errors
    /// What the system says about its descriptor.
    pub fn take_stdout() -> io::Result<Self> {
        let stdout = rustix::io::dup(rustix::stdio::stdout())?;
        rustix::stdio::dup2_stdout(rustix::stdio::stderr())?;
        Ok(Lines(stdout.into()))
    }

    /// Writes one object.
    ///
    /// # Errors
    /// What the system says.
    pub fn write(&mut self, object: &serde_json::Value) -> io::Result<()> {
        weft_app_common::write_to(&self.0, format_args!("{object}\n"))
    }
}
