//! Invariants of the two protocols, a function each.

/// Careful: no window is larger than whole, and no more buffers are filled and owed than there are.
#[inline]
pub fn careful_window(open: u16, held: u16, owed: u16, window: u16) {
    assert!(open <= window, "a window of {window} frames has {open} open");
    assert!(held + owed <= window, "{held} frames held and {owed} owed of {window}");
}

/// Careful: a broadcast advertises to nobody what it is not owed (careful-protocols 5.3: the
/// minimum).
#[inline]
pub fn broadcast_owes_no_more(advertised: u16, owed: u16) {
    assert!(advertised <= owed, "{advertised} frames advertised and {owed} owed");
}

/// Traditional: what was acknowledged by all is not kept, and nothing is kept for oneself.
#[inline]
pub fn retained_for_someone(waiting: usize, others: usize) {
    assert!((1..=others).contains(&waiting), "a fragment is kept for {waiting} of {others} nodes");
}

/// Both: receive buffers are never more than there are.
#[inline]
pub fn buffers_bounded(held: usize, buffers: usize) {
    assert!(held <= buffers, "{held} fragments in {buffers} receive buffers");
}
