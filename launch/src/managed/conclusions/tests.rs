use super::super::card::Card;
use super::*;

#[test]
fn hosts_are_numbered_as_they_appear() {
    let card = |host: &str| {
        let mut card = Card::of_this_process("s", None, [9; 32]).unwrap();
        card.host = host.into();
        Facts::of(&card)
    };
    let facts = ["b", "a", "b", "c", "a"].map(card);
    assert_eq!(hosts(&facts), [0, 1, 0, 2, 1]);
}

#[test]
fn what_any_rank_wishes_is_wished_by_all() {
    let facts = |links: &[&str]| -> Vec<Facts> {
        let facts = Facts::of(&Card::of_this_process("s", None, [9; 32]).unwrap());
        links.iter().map(|link| Facts { link: (*link).into(), ..facts.clone() }).collect()
    };
    let wish = |links: &[&str], several| wish(&facts(links), several, "a test");
    for several in [false, true] {
        assert_eq!(wish(&["", ""], several).unwrap(), FarLink::Auto);
        assert_eq!(wish(&["", "auto"], several).unwrap(), FarLink::Auto);
    }
    assert_eq!(wish(&["", "xdp", ""], true).unwrap(), FarLink::Xdp);
    assert_eq!(wish(&["udp", "udp"], true).unwrap(), FarLink::Udp);
    assert_eq!(wish(&["fabric", ""], true).unwrap(), FarLink::Udp);
    assert_eq!(wish(&["shm", ""], false).unwrap(), FarLink::Auto);
    for (link, several) in [("xdp", false), ("udp", false), ("shm", true), ("XDP", true)] {
        let error = wish(&[link], several).unwrap_err().to_string();
        assert!(
            error.starts_with(&format!("WEFT_LINK is {link:?}, but the ranks that ")),
            "{error}"
        );
    }
    let error = wish(&["", "udp", "udp", "xdp"], true).unwrap_err().to_string();
    assert_eq!(
        error,
        "WEFT_LINK is \"udp\" for rank 1 and \"xdp\" for rank 3: set it once for all ranks"
    );
}

#[test]
fn packets_are_encrypted_if_any_rank_asks_for_it_and_none_refuses() {
    use Protection::{Encrypted, Headers, Tagged};
    let facts = |wishes: &[Option<Protection>]| -> Vec<Facts> {
        let facts = Facts::of(&Card::of_this_process("s", None, [9; 32]).unwrap());
        wishes.iter().map(|wish| Facts { protection: *wish, ..facts.clone() }).collect()
    };
    let protection = |wishes: &[Option<Protection>]| protection(&facts(wishes));
    assert_eq!(protection(&[None, None]).unwrap(), Headers);
    assert_eq!(protection(&[Some(Headers), None]).unwrap(), Headers);
    assert_eq!(protection(&[Some(Tagged), None, Some(Encrypted)]).unwrap(), Encrypted);
    assert_eq!(protection(&[None, Some(Tagged)]).unwrap(), Tagged);
    assert_eq!(protection(&[None, Some(Encrypted), None]).unwrap(), Encrypted);
    let error = protection(&[None, Some(Headers), Some(Encrypted)]).unwrap_err().to_string();
    let wanted = "WEFT_ENCRYPT is 1 for rank 2 and 0 for rank 1: set it once for all ranks";
    assert_eq!(error, wanted);
}

#[test]
fn ranks_on_several_hosts_need_addresses_of_one_kind() {
    let card = |host: &str, address: Option<&str>| {
        let address = address.map(|address| address.parse().unwrap());
        let card = Card::of_this_process("s", address, [9; 32]).unwrap();
        Facts::of(&Card { host: host.into(), ..card })
    };
    let (four, other, six) = (Some("10.0.0.1:5"), Some("10.0.0.2:6"), Some("[fd00::1]:7"));
    let network = |facts: &[Facts]| network(facts, 17, Secret::new([5; 16]));
    let spans_hosts = |all: &[Facts]| spans_hosts(all.iter().map(|facts| facts.host));
    assert!(!spans_hosts(&[card("a", None), card("a", six)]));
    let cards = [card("a", four), card("b", other), card("a", four)];
    assert!(spans_hosts(&cards));
    let met = network(&cards).unwrap();
    assert_eq!((met.job, met.secret), (17, Secret::new([5; 16])));
    assert_eq!((met.hosts, met.addresses[1]), (vec![0, 1, 0], "10.0.0.2:6".parse().unwrap()));
    for lacking in [None, six] {
        let error = network(&[card("a", four), card("b", lacking)]).unwrap_err();
        assert!(matches!(error, MeetError::Address { rank: 1, .. }), "{error}");
    }
}
