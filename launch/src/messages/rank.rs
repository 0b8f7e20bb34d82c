//! Messages between the launcher and a rank.

use serde::{Deserialize, Serialize};
use weft_link_shm::Settings;
use weft_wire::Rank;

use super::bounds::RANKS_MAX;
use super::checks::{check_settings, ensure};
use super::door::DoorSecret;
use super::format::{BadMessage, Message};
use super::network::JobNetwork;
use super::options::{Options, RANKS, check_options};
use super::parts::{options, text};

/// Message of the launcher to a rank.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ToRank {
    /// To the process that is about to become the rank's program.
    Start(Start),
    /// To the program, once it has said hello.
    Welcome(Welcome),
    /// To a rank that has asked for more of them: these have been started.
    Spawned(Vec<Rank>),
    /// To such a rank: there is room for so many more, which are fewer.
    NoRoom(u16),
    /// To a rank that lets visitors in: the job has no door.
    NoDoor,
    /// To a visitor at the door: why it is not let in.
    Refused(#[serde(with = "text")] String),
}

/// Facts that a process must know to become a rank's program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Start {
    /// The launcher's process identifier.
    pub launcher: u32,
    /// The core to stay on; `None` for any.
    pub core: Option<u16>,
}

/// Facts that a rank must know to join.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Welcome {
    /// Rank of the reader.
    pub rank: Rank,
    /// The sizes of the memory that the ranks of this host share, and how many they are.
    pub settings: Settings,
    /// The job's options.
    #[serde(with = "options")]
    pub options: Options,
    /// Network to ranks elsewhere; without one all ranks are here.
    pub network: Option<JobNetwork>,
    /// Growth of the job, if it can grow.
    pub growth: Option<Growth>,
}

/// Growth of a job, as a rank must know it that joins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Growth {
    /// Number of ranks that the job has begun with.
    pub founders: u16,
    /// The rank that had this one started, if the job has not begun with it.
    pub spawner: Option<Rank>,
}

/// Message of a rank to the launcher.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ToLauncher {
    /// The program asks to join.
    Hello,
    /// The program has mapped the job's memory.
    Joined,
    /// The program ends cleanly; exiting with 0 is fine from here on.
    Leaving,
    /// Reason why the program gives up.
    Report(#[serde(with = "text")] String),
    /// The program could not be executed, for the reason of this `errno`.
    CannotStart(i32),
    /// The program, which asks to join next, asks that the job go on after a loss.
    GoOn,
    /// The program asks for so many more ranks of it.
    Spawn(u16),
    /// The program lets in so many of those who wait at the door, if there are as many.
    Admit(u16),
    /// A process that the job has not started asks to be let in, and shows the door's secret.
    Knock(DoorSecret),
}

impl Message for ToRank {
    const KIND: u16 = 1;

    fn check(&self) -> Result<(), BadMessage> {
        match self {
            ToRank::Start(_) | ToRank::NoRoom(_) | ToRank::NoDoor | ToRank::Refused(_) => Ok(()),
            ToRank::Welcome(welcome) => welcome.check(),
            ToRank::Spawned(ranks) => ensure(ranks.len() <= RANKS_MAX.into(), "number of ranks"),
        }
    }
}

impl ToRank {
    /// The message that comes with the memory of a job of so many ranks, for whoever asks for it.
    pub fn memory(settings: Settings, mut options: Options, ranks: u16) -> Self {
        options.insert(RANKS.into(), ranks.to_string());
        ToRank::Welcome(Welcome { rank: Rank(0), settings, options, network: None, growth: None })
    }

    /// Number of descriptors that belong to this message.
    pub fn descriptors(&self) -> usize {
        match self {
            ToRank::Start(_) => 1,
            ToRank::Spawned(_) | ToRank::NoRoom(_) | ToRank::NoDoor | ToRank::Refused(_) => 0,
            ToRank::Welcome(welcome) => {
                1 + welcome.network.as_ref().map_or(0, JobNetwork::descriptors)
            }
        }
    }
}

impl Message for ToLauncher {
    const KIND: u16 = 2;

    fn check(&self) -> Result<(), BadMessage> {
        Ok(())
    }
}

impl Welcome {
    fn check(&self) -> Result<(), BadMessage> {
        let Welcome { rank, settings, options, network, growth } = self;
        check_settings(settings)?;
        check_options(options)?;
        if let Some(growth) = growth {
            growth.check(*rank, network.as_ref().map_or(settings.ranks, JobNetwork::ranks))?;
        }
        let Some(network) = network else { return ensure(rank.0 < settings.ranks, "rank") };
        network.check()?;
        let here = network.ranks_beside(*rank).count();
        ensure(here == usize::from(settings.ranks), "number of ranks here")
    }
}

impl Growth {
    fn check(&self, rank: Rank, room: u16) -> Result<(), BadMessage> {
        let Growth { founders, spawner } = *self;
        ensure((1..=room).contains(&founders), "number of ranks to begin with")?;
        ensure(spawner.is_some() == (rank.0 >= founders), "rank that had this one started")?;
        ensure(spawner.is_none_or(|by| by.0 < room && by != rank), "rank that had this one started")
    }
}
