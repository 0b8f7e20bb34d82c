//! The invariants of agreements, judged from outside.

use super::world::{Member, World, name_of};
use crate::agreement::Decision;
use weft_endpoint::Rank;

/// Messages under way between two ranks, at most.
const MOST_UNDER_WAY: usize = 4;

/// A1, A2 and A4.
pub fn check(world: &World) {
    let most = world.live().map(|(_, member)| member.decisions.len()).max();
    for number in 0..most.unwrap_or(0) {
        a1_agreement(world, number);
        let decided = world.live().find_map(|(_, member)| member.decisions.get(number));
        decided.into_iter().for_each(|decision| a2_validity(world, decision));
    }
    a4_bounded(world);
    s1_s2_one_team(world);
}

/// S1, S2: all that live get one team, all of them are in it, and its first member has named it.
pub fn s1_s2_one_team(world: &World) {
    let mut teams = world.live().filter_map(|(_, member)| member.shrunk.as_ref());
    let Some(first) = teams.next() else { return };
    assert!(teams.all(|team| team == first), "S1 one team: another than {first:?}\n{world:?}");
    let is_in = |(rank, _): (Rank, _)| first.members.contains(&rank);
    assert!(world.live().all(is_in), "S1 one team: one that lives is not in {first:?}");
    assert_eq!(first.name, name_of(first.members[0]), "S2 its first member has named {first:?}");
}

/// A1: no two ranks that live decide a number differently.
pub fn a1_agreement(world: &World, number: usize) {
    let decisions = || world.live().filter_map(|(_, member)| member.decisions.get(number));
    let Some(first) = decisions().next() else { return };
    assert!(decisions().all(|decision| decision == first), "A1 agreement: {number} {world:?}");
}

/// A2: flags are the AND of contributions, among them those of all ranks that live; lost are only
/// ranks that are lost, among them all that one that lives was told of before it began.
pub fn a2_validity(world: &World, decision: &Decision) {
    let number = decision.number as usize;
    let flags = |ranks: &mut dyn Iterator<Item = Rank>| {
        let brought = |rank: Rank| world.members[rank.index()].brought[number];
        ranks.fold(u64::MAX, |all, rank| all & brought(rank))
    };
    let has_begun = |member: &Member| member.begun.len() > number;
    let everyone = (0..).map(Rank).zip(&world.members);
    let mut begun = everyone.filter(|(_, member)| has_begun(member)).map(|(rank, _)| rank);
    assert!(world.live().all(|(_, member)| has_begun(member)), "A2 validity: before all begin");
    let most = flags(&mut world.live().map(|(rank, _)| rank));
    let least = flags(&mut begun);
    assert_eq!(decision.flags & !most, 0, "A2 validity: one that lives is not in {decision:?}");
    assert_eq!(least & !decision.flags, 0, "A2 validity: nobody brought {decision:?}");
    let lost = &decision.lost;
    assert!(!lost.iter().any(|&rank| world.is_live(rank)), "A2 validity: one of {lost:?} lives");
    let known = world.live().flat_map(|(_, member)| &member.begun[number]);
    assert!({ known }.all(|rank| lost.contains(rank)), "A2 validity: more than {lost:?} are known");
}

/// A3: nothing can happen any more, so all have decided.
pub fn a3_termination(world: &World, agreements: usize) {
    for (rank, member) in world.live() {
        let decided = member.decisions.len();
        match member.shrinking {
            Some(_) => assert!(member.shrunk.is_some(), "S3 termination: rank {rank} waits"),
            None => assert_eq!(decided, agreements, "A3 termination: rank {rank} waits\n{world:?}"),
        }
        assert!(member.machine.awaited().is_empty(), "A3 termination: rank {rank} waits");
    }
}

/// A4: messages under way are bounded; of what ranks keep their machines assert it.
pub fn a4_bounded(world: &World) {
    let longest = world.wires.values().map(std::collections::VecDeque::len).max().unwrap_or(0);
    assert!(longest <= MOST_UNDER_WAY, "A4 bounded: {longest} messages are under way");
}
