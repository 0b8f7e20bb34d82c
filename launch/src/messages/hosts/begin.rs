//! Facts with which an agent begins.

use std::ffi::{OsStr, OsString};
use std::net::IpAddr;
use std::os::unix::ffi::OsStrExt;

use serde::{Deserialize, Serialize};
use weft_datagram::seal::{Protection, Secret};
use weft_link_shm::Settings;
use weft_wire::Rank;

use super::far::FarLink;
use crate::messages::bounds::{HOST_MESSAGE_BYTES_MAX, MESSAGE_BYTES_MAX, RANKS_MAX};
use crate::messages::checks::{at_most, check_host, check_protection, check_settings, ensure};
use crate::messages::door::DoorKey;
use crate::messages::format::{BadMessage, Message as _};
use crate::messages::launcher_place::LauncherPlace;
use crate::messages::options::{Options, check_options};
use crate::messages::parts::{self, text};
use crate::mtu::Mtu;
use crate::program::Program;

/// The most arguments of a program, as far as one message goes.
const ARGUMENTS_MAX: usize = 16 * 1024;
/// The most variables of the environment that are given.
const VARIABLES_MAX: usize = 1024;

/// Facts that an agent must know to start the ranks of its host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Begin {
    /// The host's number.
    pub host: u16,
    /// Its ranks in their order, those that may come later among them.
    pub here: Vec<Rank>,
    /// Number of ranks that the job begins with.
    pub founders: u16,
    /// Number of ranks that it may have.
    pub room: u16,
    /// The sizes of the memory of its ranks, and how many they are.
    pub settings: Settings,
    /// The job's options.
    #[serde(with = "parts::options")]
    pub options: Options,
    /// The program to find.
    pub program: OsString,
    /// Directory to run it in.
    pub directory: OsString,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// Programs of ranks that run others.
    pub later: Vec<Program>,
    /// Variables of the ranks' environment, beside those of the agent.
    pub environment: Vec<(OsString, OsString)>,
    /// The launcher, for whoever asks here about the job.
    pub launcher: LauncherPlace,
    /// True if each rank stays on a core.
    pub bound_to_cores: bool,
    /// True if the output is for a terminal.
    pub terminal: bool,
    /// The job's number.
    pub job: u32,
    /// The job's secret.
    #[serde(with = "parts::secret")]
    pub secret: Secret,
    /// Protection of packets between hosts.
    pub protection: Protection,
    /// Longest packets between hosts.
    pub mtu: Mtu,
    /// The address of this host to bind sockets to.
    pub address: IpAddr,
    /// The interface that has it.
    #[serde(with = "text")]
    pub interface: String,
    /// By which links hosts may reach one another.
    pub far: FarLink,
    /// True if sockets are to hear what the network copies.
    pub copied: bool,
    /// True if long packets are to go over TCP, if hosts reach one another so.
    pub bulk: bool,
    /// The door to open here, if the job has one.
    pub door: Option<DoorKey>,
}

impl Begin {
    /// Number of ranks that may come later to this host.
    pub fn vacant(&self) -> u16 {
        self.here.iter().filter(|rank| rank.0 >= self.founders).count() as u16
    }

    pub(super) fn check(&self) -> Result<(), BadMessage> {
        check_settings(&self.settings)?;
        ensure((1..=RANKS_MAX).contains(&self.room), "number of ranks")?;
        ensure((1..=self.room).contains(&self.founders), "number of ranks to begin with")?;
        ensure(self.here.len() == usize::from(self.settings.ranks), "number of ranks here")?;
        ensure(self.here.is_sorted_by(|a, b| a < b), "order of ranks")?;
        ensure(self.here.iter().all(|rank| rank.0 < self.room), "rank")?;
        check_host(self.host)?;
        self.launcher.check()?;
        check_options(&self.options)?;
        at_most(&self.arguments, ARGUMENTS_MAX)?;
        at_most(&self.later, self.room.into())?;
        self.later.iter().try_for_each(|it| at_most(&it.arguments, ARGUMENTS_MAX))?;
        at_most(&self.environment, VARIABLES_MAX)?;
        let variables = self.environment.iter();
        ensure(variables.into_iter().all(is_variable), "variables")?;
        ensure(self.later.is_sorted_by_key(|it| it.first), "programs")?;
        check_protection(self.protection)
    }
}

/// True if a process can have this variable.
fn is_variable((name, value): &(OsString, OsString)) -> bool {
    let (name, value) = (name.as_bytes(), value.as_bytes());
    !name.is_empty() && !name.contains(&b'=') && !name.contains(&0) && !value.contains(&0)
}

/// True if these programs, their arguments and variables fit into the message that carries them to
/// an agent.
pub fn commands_fit<'a>(
    commands: impl Iterator<Item = (&'a OsStr, &'a [OsString])>,
    environment: &[(OsString, OsString)],
) -> bool {
    let (mut count, mut bytes) = (0, 0);
    bytes += environment.iter().map(|(name, value)| name.len() + value.len() + 8).sum::<usize>();
    for (program, arguments) in commands {
        count += arguments.len();
        bytes += program.len() + 8;
        bytes += arguments.iter().map(|argument| argument.len() + 4).sum::<usize>();
    }
    environment.len() <= VARIABLES_MAX
        && count <= ARGUMENTS_MAX
        && bytes < HOST_MESSAGE_BYTES_MAX - 4 * MESSAGE_BYTES_MAX
}
