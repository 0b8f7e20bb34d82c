//! Running programs of others.

use anyhow::{Context, Result, bail};
use std::env::{split_paths, var_os};
use std::net::{Ipv4Addr, TcpListener};
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Seconds that a peer has for one turn.
const LIMIT: &str = "120";
/// Longest wait for a server to listen, and interval at which its client asks.
const PATIENCE: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(50);

/// Path of a program, by a search of PATH.
pub fn find(name: &str) -> Option<PathBuf> {
    let path = var_os("PATH")?;
    split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())
}

/// The words that, put before a command, end it when it takes too long. It stays in this process's
/// group, so that Ctrl-C ends it too.
pub const LIMITED: [&str; 5] = ["timeout", "--foreground", "--kill-after=2", LIMIT, "env"];

/// Runs `command` to its end; returns what it printed.
///
/// # Errors
/// It cannot be run, or fails: then with the last line that it wrote to standard error.
pub fn output(command: &mut Command) -> Result<String> {
    let output = command.stdin(Stdio::null()).output().context("cannot be run")?;
    text_of(output)
}

fn text_of(output: Output) -> Result<String> {
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    if output.status.code() == Some(124) {
        bail!("took longer than {LIMIT} s");
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let last = said.lines().rev().find(|line| !line.trim().is_empty());
    bail!("ended with {}: {}", output.status, last.unwrap_or("without a word").trim());
}

/// Runs a client, again and again while its server does not listen yet, and then waits for the
/// server; returns what the client printed.
///
/// # Errors
/// Either cannot be run, or fails.
pub fn client_of(server: &mut Command, mut client: impl FnMut() -> Command) -> Result<String> {
    server.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut server = Served(server.spawn().context("cannot be run")?);
    let start = Instant::now();
    loop {
        match output(&mut client()) {
            Ok(text) => return Ok(text),
            Err(error) if start.elapsed() > PATIENCE => return Err(error),
            Err(error) => {
                if let Some(status) = server.0.try_wait()? {
                    return Err(error.context(format!("the server ended with {status}")));
                }
                sleep(PAUSE);
            }
        }
    }
}

/// A server, ended when nobody needs it any more.
struct Served(Child);

impl Drop for Served {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A port that nobody uses.
///
/// # Errors
/// What the system says.
pub fn free_port() -> Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port())
}
