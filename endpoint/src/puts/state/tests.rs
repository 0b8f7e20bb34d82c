use super::*;

/// State of a rank that has tried to owe rank 1 `owed` so many times, and how often it could.
fn owed_after(times: usize, owed: &Owed) -> (Connections, usize) {
    let mut state = Connections::default();
    let number = (0..times).filter(|_| state.owe(Rank(1), owed)).count();
    (state, number)
}

#[test]
fn who_takes_no_replies_is_owed_so_many_at_most() {
    let get = Owed::Answer(PlaceHeader::new(PlaceKind::Get, 0));
    let refused = Owed::Header(PlaceHeader::new(PlaceKind::Refused, 0));
    let close = Owed::Header(PlaceHeader::new(PlaceKind::Close, 0));
    let more = REPLIES_OWED + 10;
    assert_eq!(owed_after(more, &close).1, more, "it asked for none of these");
    let (mut state, number) = owed_after(more, &refused);
    assert_eq!(number, REFUSALS_OWED);
    assert!(state.owe(Rank(1), &get) && state.owe(Rank(2), &refused), "these have room");
    let (mut state, number) = owed_after(more, &get);
    assert_eq!(number, REPLIES_OWED);
    state.paid(Rank(1), &get);
    assert!(state.owe(Rank(1), &get), "what has left makes room");
    assert!(!state.owe(Rank(1), &get));
}
