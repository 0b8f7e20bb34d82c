//! Place of a job's launcher: for whoever asks about the job on another of its hosts.

use super::checks::ensure;
use super::format::{BadMessage, Message};
use super::parts::text;
use serde::{Deserialize, Serialize};

/// Place of a job's launcher.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct LauncherPlace {
    /// Name that its host gives itself.
    #[serde(with = "text")]
    pub host: String,
    /// Its process there, which is the job's number.
    pub process: u32,
}

impl Message for LauncherPlace {
    const KIND: u16 = 11;

    fn check(&self) -> Result<(), BadMessage> {
        ensure(self.process > 0, "process")
    }
}
