//! Refusals: calls and packets that cannot be, and members that get too far ahead.

use super::world::{Buffers, Setting, World};
use super::*;
use crate::format::{Header, TransferKind};

const ALL: TeamId = TeamId { leader: Rank(0), count: 0 };

fn world(ranks: usize) -> World {
    world_with(ranks, tunings()[1])
}

fn world_with(ranks: usize, tuning: Tuning) -> World {
    let (payload, room) = (70_000, usize::MAX);
    let mut world = World::new(Setting { ranks, tuning, payload, room, groups: false });
    let members: Vec<Rank> = (0..ranks as u16).map(Rank).collect();
    (0..ranks).for_each(|at| world.open(at, ALL, &members));
    world
}

fn call(operation: Operation, root: usize, count: usize) -> OperationCall {
    OperationCall { operation, root, count, size: 1 }
}

fn begin(world: &mut World, at: usize, call: &OperationCall) -> Result<u32, Refused> {
    let memory = Buffers::new(vec![at as u8; call.count], call.count, false);
    world.ranks[at].begin(ALL, call, memory)
}

#[test]
fn nobody_gets_further_ahead_than_it_may() {
    let mut world = world(2);
    let broadcast = call(Operation::Broadcast, 0, EAGER_BYTES);
    for number in 0..AHEAD {
        assert!(!world.ranks[0].needs_fence(ALL), "operation {number}");
        assert_eq!(begin(&mut world, 0, &broadcast), Ok(number));
        assert!(world.drive(0, ALL, number, true).is_some());
    }
    // A barrier comes next, and what is behind it waits for it.
    assert!(world.ranks[0].needs_fence(ALL));
    let barrier = call(Operation::Barrier, 0, 0);
    assert_eq!(begin(&mut world, 0, &barrier), Ok(AHEAD));
    assert_eq!(begin(&mut world, 0, &broadcast), Ok(AHEAD + 1));
    assert!(world.drive(0, ALL, AHEAD, true).is_none(), "the other has begun nothing");
    while world.arrive(0, 1) {}
    assert_eq!(world.ranks[1].stored(), AHEAD as usize * EAGER_BYTES);
    for number in 0..AHEAD {
        begin(&mut world, 1, &broadcast).unwrap();
        assert!(world.drive(1, ALL, number, number % 2 == 0).is_some());
    }
    assert!(world.drive(0, ALL, AHEAD + 1, false).is_none(), "not before the barrier");
    assert!(world.ranks[1].needs_fence(ALL));
    assert_eq!(begin(&mut world, 1, &barrier), Ok(AHEAD));
    assert!(world.drive(1, ALL, AHEAD, true).is_some());
    while world.arrive(1, 0) {}
    assert!(world.drive(0, ALL, AHEAD, true).is_some());
    assert!(world.drive(0, ALL, AHEAD + 1, true).is_some());
    begin(&mut world, 1, &broadcast).unwrap();
    while world.arrive(0, 1) {}
    assert!(world.drive(1, ALL, AHEAD + 1, true).is_some());
}

/// Goes on with an operation of these ranks until nothing moves, and returns who has ended it.
fn end(world: &mut World, ranks: &[usize], number: u32) -> Vec<usize> {
    let mut ended = Vec::new();
    loop {
        let before = ended.len();
        for &at in ranks {
            if !ended.contains(&at) && world.drive(at, ALL, number, true).is_some() {
                ended.push(at);
            }
        }
        let pairs = (0..9).map(|pair| (pair / 3, pair % 3));
        let came = pairs.filter(|&(from, at)| world.arrive(from, at)).count();
        if came == 0 && ended.len() == before {
            return ended;
        }
    }
}

#[test]
fn synchronous_broadcasts_end_when_all_have_begun_them_and_need_no_fences() {
    for (tuning, root) in [3, 4].into_iter().flat_map(|kind| [(kind, 0), (kind, 1), (kind, 2)]) {
        let mut world = world_with(3, tunings()[tuning]);
        let broadcast = call(Operation::Broadcast, root, 5);
        for number in 0..2 * AHEAD {
            let late = (number % 3) as usize;
            let early = [(late + 1) % 3, (late + 2) % 3];
            for at in early {
                assert_eq!(begin(&mut world, at, &broadcast), Ok(number));
            }
            assert_eq!(end(&mut world, &early, number), [0; 0], "{late} has begun nothing");
            assert_eq!(begin(&mut world, late, &broadcast), Ok(number));
            assert_eq!(end(&mut world, &[0, 1, 2], number).len(), 3);
            assert!(!world.ranks[late].needs_fence(ALL));
        }
    }
}

/// Packets that come while somebody else has the run are bounded by the operation's length.
#[test]
fn a_run_that_is_taken_out_is_sent_no_more_than_there_is() {
    for (bytes, pieces) in [(3, 1), (EAGER_BYTES, 1), (3 * EAGER_BYTES, 3)] {
        let mut world = world(2);
        begin(&mut world, 0, &call(Operation::Broadcast, 1, bytes)).unwrap();
        let job = world.ranks[0].take(ALL, 0);
        let signature = call(Operation::Broadcast, 1, bytes).signature();
        let header = Header { kind: TransferKind::Piece, team: ALL, number: 0, step: 1, signature };
        let packet = [&header.emit()[..], &vec![0; EAGER_BYTES]].concat();
        for _ in 0..pieces {
            assert_eq!(world.ranks[0].arrive(Rank(1), &packet[..]), Ok(PacketEffect::None));
        }
        let more = world.ranks[0].arrive(Rank(1), &packet[..]);
        assert!(matches!(more, Err(Refused::Violation(_))), "{more:?}");
        drop(job);
    }
}

#[test]
fn calls_that_cannot_be_are_refused() {
    let mut world = world(2);
    assert_eq!(world.ranks[0].name(), TeamId { leader: Rank(0), count: 0 });
    assert_eq!(world.ranks[0].name(), TeamId { leader: Rank(0), count: 1 });
    let again = Members::subset(&[Rank(0), Rank(1)], Rank(0), None).unwrap();
    assert_eq!(world.ranks[0].open(ALL, again), Ok(false), "one that is open");
    assert!(Members::subset(&[Rank(1)], Rank(0), None).is_none(), "of others");
    assert!(Members::subset(&[Rank(0), Rank(1), Rank(1)], Rank(0), None).is_none());
    assert_eq!(begin(&mut world, 0, &call(Operation::Gather, 2, 1)), Err(Refused::Missing));
    let missing = TeamId { count: 9, ..ALL };
    let memory = Buffers::new(Vec::new(), 0, false);
    let outcome = world.ranks[0].begin(missing, &call(Operation::Barrier, 0, 0), memory);
    assert_eq!(outcome, Err(Refused::Missing));
    assert!(world.ranks[0].close(ALL) && !world.ranks[0].close(ALL));
}

/// Refusal by rank 0 of two of a packet of rank 1, from which it awaits a broadcast of 3 bytes.
fn hears(
    id: TeamId,
    number: u32,
    operation: Operation,
    bytes: u64,
    piece: Option<&[u8]>,
) -> Refused {
    let mut world = world(2);
    begin(&mut world, 0, &call(Operation::Broadcast, 1, 3)).unwrap();
    assert!(world.drive(0, ALL, 0, true).is_none());
    let kind = if piece.is_some() { TransferKind::Piece } else { TransferKind::Ready };
    let signature = Signature { operation, root: 1, bytes };
    let header = Header { kind, team: id, number, step: 1, signature };
    let packet = [&header.emit()[..], piece.unwrap_or_default()].concat();
    let mut refused = || world.ranks[0].arrive(Rank(1), &packet[..]).err();
    // What may be said once may not be said for ever.
    (0..EAGER_BYTES + 2).find_map(|_| refused()).unwrap_or(Refused::Missing)
}

#[test]
fn packets_that_no_member_sends_are_refused() {
    use Operation::{Broadcast, Gather};
    let violation = |refused: Refused, what: &str| {
        let Refused::Violation(said) = refused else { panic!("{refused:?}, not {what}") };
        assert!(said.contains(what), "{said}");
    };
    violation(hears(ALL, 0, Broadcast, 3, Some(&[1, 2, 3, 4])), "more of");
    violation(hears(ALL, 0, Broadcast, 3, Some(&[])), "more of");
    violation(hears(ALL, 0, Broadcast, 3, Some(&[1, 2, 3])), "more of");
    violation(hears(ALL, 0, Broadcast, 3, None), "twice");
    violation(hears(ALL, 1, Gather, 3, Some(&[1])), "unasked");
    violation(hears(ALL, 1, Gather, 3, None), "twice");
    violation(hears(ALL, 1, Gather, 3, Some(&vec![0; EAGER_BYTES + 1])), "unasked");
    violation(hears(ALL, AHEAD + 4, Gather, 3, None), "further ahead");
    violation(hears(TeamId { count: 7, ..ALL }, 1, Gather, 3, None), "twice");
    for (operation, bytes) in [(Broadcast, 4), (Gather, 3)] {
        let Refused::Disagreement(said) = hears(ALL, 0, operation, bytes, Some(&[1])) else {
            panic!("{operation} of {bytes} bytes")
        };
        assert_eq!((said.number, said.one.0, said.other.0), (0, Rank(0), Rank(1)));
    }
    let mut world = world(2);
    violation(world.ranks[0].arrive(Rank(1), &[24; 9][..]).unwrap_err(), "none");
    let signature = Signature { operation: Broadcast, root: 0, bytes: 0 };
    let header = |id| Header { kind: TransferKind::Ready, team: id, number: 0, step: 1, signature };
    let outcome = world.ranks[0].arrive(Rank(7), &header(ALL).emit()[..]);
    assert_eq!(outcome, Err(Refused::NotMember));
    for count in 1..=teams::MOST_UNOPENED as u32 + 1 {
        let outcome = world.ranks[0].arrive(Rank(1), &header(TeamId { count, ..ALL }).emit()[..]);
        match count as usize > teams::MOST_UNOPENED {
            true => violation(outcome.unwrap_err(), "more teams"),
            false => assert_eq!(outcome, Ok(PacketEffect::None)),
        }
    }
}

/// A part that is no whole number of elements, and one that is said to be longer than any memory:
/// only bytes that come take room.
#[test]
fn lengths_that_members_announce_are_checked() {
    let tuning = tunings()[0];
    let announces = |bytes: u64, piece: &[u8]| {
        let mut world = world_with(2, tuning);
        let call =
            OperationCall { operation: Operation::AllGatherVaried, root: 0, count: 0, size: 4 };
        let memory = Buffers::of_parts(vec![7; 8], vec![0..8; 2]);
        assert_eq!(world.ranks[0].begin(ALL, &call, memory), Ok(0));
        assert!(world.drive(0, ALL, 0, false).is_none());
        let signature = Signature { bytes, ..call.signature() };
        let header = Header { kind: TransferKind::Piece, team: ALL, number: 0, step: 1, signature };
        let outcome = world.ranks[0].arrive(Rank(1), &[&header.emit(), piece].concat()[..]);
        (world, outcome)
    };
    let (_, outcome) = announces(6, &[1; 6]);
    let Err(Refused::Violation(said)) = outcome else { panic!("{outcome:?}") };
    assert!(said.contains("no whole number of elements"), "{said}");
    let (mut world, outcome) = announces(1 << 47, &vec![1; tuning.round_bytes]);
    assert_eq!(outcome, Ok(PacketEffect::Resume(ALL, 0)));
    assert!(world.drive(0, ALL, 0, false).is_none(), "more is to come");
    let (mut world, outcome) = announces(4, &[1; 4]);
    assert_eq!(outcome, Ok(PacketEffect::Resume(ALL, 0)));
    assert!(world.drive(0, ALL, 0, true).is_some());
}

/// A part that is shorter or longer than what its receiver has room for.
#[test]
fn a_part_of_another_length_than_its_room_is_refused() {
    for bytes in [3, 4, 5] {
        let mut world = world(2);
        let call = OperationCall { operation: Operation::GatherVaried, root: 0, count: 0, size: 1 };
        let memory = Buffers::of_parts(vec![7; 2], vec![0..2; 2]).with_rooms([2, 4].into_iter());
        assert_eq!(world.ranks[0].begin(ALL, &call, memory), Ok(0));
        assert!(world.drive(0, ALL, 0, false).is_none());
        let memory = Buffers::of_parts(vec![7; bytes], vec![0..bytes; 2]);
        assert_eq!(world.ranks[1].begin(ALL, &call, memory), Ok(0));
        assert!(world.drive(1, ALL, 0, true).is_some());
        let signature = Signature { bytes: bytes as u64, ..call.signature() };
        let header = Header { kind: TransferKind::Piece, team: ALL, number: 0, step: 0, signature };
        let packet = [&header.emit()[..], &vec![7; bytes]].concat();
        match (bytes, world.ranks[0].arrive(Rank(1), &packet[..])) {
            (4, outcome) => assert_eq!(outcome, Ok(PacketEffect::Resume(ALL, 0))),
            (_, outcome) => assert_eq!(outcome, Err(Refused::Violation(DISAGREES))),
        }
    }
}

#[test]
fn members_that_begin_different_operations_are_found_out_by_whoever_is_later() {
    let mut world = world(2);
    assert_eq!(begin(&mut world, 0, &call(Operation::Broadcast, 0, 5)), Ok(0));
    assert!(world.drive(0, ALL, 0, true).is_some());
    while world.arrive(0, 1) {}
    let outcome = begin(&mut world, 1, &call(Operation::Barrier, 0, 0));
    let Err(Refused::Disagreement(said)) = outcome else { panic!("{outcome:?}") };
    assert_eq!((said.one.0, said.other.0), (Rank(0), Rank(1)));
    assert!(world.ranks[1].fail(ALL, Abort::Disagreement(said)).is_empty());
    let again = begin(&mut world, 1, &call(Operation::Barrier, 0, 0));
    assert_eq!(again, Err(Refused::Failed(Abort::Disagreement(said))));
}

#[test]
fn operations_without_packets_are_numbered_too() {
    let mut world = world(2);
    let signature = call(Operation::AllReduce, 0, 8).signature();
    for number in 0..200 {
        assert_eq!(world.ranks[0].pass(ALL, signature), Ok((number, false)));
        assert!(!world.ranks[0].needs_fence(ALL));
    }
}
