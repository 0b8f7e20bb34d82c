//! The invariants of orders after losses, judged from outside.

use super::world::{Member, World};

/// V1 to V3.
pub fn check(world: &World) {
    v1_one_sequence(world);
    for (_, member) in world.live() {
        v2_v3_each_once_and_in_order(world, member);
    }
}

/// V1: of two members that live, one was handed over the beginning of what the other was; and they
/// have heard of each loss after as many messages.
fn v1_one_sequence(world: &World) {
    let longest = world.live().map(|(_, member)| member).max_by_key(|member| member.handed.len());
    let Some(longest) = longest else { return };
    for (rank, member) in world.live() {
        let is_same = longest.handed.starts_with(&member.handed);
        assert!(is_same, "V1 one sequence: {rank} was handed over something else\n{world:?}");
        for (lost, cut) in &member.cuts {
            let others = world.live().filter_map(|(_, other)| other.cuts.get(lost));
            assert!({ others }.all(|other| other == cut), "V1 one sequence: the cut of {lost}");
        }
    }
}

/// V2 and V3: of each sender there is a beginning, each message once, in its order.
fn v2_v3_each_once_and_in_order(world: &World, member: &Member) {
    for sender in 0..world.members.len() {
        let tags = member.handed.iter().filter(|handed| handed.0 == sender).map(|handed| handed.1);
        let is_beginning = tags.zip(0..).all(|(tag, expected)| tag == expected);
        assert!(is_beginning, "V2 once, in order: messages of {sender}\n{world:?}");
    }
}

/// V4: nothing can happen any more, so all was handed over to all, and all have heard of all
/// losses.
pub fn v4_termination(world: &World) {
    for (rank, member) in world.live() {
        for (sender, other) in world.live() {
            let of_sender = member.handed.iter().filter(|handed| handed.0 == sender.index());
            let count = of_sender.count();
            let sent = usize::from(other.broadcast);
            assert_eq!(count, sent, "V4 termination: {rank} waits for {sender}\n{world:?}");
        }
        assert_eq!(member.cuts.len(), world.losses(), "V4 termination: losses at {rank}");
        assert_eq!(member.view.members().len(), world.members.len() - world.losses());
    }
}
