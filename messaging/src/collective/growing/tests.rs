#![allow(clippy::unwrap_used)]

use super::*;
use weft_golden::{Entries, add};

/// An invitation of rank 2 to rank 5, of a job of six.
fn parse(name: u32, ranks: &[u16]) -> Option<(u32, Vec<Rank>)> {
    let ranks = ranks.iter().flat_map(|rank| rank.to_le_bytes());
    let bytes: Vec<u8> = name.to_le_bytes().into_iter().chain(ranks).collect();
    let invitation = Invitation::parse(&bytes, Rank(2), Rank(5), 6)?;
    Some((invitation.name, invitation.members))
}

#[test]
fn an_invitation_names_its_sender_first_and_its_receiver() {
    assert_eq!(parse(7, &[2, 0, 5]), Some((7, vec![Rank(2), Rank(0), Rank(5)])));
    assert_eq!(parse(7, &[0, 2, 5]), None, "another than its sender leads");
    assert_eq!(parse(7, &[2, 0]), None, "the receiver is not in it");
    assert_eq!(parse(7, &[2, 5, 5]), None, "twice");
    assert_eq!(parse(7, &[2, 5, 6]), None, "no rank of the job");
    assert_eq!(parse(7, &[]), None);
}

#[test]
fn bytes_that_are_no_invitation_are_none() {
    assert!(Invitation::parse(&[1, 2, 3], Rank(2), Rank(5), 6).is_none());
    assert!(Invitation::parse(&[7, 0, 0, 0, 2, 0, 5, 0, 1], Rank(2), Rank(5), 6).is_none());
}

#[test]
fn members_hear_what_the_first_one_has_heard() {
    let name = TeamId { leader: Rank(2), count: 9 };
    let told = |spawned| {
        let mut words = vec![0; 5];
        fill(&mut words, name, spawned);
        words
    };
    assert_eq!(told(Ok(vec![Rank(6), Rank(7)])), [GROWN, 9, 2, 6, 7]);
    assert_eq!(told(Ok(vec![Rank(6)])), [GROWN, 9, 1, 6, 0]);
    assert_eq!(told(Ok(vec![Rank(6); 3]))[0], NOT_SPAWNED, "more than were asked for");
    assert_eq!(told(Err(Error::JobIsFull { asked: 2, left: 1 })), [FULL, 2, 1, 0, 0]);
    assert_eq!(told(Err(Error::NoDoor))[0], NO_DOOR);
    assert_eq!(told(Err(Error::Abandoned))[0], NOT_SPAWNED);
}

/// Adds what the first member says to the list of bytes: to the members, in words, and to ranks
/// that come.
pub(in crate::collective) fn add_to(entries: &mut Entries) {
    let name = TeamId { leader: Rank(2), count: 0x0102_0304 };
    let outcomes = [
        ("grown", Ok(vec![Rank(0x1112), Rank(0x2122)])),
        ("full", Err(Error::JobIsFull { asked: 0x1112, left: 0x2122 })),
        ("not spawned", Err(Error::Abandoned)),
        ("no door", Err(Error::NoDoor)),
    ];
    for (outcome, come) in outcomes {
        let mut words = [0; HEAD_WORDS + 2];
        fill(&mut words, name, come);
        add(entries, format!("growth {outcome}"), words.map(u32::to_le_bytes).as_flattened());
    }
    let members = vec![Rank(0x1112), Rank(0x2122)];
    add(entries, "growth invitation", Invitation { name: name.count, members }.emit());
}
