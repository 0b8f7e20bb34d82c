use super::*;
use crate::managed::card::Card;

/// Facts about ranks with these machines, hosts and cores (in hexadecimal digits, the lowest
/// first), and their cards.
fn job(all: &[(&str, &str, &str)]) -> (Vec<Facts>, Cards) {
    let card = |&(machine, node, cores): &(&str, &str, &str)| {
        let mut card = Card::of_this_process("s", None, [9; 32]).unwrap();
        card.host = format!("{machine} {node} net:[1] pid:[2]");
        (card.node, card.cores) = (node.into(), cores.into());
        card
    };
    let cards: Vec<Card> = all.iter().map(card).collect();
    (cards.iter().map(Facts::of).collect(), (0..).map(Rank).zip(cards).collect())
}

#[test]
fn ranks_of_two_hosts_on_one_core_are_named() {
    let (bound, cards) =
        job(&[("m", "a", "1"), ("m", "a", "02"), ("m", "b", "1"), ("m", "b", "02")]);
    let line = warning(&bound).unwrap();
    let begin = "rank 0 on host a and rank 2 on host b are bound to core 0 of one machine, ";
    assert!(line.starts_with(begin), "{line}");
    assert_eq!(own_cores(&bound, &[Rank(0), Rank(1)], &cards), 0);
    assert_eq!(own_cores(&bound[..3], &[Rank(0), Rank(1)], &cards), 1);
    let (later, cards) = job(&[("m", "a", "2"), ("m", "b", "02"), ("m", "c", "02")]);
    let line = warning(&later).unwrap();
    assert!(
        line.starts_with("rank 1 on host b and rank 2 on host c are bound to core 5 "),
        "{line}"
    );
    assert_eq!(own_cores(&later, &[Rank(0)], &cards), 1);
}

#[test]
fn who_shares_no_core_is_not_warned() {
    for all in [
        // Another machine, the same host, another core, and ranks that are not bound.
        [("m", "a", "1"), ("n", "b", "1")],
        [("m", "a", "1"), ("m", "a", "1")],
        [("m", "a", "1"), ("m", "b", "2")],
        [("m", "a", "3"), ("m", "b", "3")],
        [("m", "a", "1"), ("m", "b", "3")],
    ] {
        let (all, cards) = job(&all);
        assert_eq!(warning(&all), None);
        assert_eq!(own_cores(&all, &[Rank(0)], &cards), cores_of_all(cards.values().take(1)));
    }
}
