//! Remote shells, by which agents are started.

use std::ffi::OsString;
use std::path::PathBuf;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Remote shell: a program and its first arguments. The name of a host stands for each `{}` in
/// these, or comes after them if there is none; a command comes last.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RemoteShell {
    /// The program.
    pub program: OsString,
    /// Its first arguments.
    pub arguments: Vec<OsString>,
}

impl RemoteShell {
    /// Place of a host's name.
    const HOST: &str = "{}";

    /// The arguments that come before a command for this host.
    pub(crate) fn arguments_for(&self, host: &str) -> Vec<OsString> {
        let named = |word: &OsString| {
            let text = word.to_str().filter(|text| text.contains(Self::HOST))?;
            Some(OsString::from(text.replace(Self::HOST, host)))
        };
        let has_place = self.arguments.iter().any(|word| named(word).is_some());
        let before = self.arguments.iter().map(|word| named(word).unwrap_or_else(|| word.clone()));
        before.chain((!has_place).then(|| host.into())).collect()
    }
}

impl Default for RemoteShell {
    fn default() -> Self {
        let arguments = ["-o", "BatchMode=yes", "-o", "ConnectTimeout=10"].map(OsString::from);
        RemoteShell { program: "ssh".into(), arguments: arguments.into() }
    }
}

impl From<PathBuf> for RemoteShell {
    fn from(program: PathBuf) -> Self {
        RemoteShell { program: program.into(), arguments: Vec::new() }
    }
}

impl FromStr for RemoteShell {
    type Err = &'static str;

    /// The words of a command, without quotes. Without a word there is none, and what was to run
    /// elsewhere would run here.
    fn from_str(command: &str) -> Result<Self, Self::Err> {
        let mut words = command.split_whitespace().map(OsString::from);
        let program = words
            .next()
            .ok_or("it is empty: name a command, such as ssh, or leave it and WEFT_RSH out")?;
        Ok(RemoteShell { program, arguments: words.collect() })
    }
}
