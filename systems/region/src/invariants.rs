//! Invariants of all nodes together: one name, one function, one fact each (`ARCHITECTURE.md` lists
//! them). Each panics with its name and the values that break it. That readers see the last write,
//! R6, is judged from outside, by a memory that knows nothing of copies
//! (`simulator/model/src/memory.rs`).

use crate::coherence::table::{DirectoryState, ReplicaState};
use crate::coherence::{Directory, MessageKind, Replica, Version};
use std::collections::BTreeSet;
use weft_endpoint::{Broken, Rank};

/// A valid copy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Holding {
    /// Node that has it.
    pub node: Rank,
    /// State in which it is.
    pub state: ReplicaState,
    /// Its version.
    pub version: Version,
}

impl Holding {
    /// Copy that `node` has, if it is a valid one.
    pub fn of(node: Rank, replica: &Replica) -> Option<Self> {
        Some(Holding { node, state: replica.state(), version: replica.version()? })
    }

    fn is_exclusive(&self) -> bool {
        use ReplicaState::{Exclusive, ExclusiveReading, Writing};
        matches!(self.state, Exclusive | ExclusiveReading | Writing)
    }

    /// True if the home knows of the copy.
    fn is_known_to(&self, directory: &Directory) -> bool {
        let is_owner = directory.owner() == Some(self.node);
        let fetching = directory.state() == DirectoryState::Fetching;
        let is_reader = directory.readers().contains(self.node) || (is_owner && fetching);
        self.is_handed(directory)
            || self.rises(directory)
            || if self.is_exclusive() { is_owner } else { is_reader }
    }

    /// True if it is of the version that the home goes by.
    fn agrees_with(&self, directory: &Directory) -> bool {
        let now = directory.version();
        self.version == now
            || (self.is_handed(directory) && self.version == now.next())
            || (self.rises(directory) && self.version.next() == now)
    }

    /// True if it is on its way there, or has just arrived.
    fn is_handed(&self, directory: &Directory) -> bool {
        let fetching = directory.state() == DirectoryState::Fetching;
        fetching && directory.requesters().next() == Some(self.node)
    }

    /// True if its node has been told, or is being told, that it is the only one.
    fn rises(&self, directory: &Directory) -> bool {
        directory.owner() == Some(self.node) && self.state == ReplicaState::AwaitingUpgrade
    }
}

/// R1: whoever may write has the only valid copy.
pub fn r1_single_writer(copies: &[Holding]) {
    let exclusive = copies.iter().any(Holding::is_exclusive);
    assert!(!exclusive || copies.len() == 1, "R1 single writer: {copies:?}");
}

/// R2: all valid copies of a region have one version.
pub fn r2_one_version(copies: &[Holding]) {
    let one = copies.windows(2).all(|two| two[0].version == two[1].version);
    assert!(one, "R2 one version: {copies:?}");
}

/// R3: the home knows of every valid copy: of readers, of the owner, and of whoever is being handed
/// one.
pub fn r3_home_knows(copies: &[Holding], directory: &Directory) {
    for copy in copies {
        let known = copy.is_known_to(directory);
        assert!(known, "R3 the home knows: not of {copy:?}, {directory:?}");
        let agrees = copy.agrees_with(directory);
        assert!(agrees, "R3 the home knows: another version than {copy:?}, {directory:?}");
    }
}

/// R1 to R3, of the home's own copy: all that a node can check by itself, whatever is on its way.
///
/// # Errors
/// The one that does not hold.
pub fn r3_home_knows_itself(
    home: Rank,
    own: &Replica,
    directory: &Directory,
) -> Result<(), Broken> {
    let Some(copy) = Holding::of(home, own) else { return Ok(()) };
    let name = if copy.is_exclusive() { "R1" } else { "R3" };
    Broken::unless(copy.is_known_to(directory), name, || {
        let (state, owner) = (copy.state, directory.owner());
        let readers: Vec<Rank> = directory.readers().iter().collect();
        format!(
            "the copy of the home, rank {home}, is {state:?}, and its directory, which is {:?}, has owner {owner:?} and \
             readers {readers:?}",
            directory.state()
        )
    })?;
    Broken::unless(copy.agrees_with(directory), "R2", || {
        format!(
            "the copy of the home, rank {home}, has {:?}, and its directory {:?}",
            copy.version,
            directory.version()
        )
    })
}

/// R4: a node has one request under way at most, so that no queue is longer than the job (I9).
pub fn r4_bounded(directory: &Directory) {
    r4_none_asks_twice(directory).unwrap_or_else(|broken| panic!("{broken}, {directory:?}"));
}

/// R4, for those who go on to tell who has broken it.
///
/// # Errors
/// It.
pub fn r4_none_asks_twice(directory: &Directory) -> Result<(), Broken> {
    let mut nodes = BTreeSet::new();
    let twice = directory.requesters().find(|&requester| !nodes.insert(requester));
    Broken::unless(twice.is_none(), "R4", || {
        let requesters: Vec<Rank> = directory.requesters().collect();
        format!("of requests that each rank has 1 of at most there are those of {requesters:?}")
    })
}

/// R7: a region that is lost is entered no more: accesses that had begun are the last.
pub fn r7_lost_is_left(replica: &Replica) {
    let is_left = match replica.deferred() {
        Some(demand) => demand.kind == MessageKind::Lost,
        None => replica.state() == ReplicaState::Deleted,
    };
    assert!(replica.lost_with().is_none() || is_left, "R7 what is lost is left: {replica:?}");
}

/// R5: a demand of the home waits only while the copy is used or on its way.
pub fn r5_demands_are_met(replica: &Replica) {
    use ReplicaState::{AwaitingExclusive, AwaitingShared, ExclusiveReading, Reading, Writing};
    let may_wait = matches!(
        replica.state(),
        AwaitingShared | AwaitingExclusive | Reading | ExclusiveReading | Writing
    );
    assert!(may_wait || replica.deferred().is_none(), "R5 demands are met: {replica:?}");
}
