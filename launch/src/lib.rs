//! Starting the ranks of a job on one host, watching over them, and ending them all if one is lost,
//! unless the job is to go on then.
//!
//! Two sides meet here. [`run`] is the launcher: it creates the job's memory, starts a process per
//! rank, gives each its place over a socket, passes output and signals on, and sees to it that
//! nothing is left. [`Membership`] is what a rank finds of it, or of a process manager that started
//! it instead (`managed`). Neither knows what the ranks do with the memory: this crate uses the
//! packet sizes of `weft-wire`, the segments of the shared-memory link and the interfaces of that
//! over AF_XDP, and nothing above.
//!
//! Layers: a module names those of its own line, and of lines above.
//!
//! | modules | what |
//! |---|---|
//! | `clock`, `last_words`, `limits`, `mtu`, `orphans`, `privileges`, `program` | means of the system |
//! | `on_loss`, `progress`, `refused`, `shared_files`, `signals`, `this_host`, `times`, `wait` | more of these |
//! | `pmi`, `stack` | process managers, and stacks of threads; both know nothing of Weft |
//! | `messages` | what launcher, ranks, agents and whoever asks about a job tell one another |
//! | `channel`, `door`, `output` | sockets to ranks and to visitors, and what ranks write |
//! | `roll`, `job_roll`, `queries` | what ranks do, in lines, and for whoever asks |
//! | `spec`, `error`, `outcome`, `job` | a job: its description, its state, how it comes out |
//! | `recording`, `sampling` | what ranks do, as a trace |
//! | `access`, `spawn`, `crew` | the ranks of a host |
//! | `supervise` | a job on one host |
//! | `hosts` | a job on several hosts, and their agents |
//! | `managed` | a job that a process manager started |
//! | `member` | the rank's side |
//! | `start` | what an executable of the launcher's becomes |
//!
//! What it keeps:
//! - **Never silence.** The first rank that is lost is announced to the survivors at once and named
//!   to the user with its last words; the survivors are gone within 100 ms. In a job that goes on
//!   after a loss so is each rank that is lost, and the survivors stay.
//! - **Nothing is left behind.** Ranks die with their launcher however it ends: their processes are
//!   told by the system, programs behind wrappers by the end of the connection; what ranks started
//!   is ended with their process groups, and what left those is adopted. There are no names in any
//!   file system.
//! - **Every wait has a reason and an end**, but for the one on whoever reads the job's output.
//! - Every byte from the other side of the socket is foreign.
//!
//! `unsafe` is needed in two modules: `member::inherited` changes the environment,
//! `managed::status` asks how a process ended that is no child; and in three of `pmi`.

#![deny(unsafe_code)]

mod access;
mod channel;
mod clock;
mod crew;
mod door;
mod error;
#[doc(hidden)]
pub mod fuzzing;
mod hosts;
mod job;
mod job_roll;
mod last_words;
mod limits;
mod managed;
mod member;
mod messages;
mod mtu;
mod on_loss;
mod orphans;
mod outcome;
mod output;
pub mod pmi;
mod privileges;
mod program;
mod progress;
mod queries;
mod recording;
mod refused;
mod roll;
mod sampling;
mod shared_files;
mod signals;
mod spawn;
mod spec;
pub mod stack;
mod start;
mod supervise;
mod this_host;
mod times;
mod wait;

pub use error::{LaunchError, advice};
pub use hosts::{
    Between, Candidate, Copies, FarLink, HostLayout, HostWish, HostsSpec, LongPackets, Multicast,
    RankLayout, RemoteShell, candidates, parse_hosts, run_on_hosts,
};
pub use job_roll::{JobReport, JobRoll, RankReport};
pub use last_words::signal_name;
pub use limits::ranks_within;
pub use managed::is_wanted;
pub use member::{InheritError, JoinError, Membership, SpawnError};
pub use messages::{
    BadMessage, DoorKey, Ending, EthernetAccess, JobNetwork, LauncherPlace, MESSAGES_VERSION,
    NoDoor, Options, RANKS_MAX, RankNow, RankState, Snapshot,
};
pub use mtu::{Mtu, NoMtu};
pub use on_loss::OnLoss;
pub use outcome::{Failure, Fault, JobOutcome, PEER_LOST, Verdict};
pub use output::OutputPlan;
pub use privileges::forgo_capabilities;
pub use program::{FindError, Program, find_program, own_directory};
pub use progress::{OnDeadlock, PROGRESS_LIMIT, progress_limit};
pub use queries::{JobAnswer, Launcher, Question, ask, jobs, launcher_places, other_user_of};
pub use roll::{Keeping, Naming, RollFindings, StacksOf};
pub use sampling::{Sampled, Sampling, SamplingError};
pub use shared_files::endpoint_name;
pub use spawn::fabric_environment;
pub use spec::{Binding, BulkWish, JobSpec, LOSS_GRACE};
pub use start::start_if_asked;
pub use supervise::run;
pub use times::{ANY_TIME, time_in};
pub use weft_datagram::seal::Protection;
pub use weft_link::bell::Cause;
pub use weft_link::gauge::Counts;
pub use weft_link_shm::{FULL_WINDOW_RANKS, MAX_RANKS, Settings, Supervisor, create_memory};
pub use weft_trace::Recorded;
