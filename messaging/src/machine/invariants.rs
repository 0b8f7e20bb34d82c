//! Invariants of messaging, by name.

/// I12, granted first: a message that was asked for has no bytes on their way, nor at its receiver,
/// before the receiver has granted them.
pub fn i12_granted_first(granted: bool) {
    assert!(granted, "I12 granted first: bytes of a message left before they were asked for");
}

/// I13, one answer: a request is answered once. What was granted has bytes, or will, and is granted
/// no more.
pub fn i13_one_answer(is_first: bool) {
    assert!(is_first, "I13 one answer: a request was answered again");
}

/// I16, kept is counted: a packet that is given back was counted as kept.
pub fn i16_kept_is_counted(holds: bool) {
    assert!(holds, "I16 kept is counted: a packet was given back that nobody kept");
}
