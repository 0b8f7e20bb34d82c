//! Scripts that tests write and then have executed.

use std::io::{self, Write};
use std::path::Path;
use std::process::{Command, Stdio};

/// Writes an executable script, by a process of its own: whatever else this one starts meanwhile
/// would have the file open for writing until it is executed itself, and the kernel executes no
/// such file (`ETXTBSY`).
///
/// # Errors
/// What the system says, or that the file cannot be written.
pub fn write_script(path: &Path, text: &str) -> io::Result<()> {
    let mut writer = Command::new("sh")
        .args(["-c", "cat > \"$0\" && chmod 755 \"$0\""])
        .arg(path)
        .stdin(Stdio::piped())
        .spawn()?;
    if let Some(mut into) = writer.stdin.take() {
        into.write_all(text.as_bytes())?;
    }
    let written = writer.wait()?.success();
    written
        .then_some(())
        .ok_or_else(|| io::Error::other(format!("{} cannot be written", path.display())))
}
