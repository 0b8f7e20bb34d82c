//! Waiting for all ranks.

use crate::Result;
use crate::collective::{RankTeams, Team};
use crate::engine::Engine;
use crate::poll::Poller;
use crate::wait::Polls;
use std::sync::Arc;
use weft_endpoint::Rank;

/// A barrier of the team that a rank begins in: of all ranks, or for one that comes later of the
/// team that has grown by it.
pub struct Barrier {
    engine: Arc<Engine>,
    teams: RankTeams,
}

impl Barrier {
    /// The barrier of `engine`'s rank; one a rank. A rank that comes later calls [`Self::come`]
    /// next.
    ///
    /// # Errors
    /// If there is one already.
    pub fn new(engine: &Arc<Engine>) -> Result<Self> {
        Ok(Barrier { engine: Arc::clone(engine), teams: RankTeams::new(engine)? })
    }

    /// Waits for the team of this rank, if it comes later; `spawner` has had it started.
    ///
    /// # Errors
    /// `spawner` is lost, or says what no rank says.
    pub fn come(&self, spawner: Rank) -> Result<()> {
        self.teams.come(spawner)
    }

    /// The team whose barrier it is.
    pub fn team(&self) -> &Team {
        self.teams.first()
    }

    /// Returns when all ranks have called it as often as this one. Handlers run meanwhile.
    ///
    /// # Errors
    /// A lost rank.
    pub fn wait(&self) -> Result<()> {
        self.team().barrier()
    }

    /// The last barrier: returns when all ranks are done and this one has nothing left to send.
    ///
    /// Packets that wait for credits would end with their process. So all of them leave while the
    /// others are still there to take them, and then the packets of the barriers themselves.
    ///
    /// Messages that others had sent here before they called this have been sorted: after the first
    /// barrier it has arrived, even if nobody has looked for it yet. Handlers run on it while all
    /// others are still there, and what they send is taken after the second. Of multicasts on trees
    /// that holds for members that are two hops from their sender, or nearer.
    ///
    /// # Errors
    /// A lost rank.
    pub fn leave(&self) -> Result<()> {
        self.engine.set_leaving();
        self.engine.flush()?;
        self.teams.meet_to_leave()?;
        let poller = Poller::new(&self.engine.messages);
        self.take_all_that_is_here(|| poller.poll())?;
        self.engine.flush()?;
        self.teams.meet_to_leave()?;
        self.engine.flush()?;
        self.take_all_that_is_here(|| poller.receive())
    }

    /// Calls `take`, which takes one packet, as long as it finds something; not for ever, if
    /// handlers of several ranks keep each other busy, but until all packets must have been taken
    /// that were here when it began.
    fn take_all_that_is_here(&self, take: impl Fn() -> Result<bool>) -> Result<()> {
        let packets = self.engine.packets();
        // Senders are served in turns, so that those to come have no more than their share.
        let most = 4 * packets.in_flight().max(64) * packets.room();
        for _ in 0..most {
            if !take()? {
                break;
            }
        }
        Ok(())
    }
}
