//! Jobs and processes that run one application, each by itself.

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::suite::{Application, Size};
use anyhow::{Context, Result, bail};
use weft_launch::{find_program, own_directory};

use crate::application::measured::Measured;
use crate::application::options::Options;

/// Maker of jobs.
pub struct Jobs<'a> {
    options: &'a Options,
    weft: PathBuf,
    own: PathBuf,
}

impl<'a> Jobs<'a> {
    /// Jobs by these options. `weft` is beside this program, or in PATH.
    ///
    /// # Errors
    /// It is not.
    pub fn new(options: &'a Options) -> Result<Self> {
        let beside = own_directory();
        let path = env::var_os("PATH");
        let weft = find_program(OsStr::new("weft"), beside.as_deref(), path.as_deref())?;
        let own = env::current_exe().context("cannot tell where this program is")?;
        Ok(Jobs { options, weft, own })
    }

    /// Runs an application on so many ranks, and writes a trace if it is said where.
    ///
    /// # Errors
    /// The ranks cannot be started, or fail.
    pub fn on_ranks(
        &self,
        application: Application,
        ranks: u16,
        trace: Option<&Path>,
    ) -> Result<Measured> {
        let mut command = Command::new(&self.weft);
        let simulated = self.options.simulated;
        command.arg(if simulated { "sim" } else { "run" }).args(["-n", &ranks.to_string()]);
        for (name, value) in [("--preset", &self.options.preset), ("--link", &self.options.link)] {
            if let Some(value) = value {
                command.args([name, value]);
            }
        }
        if let Some(trace) = trace {
            let mut word = OsString::from("--trace=");
            word.push(trace);
            command.arg(word);
        }
        match simulated {
            true => command.arg("weft-application"),
            false => command.arg("--").arg(&self.own),
        };
        self.measure(command, application)
    }

    /// Runs an application with so many bare threads.
    ///
    /// # Errors
    /// They fail.
    pub fn on_threads(&self, application: Application, threads: u16) -> Result<Measured> {
        let mut command = Command::new(&self.own);
        command.args(["--bare", &threads.to_string()]);
        self.measure(command, application)
    }

    fn measure(&self, mut command: Command, application: Application) -> Result<Measured> {
        let size = match self.options.size() {
            Size::Thesis => "thesis",
            Size::Host => "host",
            Size::Small => "small",
        };
        command
            .args([application.name(), "--json", "--size", size, "--"])
            .args(&self.options.words);
        command.env("WEFT_QUIET", "1").stdin(Stdio::null()).stderr(Stdio::piped());
        let output = command.output().with_context(|| format!("cannot run {command:?}"))?;
        if !output.status.success() {
            bail!("{application} failed: {}", String::from_utf8_lossy(&output.stderr).trim());
        }
        let text = String::from_utf8_lossy(&output.stdout);
        let line = text.lines().find(|line| line.starts_with("{\"application\""));
        let line = line.with_context(|| format!("{application} has told nothing: {text}"))?;
        Ok(serde_json::from_str(line)?)
    }
}
