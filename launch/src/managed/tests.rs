use super::*;

#[test]
fn hosts_are_numbered_as_they_appear() {
    let card = |host: &str| {
        let mut card = Card::of_this_process("s", None).unwrap();
        card.host = host.into();
        card
    };
    let cards = ["b", "a", "b", "c", "a"].map(card);
    assert_eq!(hosts(&cards), [0, 1, 0, 2, 1]);
    assert!(one_host(&cards[..1]).is_ok());
    let error = one_host(&cards).unwrap_err();
    assert!(matches!(error, MeetError::Hosts { rank: 1, .. }), "{error}");
}
