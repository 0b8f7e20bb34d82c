//! Process managers: how a rank that `srun`, `mpiexec` or `mpirun` started learns which rank it is,
//! and how the ranks tell each other a few bytes before they can communicate.
//!
//! All of them offer the same: a number, how many there are, a store in which each rank puts
//! values, and a fence after which all can read them. [`PmiClient`] is that; [`find`] looks in the
//! environment for who offers it:
//!
//! | who | how it is spoken to |
//! |---|---|
//! | MPICH's hydra, and many others | PMI-1: lines over an inherited socket (`client`, `wire`) |
//! | Slurm's `srun --mpi=pmi2` | PMI-2: counted messages over an inherited socket (there too) |
//! | Open MPI's `mpirun`, `srun --mpi=pmix` | PMIx: its library, loaded when its environment is there (`pmix`) |
//!
//! The variable `WEFT_PMI` chooses one (`pmi1`, `pmi2`, `pmix`) or none (`none`).
//!
//! Uses nothing of Weft. Keeps: what the process manager says is foreign, parsed with bounds
//! (`wire` does no I/O, and is fuzzed); values are any bytes, whatever the wire can carry; a
//! process takes its place once at a time. A wait ends when the process manager answers, or ends.
//!
//! `unsafe` is needed in three modules: `inherited` owns a descriptor that arrives as a number,
//! `farewell` is called when the process ends, and `pmix::library` calls a library that is written
//! in C.

mod client;
mod error;
#[allow(unsafe_code)] // Its opening paragraph says why.
mod farewell;
#[doc(hidden)]
pub mod fuzzing;
#[allow(unsafe_code)] // Its opening paragraph says why.
pub mod inherited;
mod pmix;
mod wire;

use std::env;
use std::os::fd::BorrowedFd;
use std::sync::atomic::{AtomicU32, Ordering};

use client::Client;
pub use error::Error;
use pmix::Pmix;
pub use wire::BadReply;
use wire::Version;

/// Chooses how the process manager is spoken to.
const CHOICE: &str = "WEFT_PMI";

/// A place in a job, as its process manager gives it.
pub trait PmiClient: Send + std::fmt::Debug {
    /// Kind and maker, such as `PMI-1 (hydra)`.
    fn name(&self) -> &str;

    /// Rank of this process.
    fn rank(&self) -> u32;

    /// Number of ranks.
    fn ranks(&self) -> u32;

    /// Publishes `value`, up to 16 KiB, under `key`, a word of at most 16 letters. Others see it
    /// after the next [`fence`](Self::fence). Each key once.
    ///
    /// # Errors
    /// [`Error`] if the process manager refuses or is gone; so in all that follows.
    fn put(&mut self, key: &str, value: &[u8]) -> Result<(), Error>;

    /// Waits until all ranks are here. Ends early only if the process manager does.
    ///
    /// # Errors
    /// As above.
    fn fence(&mut self) -> Result<(), Error>;

    /// Value that `rank` put under `key` before the last fence.
    ///
    /// # Errors
    /// As above, and [`Error::Missing`] if there is nothing.
    fn get(&mut self, rank: u32, key: &str) -> Result<Vec<u8>, Error>;

    /// Asks the process manager to end the job with this status and these last words. Whoever asks
    /// ends itself afterwards: nobody waits for an answer.
    fn abort(&mut self, status: u8, words: &str);

    /// Says that this rank is done, so that its end is no failure.
    ///
    /// # Errors
    /// As above.
    fn finalize(&mut self) -> Result<(), Error>;

    /// Does what [`Self::finalize`] does, for a library in a program that may speak with the
    /// process manager itself, and say then that it is done: where both have one connection, only
    /// one of them can. The process may take its place again after that.
    ///
    /// # Errors
    /// As above.
    fn finalize_beside_others(&mut self) -> Result<(), Error> {
        self.finalize()
    }

    /// A descriptor that hangs up when the process manager is gone, where there is one.
    fn launcher(&self) -> Option<BorrowedFd<'_>>;
}

/// Kind of the process manager that started this process, if any did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manager {
    /// Speaks PMI-1.
    Pmi1,
    /// Speaks PMI-2.
    Pmi2,
    /// Has a PMIx server.
    Pmix,
}

/// Looks in the environment for a process manager, without speaking to it.
///
/// # Errors
/// [`Error::Variable`] if `WEFT_PMI` makes no sense, [`Error::Without`] if Slurm started several
/// tasks and gave them no way to find each other.
pub fn detect() -> Result<Option<Manager>, Error> {
    let has = |name| env::var_os(name).is_some();
    let socket = has("PMI_FD") || has("PMI_PORT");
    if let Some(choice) = env::var_os(CHOICE) {
        return match choice.to_str() {
            Some("none") => Ok(None),
            Some("pmi1") if socket => Ok(Some(Manager::Pmi1)),
            Some("pmi2") if socket => Ok(Some(Manager::Pmi2)),
            Some("pmix") if has("PMIX_NAMESPACE") => Ok(Some(Manager::Pmix)),
            Some("pmi1" | "pmi2" | "pmix") => Ok(None),
            _ => Err(Error::variable(CHOICE, &choice.to_string_lossy())),
        };
    }
    // Slurm understands both, but knows only in PMI-2 that a rank ended without having said so.
    let slurm = has("SLURM_STEP_ID") || has("SLURM_STEPID");
    Ok(match (socket, has("PMIX_NAMESPACE")) {
        (true, _) if slurm => Some(Manager::Pmi2),
        (true, _) => Some(Manager::Pmi1),
        (false, true) => Some(Manager::Pmix),
        (false, false) => match env::var("SLURM_STEP_NUM_TASKS").map(|tasks| tasks.parse()) {
            Ok(Ok(tasks)) if tasks > 1u32 => return Err(Error::Without { tasks }),
            _ => None,
        },
    })
}

/// Takes this process's place with the process manager that started it; `None` if none did.
///
/// To be called once; and again, by all ranks, after
/// [`finalize_beside_others`](PmiClient::finalize_beside_others), where the process manager gives a
/// place again: over PMI-1. Blocks until the process manager has answered.
///
/// # Errors
/// [`Error`] if there is a process manager but no place.
pub fn find() -> Result<Option<Box<dyn PmiClient>>, Error> {
    let Some(manager) = detect()? else { return Ok(None) };
    let before = PLACES.fetch_add(1, Ordering::Relaxed);
    Ok(Some(match manager {
        Manager::Pmix => Box::new(Pmix::join(before)?),
        Manager::Pmi1 => Box::new(Client::open(Version::One, before)?),
        Manager::Pmi2 => Box::new(Client::open(Version::Two, before)?),
    }))
}

/// Number of times that this process has taken its place. All ranks count alike, because all of
/// them have to take theirs.
static PLACES: AtomicU32 = AtomicU32::new(0);

/// The name of a key in the process manager's store, where each may be written once: that of a
/// place that was taken so many times before.
fn key_of(before: u32, key: &str) -> String {
    match before {
        0 => format!("weft-{key}"),
        again => format!("weft-{again}-{key}"),
    }
}

/// The version of the PMIx library that would be used, or why there is none.
///
/// # Errors
/// What is in the way, for a person.
pub fn library_version() -> Result<String, String> {
    pmix::library_version()
}
