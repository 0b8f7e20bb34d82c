use super::*;
use crate::field::FieldKind;
use crate::want::Want;
use proptest::prelude::*;

/// Answer of an operation; `None` if it waits, or its arguments are none.
fn run(shard: &mut Shard, operation: u16, bytes: &[u8]) -> Option<Answer> {
    let (outcome, result) = outcome(shard, operation, bytes);
    (outcome == Outcome::Done).then(|| Answer::parse(&result).unwrap())
}

fn outcome(shard: &mut Shard, operation: u16, bytes: &[u8]) -> (Outcome, Vec<u8>) {
    let mut result = Vec::new();
    let outcome = match Shard::OPERATIONS[usize::from(operation)].body {
        Body::Read(run) => run(shard, bytes, &mut result),
        Body::Write(run) => run(shard, bytes, &mut result),
        Body::Either(..) => unreachable!("a shard has no operation with alternatives"),
    };
    assert!(outcome == Outcome::Done || result.is_empty());
    (outcome, result)
}

fn tuple(n: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    emit_tuple(&[Field::U64(n)], &mut bytes);
    bytes
}

fn formal() -> Vec<u8> {
    let mut bytes = Vec::new();
    emit_template(&[Pattern::Formal(FieldKind::U64)], &mut bytes);
    bytes
}

const NAME: Want = Want { rank: 3, number: 4 };

/// The bytes of a want, and these.
fn want(rest: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    emit_want(NAME, &mut bytes);
    [&bytes, rest].concat()
}

#[test]
fn who_takes_and_who_reads_waits_for_a_tuple() {
    let mut shard = Shard::default();
    for operation in [TAKE, RD] {
        assert_eq!(run(&mut shard, operation, &formal()), None);
    }
    for operation in [INP, RDP] {
        assert_eq!(run(&mut shard, operation, &formal()), Some(Answer::None(0)));
    }
    for operation in [TAKE, INP] {
        let found = Some(Answer::Found(vec![Field::U64(7)]));
        assert_eq!(run(&mut shard, OUT, &tuple(7)), Some(Answer::Done(vec![])));
        assert_eq!(run(&mut shard, COUNT, &[]), Some(Answer::Count(1)));
        for operation in [RD, RDP, operation] {
            assert_eq!(run(&mut shard, operation, &formal()), found);
        }
        assert_eq!(run(&mut shard, COUNT, &[]), Some(Answer::Count(0)));
    }
    assert_eq!(run(&mut shard, INP, &formal()), Some(Answer::None(2)));
}

#[test]
fn who_wants_waits_for_hints_that_it_has_not_seen() {
    let mut shard = Shard::default();
    let done = |wants: &[Want]| Some(Answer::Done(wants.into()));
    assert_eq!(run(&mut shard, HINT, &want(&[9, 0])), done(&[]), "the want is over");
    assert_eq!(run(&mut shard, WANT, &want(&formal())), done(&[]));
    assert_eq!(run(&mut shard, OUT, &tuple(1)), done(&[NAME]));
    let seen = |hints: u64| want(&hints.to_le_bytes());
    assert_eq!(run(&mut shard, AWAIT, &seen(0)), None);
    assert_eq!(run(&mut shard, HINT, &want(&[9, 0])), done(&[]));
    let hinted = Some(Answer::Hinted(Wanted { hints: 1, home: 9 }));
    assert_eq!(run(&mut shard, AWAIT, &seen(0)), hinted);
    assert_eq!(run(&mut shard, AWAIT, &seen(1)), None);
    assert_eq!(run(&mut shard, FORGET, &want(&[])), done(&[]));
    assert_eq!(outcome(&mut shard, AWAIT, &seen(1)).0, Outcome::Malformed);
    assert_eq!(run(&mut shard, OUT, &tuple(1)), done(&[]));
}

#[test]
fn a_captured_shard_is_restored() {
    let mut shard = Shard::default();
    for n in [3, 1, 1] {
        run(&mut shard, OUT, &tuple(n));
    }
    run(&mut shard, OUT, &[0]);
    run(&mut shard, INP, &[0]);
    run(&mut shard, OUT, &[2, FieldKind::Bool as u8, 1, FieldKind::Char as u8, 65, 0, 0, 0]);
    run(&mut shard, WANT, &want(&formal()));
    run(&mut shard, HINT, &want(&[9, 0]));
    assert_eq!((shard.classes.len(), shard.count(), shard.wants.len()), (3, 4, 1));
    let state = shard.capture();
    assert_eq!(Shard::restore(&state), Some(shard));
    for length in 0..state.len() {
        assert_eq!(Shard::restore(&state[..length]), None);
    }
    assert_eq!(Shard::restore(&[&state[..], &[0]].concat()), None);
    assert_eq!(Shard::restore(&Shard::default().capture()), Some(Shard::default()));
}

proptest! {
    #[test]
    fn bytes_that_are_no_operation_are_refused_and_change_nothing(
        operation in 0..COUNT,
        bytes in proptest::collection::vec(prop_oneof![0..9_u8, any::<u8>()], 0..60),
    ) {
        let mut shard = Shard::default();
        shard.put(vec![Field::U64(1)]);
        let before = shard.capture();
        if outcome(&mut shard, operation, &bytes).0 == Outcome::Malformed {
            prop_assert_eq!(shard.capture(), before);
        }
        prop_assert_eq!(run(&mut shard, OUT, &tuple(7)).is_some(), true);
        let _ = Shard::restore(&bytes);
    }

    #[test]
    fn operations_with_a_byte_changed_end_with_an_answer(
        operation in 0..COUNT,
        at in 0..20_usize,
        byte in any::<u8>(),
    ) {
        let mut shard = Shard::default();
        shard.put(vec![Field::U64(1)]);
        let mut bytes = match operation {
            OUT => tuple(1),
            TAKE..=RDP => formal(),
            WANT => want(&formal()),
            FORGET => want(&[]),
            HINT => want(&[0; 2]),
            _ => want(&[0; 8]),
        };
        let at = at % bytes.len();
        bytes[at] = byte;
        run(&mut shard, operation, &bytes);
        bytes.push(0);
        run(&mut shard, operation, &bytes);
    }
}
