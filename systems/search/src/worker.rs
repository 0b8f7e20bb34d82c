//! The part of a search that knows positions: what is done with a job.

use crate::job::Job;

/// Counters of a rank's work. All but `excess` are of all iterations.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Worked {
    /// Positions made by moves.
    pub nodes: u64,
    /// Positions at the bound, of an enumeration.
    pub leaves: u64,
    /// Positions that the table had.
    pub hits: u64,
    /// Positions for which there was no memory.
    pub dropped: u64,
    /// In this iteration, the least that a position was beyond its bound; `u64::MAX` if none was.
    pub excess: u64,
}

/// Searcher of jobs, one after the other.
pub(crate) trait Worker {
    /// An iteration begins.
    fn begin(&mut self, iteration: u32, bound: u16);

    /// True of a job that a peer may have made in this iteration.
    fn is_sound(&self, job: &Job) -> bool;

    /// Takes up a job, which is sound. Puts the jobs below it into `below`, with hashes that say
    /// whose they are; or, if it is small or is to be searched `whole`, has [`Self::advance`]
    /// search it.
    fn take(&mut self, job: &Job, whole: bool, below: &mut Vec<(u64, Job)>);

    /// Goes on with a job that was put off, as there is nothing else to do. False if none was.
    fn take_kept(&mut self, _below: &mut Vec<(u64, Job)>) -> bool {
        false
    }

    /// True if no job is being searched here.
    fn is_idle(&self) -> bool;

    /// Goes on with the job that is being searched here, for so many nodes, or few more.
    fn advance(&mut self, nodes: u64);

    /// Drops the job that is being searched here.
    fn stop(&mut self);

    /// Moves of a solution, once.
    fn take_found(&mut self) -> Option<Vec<u8>>;

    /// Counters.
    fn worked(&self) -> Worked;
}
