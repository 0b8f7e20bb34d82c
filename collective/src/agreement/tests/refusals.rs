//! One rank: what it waits for, and what no member sends.

use crate::agreement::format::BallotKind;
use crate::agreement::{Agreement, AgreementMessage, AgreementViolation, Decision, Post};
use weft_endpoint::Rank;

/// The rank of these tests, among `MEMBERS`.
const ME: Rank = Rank(4);
const MEMBERS: [Rank; 4] = [Rank(2), ME, Rank(7), Rank(9)];
const OUTSIDER: Rank = Rank(3);

/// All that was sent.
#[derive(Default)]
struct Sent(Vec<(Rank, AgreementMessage)>);

impl Post for Sent {
    fn send(&mut self, to: Rank, message: &AgreementMessage) {
        self.0.push((to, message.clone()));
    }
}

fn message(kind: BallotKind, number: u32, ballot: Rank, lost: &[Rank]) -> AgreementMessage {
    AgreementMessage { kind, number, ballot, flags: 6, lost: lost.to_vec() }
}

fn contribution(number: u32) -> AgreementMessage {
    message(BallotKind::Contribution, number, ME, &[])
}

fn decision(number: u32, ballot: Rank) -> AgreementMessage {
    message(BallotKind::Decision, number, ballot, &[])
}

/// A rank that has decided number 0 with the first coordinator, and begun number 1.
fn in_second() -> Agreement {
    let (mut machine, mut out) = (Agreement::new(&MEMBERS, ME), Sent::default());
    machine.begin(7, &mut out);
    assert_eq!(machine.arrived(Rank(2), decision(0, Rank(2)), &mut out), Ok(()));
    assert!(machine.decided().is_some());
    machine.begin(7, &mut out);
    machine
}

#[test]
fn a_rank_waits_for_the_coordinator_or_as_such_for_all_others() {
    let (mut machine, mut out) = (Agreement::new(&MEMBERS, ME), Sent::default());
    assert!(machine.awaited().is_empty());
    machine.begin(7, &mut out);
    assert_eq!(machine.awaited(), [Rank(2)]);
    assert_eq!(
        out.0,
        [(
            Rank(2),
            AgreementMessage { flags: 7, ..message(BallotKind::Contribution, 0, Rank(2), &[]) }
        )]
    );
    machine.lost(Rank(2), &mut out);
    assert_eq!(machine.awaited(), [Rank(7), Rank(9)]);
    machine.arrived(Rank(9), contribution(0), &mut out).expect("a contribution");
    assert_eq!(machine.awaited(), [Rank(7)]);
    assert_eq!(machine.decided(), None);
    machine.lost(OUTSIDER, &mut out);
    machine.lost(Rank(7), &mut out);
    machine.lost(Rank(7), &mut out);
    let lost = vec![Rank(2), Rank(7)];
    assert_eq!(machine.decided(), Some(Decision { number: 0, flags: 6, lost }));
    assert_eq!((machine.decided(), machine.awaited()), (None, Vec::new()));
    assert_eq!(out.0.len(), 2, "{:?}", out.0);
}

#[test]
fn one_member_agrees_with_itself() {
    let (mut machine, mut out) = (Agreement::new(&[ME], ME), Sent::default());
    for number in 0..3 {
        machine.begin(5, &mut out);
        assert_eq!(machine.decided(), Some(Decision { number, flags: 5, lost: Vec::new() }));
    }
    assert!(out.0.is_empty());
}

#[test]
fn what_no_member_sends_is_refused_and_changes_nothing() {
    let nine = Rank(9);
    let with = |kind, lost: &[Rank]| message(kind, 1, ME, lost);
    for (from, message, violation) in [
        (OUTSIDER, contribution(1), AgreementViolation::NotMember(OUTSIDER)),
        (ME, contribution(1), AgreementViolation::NotMember(ME)),
        (
            nine,
            with(BallotKind::Contribution, &[OUTSIDER]),
            AgreementViolation::NotMember(OUTSIDER),
        ),
        (nine, with(BallotKind::Contribution, &[ME]), AgreementViolation::Lives(ME)),
        (nine, with(BallotKind::Decision, &[nine]), AgreementViolation::Lives(nine)),
        (Rank(2), contribution(1), AgreementViolation::Lives(Rank(2))),
        (nine, decision(1, nine), AgreementViolation::Lives(ME)),
        (nine, decision(1, Rank(7)), AgreementViolation::Ballot(Rank(7))),
        (nine, message(BallotKind::Contribution, 1, nine, &[]), AgreementViolation::Ballot(nine)),
        (nine, contribution(2), AgreementViolation::Number(2)),
        (nine, contribution(u32::MAX), AgreementViolation::Number(u32::MAX)),
        (Rank(2), decision(2, Rank(2)), AgreementViolation::Number(2)),
        (Rank(2), decision(u32::MAX - 1, Rank(2)), AgreementViolation::Number(u32::MAX - 1)),
        (
            Rank(2),
            AgreementMessage { flags: 4, ..decision(0, Rank(2)) },
            AgreementViolation::Differs(0),
        ),
    ] {
        let (before, mut out) = (in_second(), Sent::default());
        let mut machine = before.clone();
        assert_eq!(machine.arrived(from, message, &mut out), Err(violation));
        assert!(machine == before && out.0.is_empty(), "{violation}");
    }
}

#[test]
fn a_second_contribution_is_refused_and_an_early_one_kept() {
    let (mut machine, mut out) = (in_second(), Sent::default());
    assert_eq!(machine.arrived(Rank(9), contribution(1), &mut out), Ok(()));
    assert_eq!(
        machine.arrived(Rank(9), contribution(1), &mut out),
        Err(AgreementViolation::Twice(1))
    );
    assert_eq!(machine.arrived(Rank(7), contribution(1), &mut out), Ok(()));
    assert_eq!(machine.decided().map(|decision| decision.number), Some(1));
    assert_eq!(machine.arrived(Rank(9), contribution(2), &mut out), Ok(()));
    assert_eq!(
        machine.arrived(Rank(9), contribution(3), &mut out),
        Err(AgreementViolation::Number(3))
    );
    machine.begin(7, &mut out);
    assert_eq!(machine.awaited(), [Rank(7)]);
}

#[test]
fn decisions_that_came_before_and_messages_of_the_lost_change_nothing() {
    let (mut machine, mut out) = (in_second(), Sent::default());
    assert_eq!(machine.arrived(Rank(2), decision(0, Rank(2)), &mut out), Ok(()));
    assert_eq!(machine.arrived(Rank(2), decision(u32::MAX, Rank(2)), &mut out), Ok(()));
    assert!(machine == in_second() && out.0.is_empty());
    machine.lost(Rank(2), &mut out);
    let before = machine.clone();
    assert_eq!(machine.arrived(Rank(2), decision(1, Rank(2)), &mut out), Ok(()));
    assert_eq!(machine.arrived(Rank(2), decision(9, Rank(9)), &mut out), Ok(()));
    assert!(machine == before && out.0.is_empty());
}

#[test]
fn a_higher_ballot_tells_that_those_below_are_lost() {
    let (mut machine, mut out) = (Agreement::new(&MEMBERS, Rank(9)), Sent::default());
    machine.begin(7, &mut out);
    assert_eq!(machine.arrived(Rank(7), decision(0, Rank(7)), &mut out), Ok(()));
    assert_eq!(machine.known_lost(), [Rank(2), ME]);
    assert_eq!(machine.decided().map(|decision| decision.flags), Some(6));
    machine.begin(7, &mut out);
    assert_eq!(machine.awaited(), [Rank(7)]);
}

#[test]
#[should_panic(expected = "agreements follow one another")]
fn two_agreements_are_not_under_way_at_once() {
    let mut machine = in_second();
    machine.begin(7, &mut Sent::default());
}
