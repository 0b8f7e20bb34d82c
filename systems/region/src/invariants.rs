//! Invariants of all nodes together: one name, one function, one fact each (`ARCHITECTURE.md` lists
//! them). Each panics with its name and the values that break it. That readers see the last write,
//! R6, is judged from outside, by a memory that knows nothing of copies
//! (`testing/model/src/memory.rs`).

use crate::coherence::table::{DirectoryState, ReplicaState};
use crate::coherence::{Directory, Replica, Version};
use std::collections::BTreeSet;
use weft_endpoint::Rank;

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
    let fetching = directory.state() == DirectoryState::Fetching;
    let requester = directory.requesters().next().filter(|_| fetching);
    let now = directory.version();
    for copy in copies {
        let is_owner = directory.owner() == Some(copy.node);
        let is_handed = requester == Some(copy.node);
        // It has been told, or is being told, that its copy is the only one.
        let rises = is_owner && copy.state == ReplicaState::AwaitingUpgrade;
        let is_reader = directory.readers().contains(copy.node) || (is_owner && fetching);
        let known = is_handed || rises || if copy.is_exclusive() { is_owner } else { is_reader };
        assert!(known, "R3 the home knows: not of {copy:?}, {directory:?}");
        let agrees = copy.version == now
            || (is_handed && copy.version == now.next())
            || (rises && copy.version.next() == now);
        assert!(agrees, "R3 the home knows: another version than {copy:?}, {directory:?}");
    }
}

/// R4: a node has one request under way at most, so that no queue is longer than the job (I9).
pub fn r4_bounded(directory: &Directory) {
    let mut nodes = BTreeSet::new();
    for requester in directory.requesters() {
        assert!(nodes.insert(requester), "R4 bounded: {requester} asks twice, {directory:?}");
    }
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
