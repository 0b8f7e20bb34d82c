use super::*;

/// Replies that `to` is owed once it is owed nothing but `owed`, so many times.
fn owed_after(times: usize, owed: Owed) -> (Connections, usize) {
    let mut state = Connections::default();
    (0..times).for_each(|_| state.owe(Rank(1), owed));
    let length = state.owed.len();
    (state, length)
}

#[test]
fn who_takes_no_replies_is_owed_so_many_at_most() {
    let get = Owed::Answer(PlaceHeader::new(PlaceKind::Get, 0));
    let refused = Owed::Header(PlaceHeader::new(PlaceKind::Refused, 0));
    let close = Owed::Header(PlaceHeader::new(PlaceKind::Close, 0));
    let more = REPLIES_OWED + 10;
    assert_eq!(owed_after(more, close).1, more, "it asked for none of these");
    let (mut state, length) = owed_after(more, refused);
    assert_eq!(length, REFUSALS_OWED);
    state.owe(Rank(1), get);
    state.owe(Rank(2), refused);
    assert_eq!(state.owed.len(), REFUSALS_OWED + 2, "other replies, and other ranks, have room");
    let (mut state, length) = owed_after(more, get);
    assert_eq!(length, REPLIES_OWED);
    let (to, first) = state.take_owed().expect("there are many");
    state.put_back_owed(to, first);
    state.owe(Rank(1), get);
    assert_eq!(state.owed.len(), REPLIES_OWED);
    state.take_owed();
    state.owe(Rank(1), get);
    assert_eq!(state.owed.len(), REPLIES_OWED, "what is taken makes room");
}
