//! Errors of ranks that a process manager started.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use rustix::io::Errno;
use weft_link_shm::MAX_RANKS;
use weft_wire::Rank;

use crate::error::advice;
use crate::messages::{BadMessage, RANKS_MAX};

/// Longest time that ranks which have all started have to connect.
pub(super) const LIMIT: Duration = Duration::from_secs(30);

/// Reason why a rank that a process manager started could not join its job.
#[derive(Debug, thiserror::Error)]
pub enum ManagedError {
    /// The process manager gives this process no place.
    #[error("cannot join the job: {0}")]
    Manager(#[from] crate::pmi::Error),
    /// The ranks do not come together.
    #[error("cannot join the job: {0}")]
    Meet(#[from] MeetError),
    /// All ranks find this in what they know of one another, and rank 0 has reported it for all.
    #[error("cannot join the job: {0}")]
    FoundByAll(MeetError),
    /// The system refused.
    #[error("cannot join the job: {0}{advice}", advice = advice(.0))]
    System(#[from] io::Error),
}

/// Reason why the ranks do not connect.
#[derive(Debug, thiserror::Error)]
pub enum MeetError {
    /// Too many ranks.
    #[error(
        "{manager} started {ranks} ranks: a job has 1 to {RANKS_MAX}, and {MAX_RANKS} on each host"
    )]
    Ranks {
        /// Number of ranks.
        ranks: u32,
        /// Process manager that started them.
        manager: String,
    },
    /// Some are on other hosts and cannot be reached there.
    #[error(
        "rank {rank} on host {host} has no address of the kind that rank 0 has: give hosts of a job IPv4 \
         addresses, or all of them IPv6 ones"
    )]
    Address {
        /// The first such rank.
        rank: u16,
        /// Host of the rank.
        host: String,
    },
    /// `WEFT_LINK` asks for a link that this job does not have.
    #[error(
        "WEFT_LINK is {asked:?}, but the ranks that were started over {manager} {have}: unset it"
    )]
    Link {
        /// Request of the rank.
        asked: String,
        /// Process manager that started the ranks.
        manager: String,
        /// Property that they have.
        have: &'static str,
    },
    /// `WEFT_LINK` asks for different links.
    #[error(
        "WEFT_LINK is {one:?} for rank {rank} and {other:?} for rank {other_rank}: set it once for all ranks"
    )]
    Links {
        /// A rank.
        rank: u16,
        /// Request of the one.
        one: String,
        /// Another rank.
        other_rank: u16,
        /// Request of the other.
        other: String,
    },
    /// The job's secret cannot be opened.
    #[error(
        "rank {rank} cannot open the job's secret: something changed what the process manager stores for the ranks"
    )]
    Secret {
        /// The rank.
        rank: u16,
    },
    /// `WEFT_ENCRYPT` asks for encryption, and for none.
    #[error(
        "WEFT_ENCRYPT is 1 for rank {encrypts} and 0 for rank {other}: set it once for all ranks"
    )]
    Protection {
        /// A rank that asks for encryption.
        encrypts: u16,
        /// A rank that asks for none.
        other: u16,
    },
    /// The file for a rank's part of the trace cannot be created.
    #[error("cannot write the part of rank {rank} of the trace {path:?}: {error}{}", advice(error))]
    Trace {
        /// That rank.
        rank: Rank,
        /// File of the whole trace.
        path: PathBuf,
        /// Error of the system.
        error: io::Error,
    },
    /// The system refuses a rank what every rank needs.
    #[error("rank {rank} on host {host}: {why}")]
    Refused {
        /// The first such rank.
        rank: u16,
        /// Host of the rank.
        host: String,
        /// Name of the call, what the system says, and what to do about it.
        why: String,
    },
    /// `WEFT_LINK` asks for AF_XDP, which cannot be had.
    #[error("WEFT_LINK is \"xdp\", which cannot be had: {0}")]
    NoXdp(String),
    /// Hosts do not reach one another over UDP.
    #[error("{0}")]
    Unreached(String),
    /// A rank does not come.
    #[error("rank {rank} (process {process}) has not come within {} s", LIMIT.as_secs())]
    Late {
        /// The rank.
        rank: u16,
        /// Its process.
        process: u32,
    },
    /// A rank ended before all had come together.
    #[error("rank {rank} (process {process}) ended before all had joined")]
    Gone {
        /// The rank.
        rank: u16,
        /// Its process.
        process: u32,
    },
    /// The card of a rank is no message.
    #[error("what a rank says is unusable: {0}")]
    Bad(#[from] BadMessage),
    /// The system refused.
    #[error(transparent)]
    System(#[from] io::Error),
}

impl From<Errno> for MeetError {
    fn from(error: Errno) -> Self {
        MeetError::System(error.into())
    }
}
