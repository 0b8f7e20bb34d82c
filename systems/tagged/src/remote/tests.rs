//! Ranks in one vector, and a network of queues between them that is full now and then.

#![allow(clippy::unwrap_used)]

use super::atomic::{AtomicOperation, Element};
use super::format::AccessSpan;
use super::*;
use crate::Address;
use crate::network::wires::{IN_PIECES, Memory, Net, address};
use slotmap::Key;
use std::collections::BTreeMap;
use std::num::NonZero;
use weft_model::random::Random;

type Rankly = Remote<Memory, Memory>;

/// The ranks and what is between them.
struct World {
    ranks: Vec<Rankly>,
    net: Net,
    ended: Vec<(Memory, AccessOutcome)>,
    accessed: Vec<(usize, Accessed)>,
}

/// An access of the tests.
#[derive(Clone, Debug)]
enum Call {
    Write { data: Option<u64>, bytes: Vec<u8> },
    Read { length: usize },
    Atomic { atomic: AtomicAccess, fetches: bool, length: usize, operands: Vec<u8> },
}

const KEY: u64 = 5;
const ALL: AccessRights = AccessRights { read: true, write: true };
/// The number of rank 0's region; those of others follow.
const REGION: usize = 1 << 21;

impl World {
    fn new(ranks: usize, payload: usize, room: usize) -> Self {
        World {
            ranks: (0..ranks).map(|rank| Remote::new(Rank(rank as u16), ranks)).collect(),
            net: Net::new(ranks, payload, room),
            ended: Vec::new(),
            accessed: Vec::new(),
        }
    }

    /// Two ranks, of which each has exposed so many bytes.
    fn pair(length: usize) -> Self {
        let mut world = World::new(2, 200, usize::MAX);
        for rank in 0..2 {
            world.expose(rank, KEY, length, ALL);
        }
        world
    }

    fn expose(&mut self, at: usize, key: u64, length: usize, rights: AccessRights) {
        let memory = Memory { number: REGION + at, bytes: vec![0; length] };
        self.ranks[at].expose(key, 0, rights, memory).unwrap();
    }

    /// Makes the present bytes of all regions those that are fetched out of them.
    fn publish_regions(&mut self) {
        for region in self.ranks.iter().filter_map(|rank| rank.region(KEY)) {
            self.net.fetchable.bytes.insert(address(region.number), region.bytes.clone());
        }
    }

    /// Asks for an access; whether it could be begun.
    fn call(&mut self, from: usize, access: Access, number: usize, call: Call) -> bool {
        if let Call::Write { bytes, .. } = &call {
            self.net.fetchable.bytes.insert(address(number), bytes.clone());
        }
        let (rank, network) = (&mut self.ranks[from], &mut self.net.of(from));
        let memory = |bytes| Memory { number, bytes };
        let submission = match call {
            Call::Write { data, bytes } => rank.write(network, &access, data, memory(bytes)),
            Call::Read { length } => rank.read(network, &access, memory(vec![0; length])),
            Call::Atomic { atomic, fetches, length, operands } => {
                let into = memory(if fetches { vec![0; length] } else { Vec::new() });
                let atomic = (atomic, fetches);
                rank.atomic(network, &access, atomic, length as u64, &operands, into)
            }
        };
        self.tell(from);
        matches!(submission.unwrap(), Submission::Kept)
    }

    fn write(&mut self, to: usize, offset: u64, bytes: &[u8]) -> bool {
        self.call(0, access(to, offset), 0, Call::Write { data: None, bytes: bytes.to_vec() })
    }

    fn tell(&mut self, at: usize) {
        while let Some(event) = self.ranks[at].event() {
            match event {
                AccessEvent::Ended { op, outcome } => {
                    // Nothing may be fetched from there any more.
                    self.net.fetchable.bytes.remove(&address(op.number));
                    self.ended.push((op, outcome));
                }
                AccessEvent::Accessed(accessed) => self.accessed.push((at, accessed)),
            }
        }
    }

    /// Has `at` take one packet of `from`; whether there was one.
    fn arrive(&mut self, from: usize, at: usize) -> bool {
        let Some(packet) = self.net.take(from, at) else { return false };
        self.take(from, at, &packet).unwrap();
        self.tell(at);
        true
    }

    fn take(&mut self, from: usize, at: usize, packet: &[u8]) -> Result<()> {
        self.ranks[at].arrive(&mut self.net.of(at), Rank(from as u16), packet)
    }

    fn transmit(&mut self, at: usize) -> bool {
        if !self.ranks[at].origin.fetching.is_empty() {
            self.publish_regions();
        }
        let any = self.ranks[at].transmit(&mut self.net.of(at)).unwrap();
        self.tell(at);
        any
    }

    /// Until nothing moves any more.
    fn settle(&mut self) {
        loop {
            let mut any = false;
            for at in 0..self.ranks.len() {
                any |= (0..self.ranks.len()).any(|from| self.arrive(from, at));
                any |= self.transmit(at);
            }
            if !any {
                return;
            }
        }
    }

    fn bytes(&self, at: usize) -> &[u8] {
        &self.ranks[at].region(KEY).unwrap().bytes
    }
}

fn access(to: usize, offset: u64) -> Access {
    Access { to: Address { rank: Rank(to as u16), endpoint: 0 }, from: 0, key: KEY, offset }
}

fn pattern_of(length: usize) -> Vec<u8> {
    (0..length).map(|offset| (offset * 7 + length) as u8).collect()
}

fn add(fetches: bool, amount: u64) -> Call {
    let atomic = AtomicAccess { operation: AtomicOperation::Sum, element: Element::U64 };
    Call::Atomic { atomic, fetches, length: 8, operands: amount.to_ne_bytes().to_vec() }
}

fn word(bytes: &[u8]) -> u64 {
    u64::from_ne_bytes(bytes.try_into().unwrap())
}

#[test]
fn what_is_written_stands_there_and_can_be_read() {
    for length in [0, 1, 160, 161, 1000, 10_000] {
        for to in [0, 1] {
            let mut world = World::pair(length + 10);
            let bytes = pattern_of(length);
            assert!(world.write(to, 7, &bytes));
            world.settle();
            assert_eq!(world.bytes(to)[7..length + 7], bytes);
            assert_eq!((world.bytes(to)[6], world.bytes(to)[length + 7]), (0, 0));
            assert!(world.call(0, access(to, 7), 1, Call::Read { length }));
            world.settle();
            assert_eq!(world.ended.len(), 2, "{length} bytes");
            let (read, outcome) = &world.ended[1];
            assert_eq!((read.number, &read.bytes, *outcome), (1, &bytes, Ok(())));
            assert!(world.ranks.iter().all(Rankly::is_idle));
        }
    }
}

#[test]
fn a_write_ends_when_it_is_there_and_not_before() {
    let mut world = World::pair(1000);
    assert!(world.write(1, 0, &pattern_of(500)));
    while world.transmit(0) {}
    assert!(world.ended.is_empty());
    while world.arrive(0, 1) {}
    assert_eq!(world.bytes(1)[..500], pattern_of(500));
    assert!(world.ended.is_empty() && world.ranks[0].is_busy(0) && !world.ranks[0].is_busy(1));
    world.settle();
    assert_eq!(world.ended.len(), 1);
}

#[test]
fn accesses_to_a_rank_that_is_gone_end_under_way_or_later() {
    let mut world = World::pair(64);
    assert!(world.write(1, 0, &[7; 8]));
    assert_eq!(world.ended, [], "nobody has answered");
    world.ranks[0].give_up(Rank(1));
    world.tell(0);
    assert!(world.write(1, 8, &[7; 8]) && world.call(0, access(1, 0), 0, Call::Read { length: 8 }));
    let outcomes: Vec<_> = world.ended.iter().map(|(_, outcome)| *outcome).collect();
    assert_eq!(outcomes, [Err(AccessRefused::NoRegion); 3]);
    assert!(world.ranks[0].is_idle());
}

#[test]
fn atomics_are_done_at_the_target() {
    for to in [0, 1] {
        let mut world = World::pair(16);
        for number in 0..10 {
            assert!(world.call(0, access(to, 8), number, add(number % 2 == 0, 3)));
        }
        world.settle();
        assert_eq!(world.bytes(to)[..8], [0; 8]);
        assert_eq!(word(&world.bytes(to)[8..]), 30);
        for (op, outcome) in &world.ended {
            assert_eq!(*outcome, Ok(()));
            let expected = if op.number % 2 == 0 { Some(op.number as u64 * 3) } else { None };
            assert_eq!((!op.bytes.is_empty()).then(|| word(&op.bytes)), expected);
        }
        assert_eq!(world.ended.len(), 10);
    }
}

#[test]
fn what_does_not_fit_its_region_is_refused_and_changes_nothing() {
    let read = AtomicAccess { operation: AtomicOperation::Read, element: Element::U64 };
    let calls = [
        Call::Write { data: Some(3), bytes: vec![1; 8] },
        Call::Write { data: None, bytes: vec![1; 300] },
        Call::Read { length: 8 },
        add(false, 1),
        add(true, 1),
        Call::Atomic { atomic: read, fetches: true, length: 8, operands: Vec::new() },
    ];
    for to in [0, 1] {
        for (number, call) in calls.iter().enumerate() {
            let mut world = World::new(2, 200, usize::MAX);
            let (writes, reads) = (number != 2 && number != 5, !matches!(number, 0 | 1 | 3));
            world.expose(to, KEY, 304, ALL);
            world.expose(to, 6, 304, AccessRights { read: !reads, write: true });
            world.expose(to, 7, 304, AccessRights { read: true, write: !writes });
            world.ranks[to].region_mut(KEY).unwrap().bytes.fill(9);
            let far = 304 - if number == 1 { 299 } else { 7 };
            let cases = [
                (1, 0, Err(AccessRefused::NoRegion)),
                (6, 0, if reads { Err(AccessRefused::NoRight) } else { Ok(()) }),
                (7, 0, if writes { Err(AccessRefused::NoRight) } else { Ok(()) }),
                (KEY, far, Err(AccessRefused::Beyond)),
                (KEY, u64::MAX, Err(AccessRefused::Beyond)),
                (KEY, u64::MAX - 8, Err(AccessRefused::Beyond)),
            ];
            for (key, offset, expected) in cases {
                world.ended.clear();
                assert!(world.call(0, Access { key, ..access(to, offset) }, 1, call.clone()));
                world.settle();
                if let Some((_, Accessed { data: Some((_, owed)), .. })) = world.accessed.pop() {
                    world.ranks[to].answer(owed);
                    world.tell(to);
                    world.settle();
                }
                let (_, outcome) = world.ended.pop().unwrap();
                assert_eq!(outcome, expected, "{call:?} of {key} at {offset}");
                assert!(world.ended.is_empty() && world.ranks.iter().all(Rankly::is_idle));
            }
            assert_eq!(world.bytes(to), [9; 304]);
        }
    }
}

#[test]
fn a_region_may_begin_anywhere() {
    let mut world = World::new(2, 200, usize::MAX);
    let memory = Memory { number: 0, bytes: vec![0; 10] };
    world.ranks[1].expose(KEY, 1 << 40, ALL, memory).unwrap();
    for (offset, expected) in [
        (1 << 40, Ok(())),
        ((1 << 40) + 6, Ok(())),
        ((1 << 40) - 1, Err(AccessRefused::Beyond)),
        ((1 << 40) + 7, Err(AccessRefused::Beyond)),
        (0, Err(AccessRefused::Beyond)),
    ] {
        assert!(world.write(1, offset, b"four"));
        world.settle();
        assert_eq!(world.ended.pop().unwrap().1, expected);
    }
    assert_eq!(world.bytes(1), b"four\0\0four");
}

#[test]
fn a_key_names_one_region() {
    let mut world = World::pair(10);
    let other = Memory { number: 1, bytes: Vec::new() };
    assert_eq!(world.ranks[0].expose(KEY, 0, ALL, other.clone()), Err(other.clone()));
    assert_eq!(world.ranks[0].conceal(KEY).unwrap().bytes.len(), 10);
    assert_eq!(world.ranks[0].conceal(KEY), None);
    world.ranks[0].expose(KEY, 0, ALL, other).unwrap();
}

#[test]
fn a_region_that_is_concealed_is_read_no_longer() {
    let mut world = World::pair(100_000);
    assert!(world.call(0, access(1, 0), 1, Call::Read { length: 100_000 }));
    world.arrive(0, 1);
    world.transmit(1);
    world.ranks[1].conceal(KEY).unwrap();
    // Another region with its key is another region.
    world.expose(1, KEY, 100_000, ALL);
    world.settle();
    assert_eq!(world.ended[0].1, Err(AccessRefused::NoRegion));
    assert!(world.ranks.iter().all(Rankly::is_idle));
}

#[test]
fn a_write_of_which_a_part_was_refused_was_refused() {
    let mut world = World::pair(1000);
    assert!(world.write(1, 0, &[1; 1000]));
    while world.transmit(0) {}
    let memory = world.ranks[1].conceal(KEY).unwrap();
    world.arrive(0, 1);
    world.ranks[1].expose(KEY, 0, ALL, memory).unwrap();
    world.settle();
    assert_eq!(world.ended[0].1, Err(AccessRefused::NoRegion));
    assert!(world.accessed.is_empty());
    // The next one is another.
    assert!(world.write(1, 0, &[1; 1000]));
    world.settle();
    assert_eq!(world.ended[1].1, Ok(()));
}

#[test]
fn who_has_much_under_way_waits() {
    for call in
        [Call::Write { data: None, bytes: vec![1; 8] }, Call::Read { length: 500 }, add(true, 1)]
    {
        let mut world = World::pair(1000);
        for number in 0..MOST as usize {
            assert!(world.call(0, access(1, 0), number, call.clone()));
            world.arrive(0, 1);
        }
        assert!(!world.call(0, access(1, 0), 0, call.clone()));
        assert!(world.call(0, access(0, 0), 0, call.clone()), "to another it goes on");
        assert_eq!(world.ranks[1].owed(), MOST as usize, "and nobody owes more");
        world.settle();
        assert!(world.call(0, access(1, 0), 0, call));
    }
}

#[test]
fn nothing_begins_while_there_is_no_room() {
    let calls =
        [Call::Write { data: None, bytes: vec![1; 500] }, Call::Read { length: 5 }, add(true, 1)];
    for call in calls {
        let mut world = World::pair(1000);
        world.net.room = 0;
        assert!(!world.call(0, access(1, 0), 1, call.clone()));
        assert!(world.ranks[0].is_idle());
        world.net.room = 1;
        assert!(world.call(0, access(1, 0), 1, call));
        assert!(!world.call(0, access(1, 0), 2, add(false, 1)), "the one packet is there");
        world.settle();
        assert_eq!(world.ended.len(), 1);
    }
}

#[test]
fn who_is_told_answers_when_it_can() {
    for to in [0, 1] {
        let mut world = World::pair(1000);
        let call = Call::Write { data: Some(77), bytes: vec![1; 500] };
        let access =
            Access { to: Address { endpoint: 3, ..access(to, 0).to }, from: 4, ..access(to, 8) };
        assert!(world.call(0, access, 1, call));
        world.settle();
        let (at, Accessed { data, to: endpoint, from, length, writes, .. }) = world.accessed[0];
        assert_eq!((at, endpoint, length, writes), (to, 3, 500, true));
        assert_eq!((from.rank, from.endpoint), (Rank(0), 4));
        let (data, owed) = data.unwrap();
        assert_eq!(data, 77);
        assert!(world.ended.is_empty(), "not yet");
        world.ranks[to].answer(owed);
        world.tell(to);
        world.settle();
        assert_eq!(world.ended.len(), 1);
    }
}

/// Two ranks that may fetch, of which each has exposed so many bytes; rank 1 has fetched before.
fn lending(length: usize) -> World {
    let mut world = World::pair(length);
    world.ranks.iter_mut().for_each(|rank| rank.set_single_copy(true));
    assert!(world.write(1, 0, &vec![9; length]));
    world.settle();
    assert_eq!(world.net.fetchable.fetched, 0, "it has only tried");
    world.ended.clear();
    world.accessed.clear();
    world
}

#[test]
fn long_writes_are_fetched_by_who_can() {
    for (length, fetched) in [(32_767, 0), (32_768, 1), (262_144, 1), (600_000, 3)] {
        for data in [None, Some(5)] {
            let mut world = lending(600_010);
            let bytes = pattern_of(length);
            assert!(world.call(0, access(1, 7), 1, Call::Write { data, bytes: bytes.clone() }));
            world.settle();
            assert_eq!(world.net.fetchable.fetched, fetched);
            assert_eq!(world.bytes(1)[7..length + 7], bytes);
            assert_eq!((world.bytes(1)[6], world.bytes(1)[length + 7]), (9, 9));
            let (_, accessed) = world.accessed.pop().unwrap();
            assert_eq!((accessed.length, accessed.writes), (length as u64, true));
            if let Some((said, owed)) = accessed.data {
                assert_eq!((Some(said), world.ended.len()), (data, 0));
                world.ranks[1].answer(owed);
                world.settle();
            }
            assert_eq!(world.ended[0].1, Ok(()));
            assert!(world.ranks.iter().all(Rankly::is_idle));
        }
    }
}

#[test]
fn what_follows_a_long_write_finds_it_there() {
    let mut world = lending(600_000);
    assert!(world.write(1, 0, &[1; 600_000]));
    while world.transmit(0) {}
    let call = Call::Write { data: None, bytes: vec![2; 20] };
    assert!(world.call(0, access(1, 299_990), 2, call));
    assert!(world.call(0, access(1, 8), 1, add(true, 1)));
    world.settle();
    assert_eq!(word(&world.ended[2].0.bytes), u64::from_ne_bytes([1; 8]));
    assert_eq!(world.bytes(1)[299_980..300_020], [[1; 10], [2; 10], [2; 10], [1; 10]].concat());
}

#[test]
fn a_region_in_several_pieces_is_written_too() {
    let mut world = lending(40_000);
    world.ranks[1].region_mut(KEY).unwrap().number = IN_PIECES;
    assert!(world.write(1, 0, &pattern_of(40_000)));
    world.settle();
    assert_eq!((world.net.fetchable.fetched, world.bytes(1)), (1, &pattern_of(40_000)[..]));
}

#[test]
fn a_write_that_cannot_be_fetched_is_refused_and_the_next_one_sent() {
    for time in 0..3 {
        let mut world = lending(600_000);
        world.net.fetchable.fails = time..time + 1;
        let call = || Call::Write { data: Some(5), bytes: pattern_of(600_000) };
        assert!(world.call(0, access(1, 0), 1, call()));
        world.settle();
        assert_eq!(world.ended[0].1, Err(AccessRefused::Unfetchable));
        assert!(world.accessed.is_empty());
        let fetched = world.net.fetchable.fetched;
        assert!(world.write(1, 0, &pattern_of(600_000)));
        world.settle();
        assert_eq!((world.ended[1].1, world.net.fetchable.fetched), (Ok(()), fetched));
        assert_eq!(world.bytes(1), pattern_of(600_000));
    }
}

#[test]
fn what_is_offered_is_checked_before_it_is_fetched() {
    let mut world = lending(40_000);
    for (key, offset, expected) in [
        (KEY, 1, AccessRefused::Beyond),
        (KEY + 1, 0, AccessRefused::NoRegion),
        (KEY, 1 << 63, AccessRefused::Beyond),
    ] {
        let call = Call::Write { data: None, bytes: vec![1; 40_000] };
        assert!(world.call(0, Access { key, ..access(1, offset) }, 1, call));
        world.settle();
        assert_eq!(world.ended.pop().unwrap().1, Err(expected));
    }
    assert_eq!((world.net.fetchable.fetched, world.bytes(1)), (0, &[9; 40_000][..]));
}

#[test]
fn long_reads_are_fetched_by_who_can() {
    for (length, fetched) in [(131_071, 0), (131_072, 1), (262_144, 1), (600_000, 3)] {
        let mut world = lending(600_010);
        let bytes = pattern_of(length);
        world.ranks[1].region_mut(KEY).unwrap().bytes[7..length + 7].copy_from_slice(&bytes);
        assert!(world.call(0, access(1, 7), 1, Call::Read { length }));
        world.settle();
        let (read, outcome) = world.ended.pop().unwrap();
        assert_eq!((read.bytes == bytes, outcome), (true, Ok(())), "{length} bytes");
        let (at, accessed) = world.accessed.pop().unwrap();
        assert_eq!((at, accessed.length, accessed.writes), (1, length as u64, false));
        assert_eq!((world.net.fetchable.fetched, world.accessed.len()), (fetched, 0));
        assert!(world.ranks.iter().all(Rankly::is_idle));
    }
}

#[test]
fn who_lends_hears_that_all_is_fetched_and_not_before() {
    let mut world = lending(600_000);
    assert!(world.call(0, access(1, 0), 1, Call::Read { length: 600_000 }));
    world.arrive(0, 1);
    while world.transmit(1) {}
    world.arrive(1, 0);
    assert!(world.transmit(0) && world.transmit(0) && world.ended.is_empty());
    assert_eq!((world.accessed.len(), world.ranks[1].owed()), (0, 1));
    assert!(!world.ranks[1].is_idle(), "its memory is still needed");
    world.net.room = 0;
    assert!(world.transmit(0) && world.ended.is_empty(), "who offers can be told first");
    world.net.room = 1;
    assert!(world.transmit(0));
    assert_eq!((world.ended.len(), world.accessed.len()), (1, 0));
    world.arrive(0, 1);
    assert_eq!((world.accessed.len(), world.ranks[1].is_idle()), (1, true));
}

#[test]
fn what_does_not_lie_in_one_piece_is_not_fetched() {
    for is_there in [false, true] {
        let mut world = lending(140_000);
        let bytes = pattern_of(140_000);
        let number = if is_there { 1 } else { IN_PIECES };
        let region = world.ranks[1].region_mut(KEY).unwrap();
        region.bytes.clone_from(&bytes);
        region.number = if is_there { IN_PIECES } else { region.number };
        assert!(world.call(0, access(1, 0), number, Call::Read { length: 140_000 }));
        world.settle();
        assert_eq!((&world.ended[0].0.bytes, world.ended[0].1), (&bytes, Ok(())));
        assert_eq!(world.net.fetchable.fetched, 0);
    }
}

#[test]
fn a_read_that_cannot_be_fetched_is_sent_and_so_is_the_next_one() {
    for time in 0..3 {
        let mut world = lending(600_000);
        let bytes = pattern_of(600_000);
        world.ranks[1].region_mut(KEY).unwrap().bytes.clone_from(&bytes);
        // The first one is fetched, in three pieces.
        for (number, fetched) in [(1, 3), (2, 4 + time), (3, 4 + time)] {
            assert!(world.call(0, access(1, 0), number, Call::Read { length: 600_000 }));
            if number == 2 {
                world.net.fetchable.fails = fetched - 1..fetched;
            }
            world.settle();
            let (read, outcome) = world.ended.pop().unwrap();
            assert_eq!((read.bytes == bytes, outcome), (true, Ok(())));
            assert_eq!((world.net.fetchable.fetched, world.accessed.len()), (fetched, number));
        }
        assert!(world.ranks.iter().all(Rankly::is_idle));
    }
}

#[test]
fn a_region_that_is_concealed_while_it_is_fetched_is_sent_no_longer() {
    let mut world = lending(600_000);
    world.net.fetchable.fails = 1..2;
    assert!(world.call(0, access(1, 0), 1, Call::Read { length: 600_000 }));
    world.arrive(0, 1);
    while world.transmit(1) {}
    world.arrive(1, 0);
    assert!(world.transmit(0));
    world.ranks[1].conceal(KEY).unwrap();
    world.settle();
    assert_eq!((world.net.fetchable.fetched, world.ended[0].1), (2, Err(AccessRefused::NoRegion)));
    assert!(world.ranks.iter().all(Rankly::is_idle));
}

#[test]
fn who_did_not_ask_where_bytes_lie_is_not_told_and_what_was_not_lent_not_fetched() {
    let lies = |number, lies_at| {
        RemotePacket::Address { number, lies_at: NonZero::new(lies_at).unwrap() }
            .head()
            .bytes()
            .to_vec()
    };
    let write = Call::Write { data: None, bytes: vec![1; 140_000] };
    for (call, address, is_right) in [
        (Call::Read { length: 4 }, 1, false),
        (Call::Read { length: 140_000 }, u64::MAX - 139_999, false),
        (Call::Read { length: 140_000 }, u64::MAX - 140_000, true),
        (write, 1, false),
        (add(true, 1), 1, false),
    ] {
        let mut world = lending(140_000);
        assert!(world.call(0, access(1, 0), 1, call.clone()));
        let number = world.ranks[0].origin.ops.keys().next().unwrap().data().as_ffi();
        assert_eq!(world.take(1, 0, &lies(number, address)).is_ok(), is_right, "{call:?}");
        assert!(world.take(1, 0, &lies(number, address)).is_err(), "{call:?} once more");
    }
    let mut world = lending(140_000);
    let span = AccessSpan { to: 0, from: 0, key: KEY, offset: 0, end: 140_000 };
    let fetched = RemotePacket::Fetched { number: 7, all: true }.head();
    assert!(world.take(0, 1, fetched.bytes()).is_err());
    let read = RemotePacket::Read { span, number: 7, fetches: true }.head();
    world.take(0, 1, read.bytes()).unwrap();
    assert!(world.take(0, 1, read.bytes()).is_err(), "it has the number of another");
    // Otherwise addresses that find no room would heap up.
    assert!(world.take(0, 1, fetched.bytes()).is_err(), "it cannot know where the bytes lie");
    assert!(world.transmit(1));
    world.take(0, 1, fetched.bytes()).unwrap();
    assert!(world.take(0, 1, fetched.bytes()).is_err());
}

#[test]
fn an_atomic_access_is_no_longer_than_a_packet() {
    let element = Element::U8;
    for (operation, most) in
        [(AtomicOperation::Read, 160), (AtomicOperation::Sum, 160), (AtomicOperation::Swap, 80)]
    {
        let atomic = AtomicAccess { operation, element };
        assert_eq!(atomic_bytes(200, atomic), most);
        for (length, is_right) in [(most, true), (most + 1, false), (100_000, false)] {
            let mut world = World::pair(100_000);
            let span = AccessSpan { to: 0, from: 0, key: KEY, offset: 0, end: length as u64 };
            let operands = vec![1; length * operation.operands()];
            let packet = RemotePacket::Atomic {
                span,
                number: 1,
                atomic,
                fetches: true,
                operands: &operands,
            };
            let packet = [packet.head().bytes(), packet.bytes()].concat();
            assert_eq!(world.take(0, 1, &packet).is_ok(), is_right, "{operation:?} of {length}");
            world.transmit(1);
            assert_eq!(world.net.take(1, 0).is_some(), is_right);
        }
    }
}

#[test]
fn only_what_was_offered_can_be_out_of_reach() {
    let mut world = lending(40_000);
    let outcome = Err(AccessRefused::Unfetchable);
    for call in [Call::Write { data: None, bytes: vec![1; 4] }, Call::Read { length: 4 }] {
        assert!(world.call(0, access(1, 0), 1, call));
        let number = world.ranks[0].origin.ops.keys().next().unwrap().data().as_ffi();
        let head = RemotePacket::Ended { number, outcome }.head();
        assert!(world.take(1, 0, head.bytes()).is_err());
        world.settle();
        assert_eq!(world.ended.pop().unwrap().1, Ok(()));
    }
}

#[test]
fn what_no_peer_sends_changes_nothing() {
    let packet = |parsed: RemotePacket<'_>| [parsed.head().bytes(), parsed.bytes()].concat();
    let number = 1 << 32 | 1;
    let span = AccessSpan { to: 0, from: 0, key: KEY, offset: 0, end: 4 };
    let hostile = [
        vec![],
        vec![16; 7],
        vec![99; 50],
        packet(RemotePacket::Part { number, bytes: b"" }),
        packet(RemotePacket::Part { number, bytes: b"12345" }),
        packet(RemotePacket::Part { number: number + 1, bytes: b"1" }),
        packet(RemotePacket::Ended { number, outcome: Ok(()) }),
        packet(RemotePacket::Ended { number: 0, outcome: Ok(()) }),
    ];
    for packet in hostile {
        let mut world = World::pair(10);
        assert!(world.call(0, access(1, 0), 1, Call::Read { length: 4 }));
        let outcome = world.take(1, 0, &packet);
        assert!(matches!(outcome, Err(Error::Violation { from: Rank(1), .. })), "{packet:?}");
        world.settle();
        assert_eq!(world.ended[0].1, Ok(()));
    }
    // Nor does anybody ask for more than it may.
    let mut world = World::pair(10);
    for number in 0..=u64::from(MOST) {
        let outcome =
            world.take(1, 0, &packet(RemotePacket::Read { span, number, fetches: false }));
        assert_eq!(outcome.is_ok(), number < u64::from(MOST));
    }
}

#[test]
fn who_answers_another_ones_access_is_refused() {
    let mut world = World::new(3, 200, usize::MAX);
    assert!(world.call(0, access(1, 0), 1, Call::Write { data: None, bytes: vec![1] }));
    let head = RemotePacket::Ended { number: 1 << 32 | 1, outcome: Ok(()) }.head();
    assert!(world.take(2, 0, head.bytes()).is_err());
    world.take(1, 0, head.bytes()).unwrap();
}

/// A program of three ranks, which does anything, and what has to come of it.
struct Program {
    random: Random,
    world: World,
    /// Bytes of each region that one rank has for itself; all count in the first word.
    part: usize,
    /// Bytes of each rank's part of each region, once all that it has begun has ended.
    parts: Vec<Vec<Vec<u8>>>,
    begun: usize,
    reads: BTreeMap<usize, Reading>,
    fetched: BTreeMap<usize, u64>,
    counted: Vec<Vec<usize>>,
}

/// Bytes that a read may return, for each of its positions.
struct Reading {
    ranks: (usize, usize),
    offset: usize,
    may_be: Vec<Vec<u8>>,
}

impl Program {
    /// With long accesses some are fetched.
    fn new(seed: u64, is_long: bool) -> Self {
        let mut random = Random::part(seed, 2);
        let room = 1 + random.below(4) as usize;
        let (part, payload) = if is_long { (160_000, 8000) } else { (2000, 100) };
        let mut world = World::new(3, payload + random.below(1000) as usize, room);
        for rank in 0..3 {
            world.expose(rank, KEY, 8 + 3 * part, ALL);
            world.ranks[rank].set_single_copy(is_long);
        }
        Program {
            random,
            world,
            part,
            parts: vec![vec![vec![0; part]; 3]; 3],
            begun: 0,
            reads: BTreeMap::new(),
            fetched: BTreeMap::new(),
            counted: vec![Vec::new(); 3],
        }
    }

    fn step(&mut self) {
        let (one, two) = (self.random.below(3) as usize, self.random.below(3) as usize);
        let most = *self.random.choose(&[10, 300, self.part as u64 - 8]);
        let least = *self.random.choose(&[0, most / 8 * 7]);
        let length = (least + self.random.below(most - least)) as usize;
        let offset = self.random.below((self.part - length) as u64 + 1) as usize;
        match self.random.below(10) {
            0 => {
                let bytes: Vec<u8> = (0..length).map(|_| self.random.below(256) as u8).collect();
                if self.call(one, two, offset, Call::Write { data: None, bytes: bytes.clone() }) {
                    self.changed((one, two), offset, &bytes);
                }
            }
            1 => self.read(one, two, offset, length),
            2 if self.world.call(one, access(two, 0), self.begun, add(true, 1)) => {
                self.counted[two].push(self.begun);
                self.begun += 1;
            }
            3 => {
                let offset = offset.min(self.part - 8);
                let before = word(&self.parts[one][two][offset..offset + 8]);
                let number = self.begun;
                self.fetched.insert(number, before);
                if self.call(one, two, offset, add(true, 0x0101)) {
                    let after = before.wrapping_add(0x0101).to_ne_bytes();
                    self.changed((one, two), offset, &after);
                } else {
                    self.fetched.remove(&number);
                }
            }
            4..8 => {
                self.world.arrive(one, two);
            }
            _ => {
                self.world.transmit(one);
            }
        }
    }

    /// Accesses a rank's own part; whether it could be begun.
    fn call(&mut self, one: usize, two: usize, offset: usize, call: Call) -> bool {
        let at = access(two, (8 + one * self.part + offset) as u64);
        let began = self.world.call(one, at, self.begun, call);
        self.begun += usize::from(began);
        began
    }

    fn read(&mut self, one: usize, two: usize, offset: usize, length: usize) {
        let now = &self.parts[one][two][offset..offset + length];
        let may_be = now.iter().map(|byte| vec![*byte]).collect();
        let number = self.begun;
        self.reads.insert(number, Reading { ranks: (one, two), offset, may_be });
        if !self.call(one, two, offset, Call::Read { length }) {
            self.reads.remove(&number);
        }
    }

    /// These bytes were written, which reads that have begun may see, too.
    fn changed(&mut self, ranks: (usize, usize), offset: usize, bytes: &[u8]) {
        for reading in self.reads.values_mut().filter(|reading| reading.ranks == ranks) {
            for (at, byte) in bytes.iter().enumerate() {
                let number = (offset + at).checked_sub(reading.offset);
                if let Some(may_be) = number.and_then(|number| reading.may_be.get_mut(number)) {
                    may_be.push(*byte);
                }
            }
        }
        self.parts[ranks.0][ranks.1][offset..offset + bytes.len()].copy_from_slice(bytes);
    }

    /// All is over, and as it has to be.
    fn judge(&mut self) {
        self.world.settle();
        for (one, parts) in self.parts.iter().enumerate() {
            for (two, part) in parts.iter().enumerate() {
                let start = 8 + one * self.part;
                assert_eq!(self.world.bytes(two)[start..start + self.part], part[..]);
            }
        }
        let mut ended: BTreeMap<usize, &[u8]> = BTreeMap::new();
        for (op, outcome) in &self.world.ended {
            assert_eq!(*outcome, Ok(()));
            assert_eq!(ended.insert(op.number, &op.bytes), None, "it ends once");
        }
        assert_eq!(ended.len(), self.begun, "all have ended");
        for (number, reading) in &self.reads {
            assert_eq!(ended[number].len(), reading.may_be.len());
            for (byte, may_be) in ended[number].iter().zip(&reading.may_be) {
                assert!(may_be.contains(byte), "{byte} was not there");
            }
        }
        for (number, before) in &self.fetched {
            assert_eq!(word(ended[number]), *before);
        }
        for counted in &self.counted {
            let mut values: Vec<u64> = counted.iter().map(|number| word(ended[number])).collect();
            values.sort_unstable();
            assert!(values.into_iter().eq(0..counted.len() as u64), "each counts once");
        }
        assert!(self.world.ranks.iter().all(Rankly::is_idle));
    }
}

#[test]
fn random_programs_see_memory_in_order() {
    let mut fetched = 0;
    for seed in 0..75 {
        println!("seed {seed}");
        let is_long = seed % 15 == 0;
        let mut program = Program::new(seed, is_long);
        for _ in 0..if is_long { 1500 } else { 4000 } {
            program.step();
        }
        program.judge();
        fetched += program.world.net.fetchable.fetched;
    }
    assert!(fetched > 50, "{fetched}");
}
