//! Errors between a rank and its process manager.

use std::io;
use std::os::fd::RawFd;

use crate::pmi::wire::BadReply;

/// Reason why a process could not take its place, or use it.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// An environment variable is not what a process manager writes.
    #[error("{name} is {value:?}, which makes no sense there: unset it to run as a single rank")]
    Variable {
        /// The variable.
        name: &'static str,
        /// Value of the variable.
        value: String,
    },
    /// Slurm started tasks that cannot find each other.
    #[error(
        "Slurm started {tasks} tasks without a way to find each other: say srun --mpi=pmi2 (or pmix); \
         for {tasks} jobs of one rank, set WEFT_PMI=none"
    )]
    Without {
        /// Number of tasks of the step.
        tasks: u32,
    },
    /// The socket to the process manager did not come through.
    #[error(
        "descriptor {0}, the connection to the process manager, is not open: a wrapper between it and this \
         program closed it (keep it open), or a rank started this program (unset PMI_FD for it)"
    )]
    NotOpen(RawFd),
    /// This process has taken its place before.
    #[error("this process has already joined its job, and may do so once")]
    AlreadyJoined,
    /// The process manager does not do what it is asked.
    #[error("the process manager refused '{command}': {why}")]
    Refused {
        /// Command that was asked.
        command: String,
        /// Reason that it gave.
        why: String,
    },
    /// An answer that is none.
    #[error("the process manager's answer to '{command}' is unusable: {bad}")]
    Bad {
        /// Command that was asked.
        command: String,
        /// Error in the answer.
        bad: BadReply,
    },
    /// The process manager ended.
    #[error("the process manager is gone")]
    Gone,
    /// A rank has not put what all must put.
    #[error(
        "rank {rank} has not published '{key}': is every rank of this job the same Weft program?"
    )]
    Missing {
        /// Rank without a value.
        rank: u32,
        /// Under which key.
        key: String,
    },
    /// PMIx cannot be used.
    #[error(
        "this job was started under PMIx, which cannot be used: {0}; install libpmix.so.2 \
         (Debian: libpmix2), or start it with srun --mpi=pmi2 or mpiexec.hydra"
    )]
    Library(String),
    /// The system refused.
    #[error(transparent)]
    System(#[from] io::Error),
}

impl Error {
    pub(crate) fn variable(name: &'static str, value: &str) -> Self {
        Error::Variable { name, value: value.into() }
    }

    pub(crate) fn bad(command: &str, bad: BadReply) -> Self {
        Error::Bad { command: command.into(), bad }
    }
}
