//! Stacks that come later than what ranks do.

use super::*;
use crate::messages::Doing;

const NOW: Duration = Duration::from_secs(5);

#[test]
fn stacks_may_come_later() {
    let mut call = RollCall::default();
    let number = call.begin(NOW, 0..3, true);
    for host in [2, 0, 1] {
        let standing = Standing::outside(Rank(host), Doing::Computes);
        call.standings.answered(host, number, vec![standing]);
    }
    assert!(call.is_open(NOW + PATIENCE));
    let stack = |rank| vec![(Rank(rank), format!("work_of_{rank}, main"))];
    call.stacks.answered(1, number, stack(1));
    // Of those that do the same one is enough, and what is late belongs to another call.
    call.stacks.answered(0, number, stack(0));
    call.stacks.answered(2, number.wrapping_sub(1), stack(2));
    assert!(call.is_open(NOW) && !call.is_open(NOW + STACKS_PATIENCE));
    call.lost(2);
    assert!(!call.is_open(NOW));
    let said: Vec<_> = call.called().into_iter().map(|it| (it.rank.0, it.stack)).collect();
    assert_eq!(said, [(0, None), (1, Some("work_of_1, main".into())), (2, None)]);
    // Without stacks nobody waits for any.
    let number = call.begin(NOW, 0..1, false);
    call.standings.answered(0, number, Vec::new());
    assert!(!call.is_open(NOW) && call.called().is_empty());
}
