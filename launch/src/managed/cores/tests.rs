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
        [("m", "a", "3"), ("m", "b", "c")],
        [("m", "a", "1"), ("m", "b", "3")],
    ] {
        let (all, cards) = job(&all);
        assert_eq!(warning(&all), None);
        assert_eq!(own_cores(&all, &[Rank(0)], &cards), cores_of_all(cards.values().take(1)));
    }
}

/// Two containers on the cores of one machine, of which each would take all for its own.
#[test]
fn ranks_that_are_not_bound_have_their_part_of_the_cores_that_other_hosts_have_too() {
    let (a, b) = (("m", "a", "3"), ("m", "b", "3"));
    for (all, here, cores) in [
        (vec![a, a, b, b], vec![0, 1], 1),
        (vec![a, a, b, b], vec![2, 3], 1),
        (vec![a, b, b, b], vec![0], 0),
        // A core for each of them.
        (vec![a, b], vec![0], 2),
        // Other cores, and another machine.
        (vec![a, a, ("m", "b", "c"), ("m", "b", "c")], vec![0, 1], 2),
        (vec![a, a, ("n", "b", "3"), ("n", "b", "3")], vec![0, 1], 2),
    ] {
        let here: Vec<Rank> = here.into_iter().map(Rank).collect();
        let (facts, cards) = job(&all);
        assert_eq!(own_cores(&facts, &here, &cards), cores, "{all:?} {here:?}");
    }
}

#[test]
fn ranks_are_counted_among_those_that_may_use_the_same_cores_of_their_machine() {
    let (a, b) = (("m", "a", "3"), ("m", "b", "3"));
    let (all, _) = job(&[a, ("m", "a", "1"), b, ("n", "c", "3"), b]);
    let counts = (0..5).map(|rank| among_same_cores(Rank(rank), &all));
    assert_eq!(counts.collect::<Vec<_>>(), [(0, 3), (0, 1), (1, 3), (0, 1), (2, 3)]);
}
