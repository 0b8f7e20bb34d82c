//! One region, message by message: what each miss costs (thesis fig. 7.17), and what is refused.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use weft_endpoint::Rank;
use weft_region::coherence::table::ReplicaState;
use weft_region::coherence::{
    Actions, Breach, Call, Hint, Message, MessageKind, Misuse, Policy, Region, Version,
};

/// A message of a node, and its receiver.
#[derive(Default)]
struct Heard {
    sent: VecDeque<(Rank, Message)>,
    granted: Vec<Call>,
    refused: Vec<Call>,
    placed: usize,
}

impl Actions for Heard {
    fn send(&mut self, to: Rank, message: Message) {
        self.sent.push_back((to, message));
    }

    fn place(&mut self) {
        self.placed += 1;
    }

    fn grant(&mut self, call: Call) {
        self.granted.push(call);
    }

    fn refuse(&mut self, call: Call) {
        self.refused.push(call);
    }
}

/// Nodes with one region of node 0, and all that they told each other.
struct Job {
    nodes: Vec<Region>,
    told: Vec<(u16, u16, MessageKind)>,
    granted: BTreeMap<u16, Vec<Call>>,
    refused: BTreeMap<u16, Vec<Call>>,
}

impl Job {
    fn new(nodes: u16, policy: Policy) -> Self {
        let elsewhere = |node| Region::elsewhere(Rank(node), Rank(0), Version::default());
        let home = [Region::at_home(Rank(0), policy)];
        let nodes = home.into_iter().chain((1..nodes).map(elsewhere)).collect();
        Job { nodes, told: Vec::new(), granted: BTreeMap::new(), refused: BTreeMap::new() }
    }

    /// Calls, and delivers whatever follows. Returns the messages that it took.
    fn call(&mut self, node: u16, call: Call) -> Vec<(u16, u16, MessageKind)> {
        self.told.clear();
        let mut heard = Heard::default();
        self.nodes[usize::from(node)].call(call, &mut heard).unwrap();
        let mut under_way = VecDeque::new();
        self.note(node, heard, &mut under_way);
        while let Some((from, to, message)) = under_way.pop_front() {
            let mut heard = Heard::default();
            self.nodes[usize::from(to)].receive(Rank(from), message, &mut heard).unwrap();
            self.note(to, heard, &mut under_way);
        }
        self.told.clone()
    }

    fn note(&mut self, node: u16, heard: Heard, under_way: &mut VecDeque<(u16, u16, Message)>) {
        for (to, message) in heard.sent {
            self.told.push((node, to.0, message.kind));
            under_way.push_back((node, to.0, message));
        }
        self.granted.entry(node).or_default().extend(heard.granted);
        self.refused.entry(node).or_default().extend(heard.refused);
    }

    /// One access, from start to end.
    fn access(&mut self, node: u16, start: Call) -> Vec<(u16, u16, MessageKind)> {
        let mut told = self.call(node, start);
        assert_eq!(self.granted.remove(&node), Some(vec![start]));
        let end = if start == Call::StartRead { Call::EndRead } else { Call::EndWrite };
        told.extend(self.call(node, end));
        told
    }

    fn state(&self, node: usize) -> ReplicaState {
        self.nodes[node].replica().state()
    }
}

const TWO: Policy = Policy { hint: Hint::Invalidate, three_party: false };
const THREE: Policy = Policy { hint: Hint::Invalidate, three_party: true };

#[test]
fn a_clean_read_miss_is_a_round_trip_and_a_hit_is_nothing() {
    let mut job = Job::new(2, THREE);
    assert_eq!(
        job.access(1, Call::StartRead),
        [(1, 0, MessageKind::Read), (0, 1, MessageKind::DataShared)]
    );
    assert_eq!(job.access(1, Call::StartRead), []);
    assert_eq!(job.access(0, Call::StartRead), []);
}

#[test]
fn a_dirty_miss_sends_data_twice_by_two_parties_and_straight_by_three() {
    let dirty = |policy, start| {
        let mut job = Job::new(3, policy);
        assert_eq!(
            job.access(2, Call::StartWrite),
            [(2, 0, MessageKind::Write), (0, 2, MessageKind::DataExclusive)]
        );
        assert_eq!(job.access(2, Call::StartWrite), []);
        job.access(1, start)
    };
    let asked = [(1, 0, MessageKind::Read), (0, 2, MessageKind::FetchShared)];
    let two = [(2, 0, MessageKind::Keep), (0, 1, MessageKind::DataShared)];
    let three = [(2, 1, MessageKind::DataShared), (2, 0, MessageKind::HandShared)];
    assert_eq!(dirty(TWO, Call::StartRead), [asked, two].concat());
    assert_eq!(dirty(THREE, Call::StartRead), [asked, three].concat());
    let asked = [(1, 0, MessageKind::Write), (0, 2, MessageKind::FetchExclusive)];
    let two = [(2, 0, MessageKind::Return), (0, 1, MessageKind::DataExclusive)];
    let three = [(2, 1, MessageKind::DataExclusive), (2, 0, MessageKind::HandExclusive)];
    assert_eq!(dirty(TWO, Call::StartWrite), [asked, two].concat());
    assert_eq!(dirty(THREE, Call::StartWrite), [asked, three].concat());
}

/// Fig. 7.17 c: data comes once all readers have acknowledged.
#[test]
fn a_write_miss_invalidates_all_readers() {
    for readers in 1..6 {
        let mut job = Job::new(readers + 2, THREE);
        for reader in 2..readers + 2 {
            job.access(reader, Call::StartRead);
        }
        let told = job.access(1, Call::StartWrite);
        let count = |kind| told.iter().filter(|(_, _, told)| *told == kind).count() as u16;
        assert_eq!(count(MessageKind::Invalidate), readers);
        assert_eq!(count(MessageKind::Acknowledge), readers);
        assert_eq!(told.len() as u16, 2 * readers + 2);
        assert_eq!(
            (told[0], told[told.len() - 1]),
            ((1, 0, MessageKind::Write), (0, 1, MessageKind::DataExclusive))
        );
        assert!((2..readers + 2).all(|reader| job.state(reader.into()) == ReplicaState::Invalid));
    }
}

#[test]
fn a_reader_that_writes_gets_no_data_again() {
    let mut job = Job::new(3, THREE);
    job.access(1, Call::StartRead);
    assert_eq!(
        job.access(1, Call::StartWrite),
        [(1, 0, MessageKind::Upgrade), (0, 1, MessageKind::Upgraded)]
    );
    assert_eq!(
        job.access(0, Call::StartRead),
        [(0, 1, MessageKind::FetchShared), (1, 0, MessageKind::Keep)]
    );
}

#[test]
fn flushed_copies_go_home() {
    let mut job = Job::new(2, THREE);
    job.access(1, Call::StartWrite);
    assert_eq!(job.call(1, Call::Flush), [(1, 0, MessageKind::Return)]);
    assert_eq!(job.access(0, Call::StartWrite), []);
    assert_eq!(job.call(0, Call::Flush), []);
    job.access(1, Call::StartRead);
    assert_eq!(job.call(1, Call::Flush), [], "nobody needs to know");
    assert_eq!(
        job.call(1, Call::Prefetch),
        [(1, 0, MessageKind::Read), (0, 1, MessageKind::DataShared)]
    );
    assert_eq!(job.access(1, Call::StartRead), []);
}

#[test]
fn the_only_copy_may_be_asked_for_ahead() {
    let mut job = Job::new(3, THREE);
    // The home itself, whose copy others have, too.
    job.access(1, Call::StartRead);
    let told = job.call(0, Call::PrefetchWrite);
    assert_eq!(told, [(0, 1, MessageKind::Invalidate), (1, 0, MessageKind::Acknowledge)]);
    assert_eq!(job.access(0, Call::StartWrite), []);
    // One that has nothing, and one that reads.
    let told = job.call(2, Call::PrefetchWrite);
    assert_eq!(told.first(), Some(&(2, 0, MessageKind::Write)));
    assert_eq!(job.call(2, Call::PrefetchWrite), [], "it has it");
    assert_eq!(job.access(2, Call::StartWrite), []);
    job.access(1, Call::StartRead);
    let told = job.call(1, Call::PrefetchWrite);
    assert_eq!(told.first(), Some(&(1, 0, MessageKind::Upgrade)));
    assert_eq!(job.access(1, Call::StartRead), []);
    assert_eq!(job.access(1, Call::StartWrite), []);
}

#[test]
fn migratory_regions_are_written_without_asking_again() {
    let policy = Policy { hint: Hint::Migratory, ..THREE };
    let mut job = Job::new(3, policy);
    for (node, before) in [(1, None), (2, Some(1)), (1, Some(2))] {
        let told = job.access(node, Call::StartRead);
        assert!(told.contains(&(node, 0, MessageKind::Read)));
        assert_eq!(
            before,
            told.iter().find(|told| told.2 == MessageKind::HandExclusive).map(|told| told.0)
        );
        assert_eq!(job.access(node, Call::StartWrite), []);
    }
}

/// Nobody who read before asks again, after any number of writes.
#[test]
fn updates_come_without_being_asked_for() {
    let policy = Policy { hint: Hint::Update, ..THREE };
    let mut job = Job::new(4, policy);
    for reader in [2, 3] {
        job.access(reader, Call::StartRead);
    }
    for writer in [1, 1, 0] {
        let told = job.access(writer, Call::StartWrite);
        for reader in [2, 3] {
            assert!(told.contains(&(0, reader, MessageKind::Update)), "{told:?}");
            assert_eq!(job.access(reader, Call::StartRead), []);
        }
    }
}

#[test]
fn a_deleted_region_refuses_all() {
    let mut job = Job::new(3, THREE);
    job.access(2, Call::StartWrite);
    job.call(1, Call::Delete);
    assert_eq!(job.granted.remove(&1), Some(vec![Call::Delete]));
    for node in [0, 1, 2] {
        job.call(node, Call::StartRead);
        assert_eq!(job.refused.remove(&node), Some(vec![Call::StartRead]));
        assert_eq!(job.state(node.into()), ReplicaState::Deleted);
        assert_eq!(job.call(node, Call::StartWrite), []);
        assert_eq!(job.refused.remove(&node), Some(vec![Call::StartWrite]));
    }
}

#[test]
fn misuse_is_named_and_changes_nothing() {
    let mut job = Job::new(2, THREE);
    let misused = |job: &mut Job, node: usize, call, misuse| {
        let before = job.nodes[node].clone();
        assert_eq!(job.nodes[node].call(call, &mut Heard::default()), Err(misuse), "{call:?}");
        assert_eq!(job.nodes[node], before);
    };
    misused(&mut job, 1, Call::EndRead, Misuse::NotStarted);
    misused(&mut job, 1, Call::EndWrite, Misuse::NotStarted);
    job.call(1, Call::StartRead);
    job.call(1, Call::StartRead);
    for call in [Call::StartWrite, Call::Flush, Call::Delete] {
        misused(&mut job, 1, call, Misuse::Reading);
    }
    misused(&mut job, 1, Call::EndWrite, Misuse::NotStarted);
    job.call(0, Call::StartWrite);
    assert_eq!(job.granted.get(&0), Some(&vec![]), "readers are in");
    misused(&mut job, 0, Call::StartRead, Misuse::Waiting);
    job.call(1, Call::EndRead);
    assert_eq!(job.granted.get(&0), Some(&vec![]), "one reader is still in");
    job.call(1, Call::EndRead);
    assert_eq!(job.granted.get(&0), Some(&vec![Call::StartWrite]));
    for call in [Call::StartRead, Call::StartWrite, Call::Flush, Call::Delete] {
        misused(&mut job, 0, call, Misuse::Writing);
    }
    misused(&mut job, 0, Call::EndRead, Misuse::NotStarted);
}

#[test]
fn what_no_node_says_is_a_breach() {
    let say = |job: &mut Job, to: usize, from: u16, kind, version| {
        let message = Message { kind, version: Version(version), party: Rank(0) };
        job.nodes[to].receive(Rank(from), message, &mut Heard::default())
    };
    let unexpected = |kind| Err(Breach::Unexpected { kind });
    let mut job = Job::new(3, THREE);
    assert_eq!(
        say(&mut job, 1, 2, MessageKind::Read, 0),
        Err(Breach::NotHome { kind: MessageKind::Read })
    );
    let forged = Err(Breach::NotFromHome { kind: MessageKind::Invalidate });
    assert_eq!(say(&mut job, 1, 2, MessageKind::Invalidate, 0), forged);
    assert_eq!(
        say(&mut job, 1, 2, MessageKind::DataShared, 1),
        unexpected(MessageKind::DataShared)
    );
    for kind in [
        MessageKind::Acknowledge,
        MessageKind::Return,
        MessageKind::Keep,
        MessageKind::HandShared,
        MessageKind::HandExclusive,
    ] {
        assert_eq!(say(&mut job, 0, 1, kind, 0), unexpected(kind));
    }
    job.access(1, Call::StartWrite);
    assert_eq!(
        say(&mut job, 0, 2, MessageKind::Return, 1),
        unexpected(MessageKind::Return),
        "not the owner"
    );
    assert_eq!(
        say(&mut job, 0, 1, MessageKind::Return, 2),
        unexpected(MessageKind::Return),
        "of the future"
    );
    assert_eq!(
        say(&mut job, 0, 1, MessageKind::Keep, 1),
        unexpected(MessageKind::Keep),
        "not asked"
    );
    assert_eq!(
        say(&mut job, 0, 1, MessageKind::Read, 1),
        unexpected(MessageKind::Read),
        "it has the only copy"
    );
    assert!(
        !job.nodes[0].expects(Rank(2), MessageKind::Return)
            && job.nodes[0].expects(Rank(1), MessageKind::Return)
    );
    assert!(
        !job.nodes[1].expects(Rank(0), MessageKind::DataShared)
            && job.nodes[2].expects(Rank(0), MessageKind::Update)
    );
    assert_eq!(job.access(1, Call::StartWrite), [], "nothing has changed");
}

/// Several invalidations are one action, so that they may be one packet.
#[test]
fn invalidations_are_multicast() {
    struct Multicasts(Vec<(BTreeSet<Rank>, MessageKind)>);
    impl Actions for Multicasts {
        fn send(&mut self, _: Rank, _: Message) {}
        fn multicast(&mut self, to: &BTreeSet<Rank>, message: Message) {
            self.0.push((to.clone(), message.kind));
        }
        fn place(&mut self) {}
        fn grant(&mut self, _: Call) {}
        fn refuse(&mut self, _: Call) {}
    }
    let mut job = Job::new(4, THREE);
    for reader in 0..4 {
        job.access(reader, Call::StartRead);
    }
    let mut heard = Multicasts(Vec::new());
    job.nodes[0].call(Call::StartWrite, &mut heard).unwrap();
    let readers = [1, 2, 3].map(Rank).into();
    assert_eq!(heard.0, [(readers, MessageKind::Invalidate)]);
}
