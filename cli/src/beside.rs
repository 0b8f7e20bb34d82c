//! The subcommands that are programs of their own, so that who only wants to run programs need not
//! build them: `weft bench` becomes `weft-bench`, which is found beside `weft` or in PATH.

use std::env;
use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, bail};
use clap::Args;
use weft_launch::{FindError, find_program, own_directory};

/// Arguments of the program, as they were typed.
#[derive(Args)]
#[command(disable_help_flag = true)]
pub struct Words {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENTS")]
    words: Vec<OsString>,
}

/// `weft help bench` as `weft bench --help`: the program knows its arguments, and this command does
/// not.
pub fn with_help_last(mut typed: Vec<OsString>) -> Vec<OsString> {
    if typed.len() == 3 && typed[1] == "help" {
        let _ = typed.remove(1);
        typed.push("--help".into());
    }
    typed
}

/// Becomes the program of the subcommand `name`; returns only if it cannot.
///
/// # Errors
/// It is not there, or cannot be run.
pub fn become_command(name: &str, Words { words }: &Words) -> Result<ExitCode> {
    let program = OsString::from(format!("weft-{name}"));
    let own = own_directory().unwrap_or_default();
    let file = match find_program(&program, Some(&own), env::var_os("PATH").as_deref()) {
        Err(FindError::NotFound { .. }) => bail!(
            "weft {name} is a program of its own, weft-{name}, which is neither beside weft ({}) nor in PATH; in a checkout, \
             make build builds it",
            own.display()
        ),
        found => found?,
    };
    // By this name it says how it could be started again.
    let mut own = env::args_os().next().unwrap_or_default();
    own.push(OsStr::new("-"));
    own.push(name);
    let error = Command::new(&file).arg0(own).args(words).exec();
    Err(error).with_context(|| format!("cannot run {}", file.display()))
}

#[cfg(test)]
mod tests;
