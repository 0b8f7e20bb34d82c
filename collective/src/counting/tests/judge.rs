//! The invariants of counters, judged from outside.

use super::world::{Addition, Member, Place, World};

/// C1, C3 and C4.
pub fn check(world: &World) {
    assert!(!overlap(world.live()), "C1 no overlap: {world:?}");
    c3_one_place(world);
    let is_over = overlap(world.members.iter());
    assert!(world.is_value_lost || !is_over, "C4 no overlap with the lost: {world:?}");
}

/// True if two additions that have returned to these overlap.
fn overlap<'a>(members: impl Iterator<Item = &'a Member>) -> bool {
    let mut all: Vec<(u64, u64)> = members.flat_map(|member| &member.returned).copied().collect();
    all.sort_unstable();
    all.windows(2).any(|two| two[0].0 + two[0].1 > two[1].0)
}

/// C2: this addition's value is as high as the end of all that had returned to members that live.
pub fn c2_values_never_go_down(world: &World, addition: &Addition, before: u64) {
    let mut ends = world.members.iter().zip(&addition.ends).filter(|(member, _)| member.lives);
    assert!(ends.all(|(_, end)| before >= *end), "C2 never down: {before} in {world:?}");
}

/// C3: all that live and are not in the broadcast have the counter at the same place.
fn c3_one_place(world: &World) {
    let mut places = world.live().filter(|member| member.place != Place::InBroadcast);
    let Some(first) = places.next() else { return };
    assert!(places.all(|member| member.variable == first.variable), "C3 one place: {world:?}");
}

/// C5: all that live can add.
pub fn c5_termination(world: &World) {
    assert!(world.live().all(|member| member.place == Place::Adding), "C5 waits: {world:?}");
}
