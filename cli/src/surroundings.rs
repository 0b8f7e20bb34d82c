//! Environment and directory of ranks, and the longest time of their job.

use clap::Args;
use clap::builder::{OsStringValueParser, TypedValueParser};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{self, PathBuf};
use std::time::Duration;
use weft_launch::{JobSpec, time_in};

/// Variables by which launchers tell ranks what they are.
const OWN: [&str; 4] = ["WEFT_JOB", "WEFT_RANK", "WEFT_SIZE", "WEFT_TERMINAL"];

/// Variable of the environment, with its value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Variable {
    /// Its name.
    pub name: OsString,
    /// Its value.
    pub value: OsString,
}

/// Surroundings of ranks, on all hosts. They hold for all programs of a job.
#[derive(Args, Clone, Debug, Default)]
pub struct Surroundings {
    /// Variable of the environment of the ranks, on all hosts and of all programs; without a value
    /// as it is here. May be given several times
    #[arg(short = 'x', long = "env", value_name = "NAME[=VALUE]")]
    #[arg(value_parser = OsStringValueParser::new().try_map(variable))]
    variables: Vec<Variable>,
    /// Directory that the ranks run in, and find their programs from, on all hosts [default: this
    /// one]
    #[arg(long, value_name = "DIR", value_parser = OsStringValueParser::new().try_map(directory))]
    chdir: Option<PathBuf>,
    /// Longest time of the job, such as 10m or 1h 30m: then it is ended as by SIGTERM, with status
    /// 124 as timeout(1) has it
    #[arg(long, value_name = "TIME", value_parser = time_limit, allow_negative_numbers = true)]
    time_limit: Option<Duration>,
}

impl Surroundings {
    /// These, and of others what these do not say.
    pub fn or(mut self, others: Self) -> Self {
        let mut variables = others.variables;
        variables.append(&mut self.variables);
        let chdir = self.chdir.or(others.chdir);
        Surroundings { variables, chdir, time_limit: self.time_limit.or(others.time_limit) }
    }

    /// Variables of the environment: of a name that was given twice the last.
    pub fn variables(&self) -> Vec<Variable> {
        let mut all: Vec<Variable> = Vec::new();
        for variable in &self.variables {
            all.retain(|earlier| earlier.name != variable.name);
            all.push(variable.clone());
        }
        all
    }

    /// Has a job be so.
    pub fn apply_to(&self, spec: &mut JobSpec) {
        let variables = self.variables().into_iter();
        spec.environment = variables.map(|it| (it.name, it.value)).collect();
        spec.directory = self.directory();
        spec.time_limit = self.time_limit;
    }

    /// Directory to run in, as a whole path.
    pub fn directory(&self) -> Option<PathBuf> {
        self.chdir.clone()
    }

    /// Longest time of the job.
    pub fn time_limit(&self) -> Option<Duration> {
        self.time_limit
    }
}

fn variable(text: OsString) -> Result<Variable, String> {
    let bytes = text.as_bytes();
    let (name, value) = match bytes.iter().position(|byte| *byte == b'=') {
        Some(at) => (&bytes[..at], Some(&bytes[at + 1..])),
        None => (bytes, None),
    };
    let name = OsStr::from_bytes(name);
    let shown = name.display();
    if name.is_empty() {
        return Err("it is NAME=VALUE, or NAME of a variable that is set here".into());
    }
    if OWN.iter().any(|own| name == *own) {
        return Err(format!("{shown} is how a launcher tells each rank what it is: leave it out"));
    }
    let value = match value {
        Some(value) => OsStr::from_bytes(value).into(),
        None => std::env::var_os(name).ok_or_else(|| {
            format!("{shown} is not set here: give its value, {shown}=VALUE, or leave it out")
        })?,
    };
    Ok(Variable { name: name.into(), value })
}

fn directory(text: OsString) -> Result<PathBuf, String> {
    path::absolute(text).map_err(|error| error.to_string())
}

fn time_limit(text: &str) -> Result<Duration, String> {
    const YEAR: Duration = Duration::from_secs(31_557_600);
    time_in(text, Duration::from_millis(1)..=YEAR)
}
