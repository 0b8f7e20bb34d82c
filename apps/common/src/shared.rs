mod measured;

pub use measured::Measured;

use std::error::Error;
use std::io;
use std::process::ExitCode;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytemuck::Pod;
use clap::Parser;
use weft::{Packets, Rank};
use weft_region::coherence::Policy;
use weft_region::{Mapped, RegionId, Regions, Result};

use crate::measure::Times;
use crate::start::{Ranks, arguments};
use crate::traffic::{Traffic, summary, table};
use crate::write_out;

/// A rank of a program whose ranks talk through shared regions and nothing else.
pub struct RegionRank {
    packets: Packets,
    regions: Regions,
    /// Number of regions that this rank has created.
    created: Mutex<u32>,
}

/// Regions that all ranks created together, so that each knows the names of all.
#[derive(Debug, Clone)]
pub struct Family {
    /// The first of each rank.
    first: Vec<u32>,
}

impl Family {
    /// The `number`-th of those that `rank` created.
    pub fn id(&self, rank: usize, number: usize) -> RegionId {
        RegionId { home: Rank(rank as u16), index: self.first[rank] + number as u32 }
    }
}

/// The `main` of a program on regions: joins the job that this process was started in, reads the
/// command line, runs `program`, and leaves. Without a launcher it is a job of one rank.
pub fn run_shared<O: Parser, E: Error + 'static>(
    program: impl FnOnce(&RegionRank, &O) -> std::result::Result<(), E>,
) -> ExitCode {
    weft::run_packets(|packets| {
        RegionRank::run(packets, |shared| match arguments(shared)? {
            Some(options) => Ok(program(shared, &options)?),
            None => Ok::<_, Box<dyn Error>>(()),
        })
    })
}

impl RegionRank {
    /// Runs `program` on this rank of a job, whose packets are all its. Collective; the end of it
    /// is a barrier, unless `program` fails: who ends without having come there ends the job.
    ///
    /// # Errors
    /// Those of `program`, a peer's breach, a lost rank.
    pub fn run<T, E: From<weft_region::Error>>(
        packets: &Packets,
        program: impl FnOnce(&RegionRank) -> std::result::Result<T, E>,
    ) -> std::result::Result<T, E> {
        let regions = Regions::open(packets);
        let shared = RegionRank { packets: packets.clone(), regions, created: Mutex::new(0) };
        let value = program(&shared)?;
        shared.regions.close()?;
        Ok(value)
    }

    /// This rank.
    pub fn rank(&self) -> usize {
        self.packets.rank().index()
    }

    /// Number of ranks.
    pub fn size(&self) -> usize {
        self.packets.size()
    }

    /// The regions, to be mapped, and the barrier.
    pub fn regions(&self) -> &Regions {
        &self.regions
    }

    /// The time: see [`Packets::now`].
    pub fn now(&self) -> Duration {
        self.packets.now()
    }

    /// Declares that this rank has computed so many operations: see [`Packets::work`].
    pub fn work(&self, operations: usize) {
        self.packets.work(operations as u64);
    }

    /// Traffic of this rank since the start of the job.
    pub fn traffic(&self) -> Traffic {
        Traffic::so_far(&self.packets)
    }

    /// Waits until all ranks have called it as often.
    ///
    /// # Errors
    /// A peer's breach, a lost rank.
    pub fn barrier(&self) -> Result<()> {
        self.regions.barrier()
    }

    /// Creates a region of `bytes` zeros by this rank alone, which has to tell its name to those
    /// who map it.
    ///
    /// # Errors
    /// There is no memory.
    pub fn create_one(&self, policy: Policy, bytes: usize) -> Result<RegionId> {
        *self.created() += 1;
        self.regions.create(bytes as u64, policy)
    }

    /// Creates regions of zeros, `count_of(rank)` at each rank, where the `number`-th has
    /// `bytes_of(number)` bytes. Collective: all ranks create the same families in the same order.
    /// Others may map them when this returns.
    ///
    /// # Errors
    /// There is no memory; a peer's breach, a lost rank.
    pub fn create(
        &self,
        policy: Policy,
        count_of: impl Fn(usize) -> usize,
        bytes_of: impl Fn(usize) -> usize,
    ) -> Result<Family> {
        let mut first = vec![0; self.size()];
        first[self.rank()] = *self.created();
        for number in 0..count_of(self.rank()) {
            self.create_one(policy, bytes_of(number))?;
        }
        // Nobody has it before all have created theirs.
        self.regions.reduce(&mut first, u32::max)?;
        Ok(Family { first })
    }

    fn created(&self) -> MutexGuard<'_, u32> {
        self.created.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn name(&self, family: &Family, number: usize) -> RegionId {
        family.id(self.rank(), number)
    }

    /// Brings every rank's values to rank 0: there `Some`, in rank order; elsewhere `None`.
    /// Collective; ranks may bring different numbers of values.
    ///
    /// # Errors
    /// There is no memory; a peer's breach, a lost rank.
    pub fn gather<T: Pod>(&self, mine: &[T]) -> Result<Option<Vec<Vec<T>>>> {
        let family = self.create(Policy::default(), |_| 1, |_| size_of_val(mine))?;
        let here: Mapped<T> = self.regions.map(self.name(&family, 0))?;
        here.write()?.copy_from_slice(mine);
        self.barrier()?;
        let mut all = None;
        if self.rank() == 0 {
            let values = (0..self.size()).map(|rank| {
                let there: Mapped<T> = self.regions.map(family.id(rank, 0))?;
                let values = there.read()?.to_vec();
                Ok(values)
            });
            all = Some(values.collect::<Result<_>>()?);
        }
        self.barrier()?;
        here.delete()?;
        Ok(all)
    }

    /// Brings what every rank sent and received to rank 0: there one entry per rank, elsewhere
    /// `None`. Collective.
    ///
    /// # Errors
    /// Those of [`Self::gather`].
    pub fn gather_traffic(&self, mine: Traffic) -> Result<Option<Vec<Traffic>>> {
        Ok(self.gather(&[mine.to_array()])?.map(|ranks| Traffic::from_arrays(&ranks)))
    }
}

/// Prints what rank 0 has to say in the end: `lines` about the problem, then times and traffic, and
/// a table.
///
/// # Errors
/// Standard output cannot be written.
pub fn print(lines: &str, times: Times, traffic: &[Traffic]) -> io::Result<()> {
    write_out(format_args!("{lines}\n{}\n\n{}\n", summary(times, "", traffic), table(traffic)))
}

impl Ranks for RegionRank {
    type Error = weft_region::Error;

    fn is_first(&self) -> bool {
        self.rank() == 0
    }

    fn meet(&self) -> Result<()> {
        self.barrier()
    }
}

#[cfg(test)]
mod tests;
