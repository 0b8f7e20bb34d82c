use super::*;

use crate::managed::card::Card;
use crate::messages::draw_job;
use crate::messages::reached::{Reached, Unmet};
use crate::mtu::Mtu;
use weft_datagram::seal::Protection;

/// Line about two hosts, of which the second has found this.
fn said(of_second: Record) -> String {
    let facts = ["a", "b"].map(|node| {
        let card = Card::of_this_process("s", None, [9; 32]).unwrap();
        Facts::of(&Card { node: node.into(), ..card })
    });
    let (job, secret) = draw_job().unwrap();
    let network = JobNetwork {
        job,
        secret,
        protection: Protection::Tagged,
        mtu: Mtu::USUAL,
        addresses: ["10.0.0.1:11", "10.0.0.2:12"].map(|text| text.parse().unwrap()).into(),
        hosts: vec![0, 1],
        ethernet: None,
        copied: false,
        bulk: false,
    };
    let of_first = Record::Reached(Reached::default());
    let holders = [Rank(0), Rank(1)];
    let concluded = conclude(&facts, &network, &holders, &[of_first, of_second]);
    let said = concluded.map_or_else(|error| error.to_string(), |()| String::new());
    said.trim_start_matches("cannot join the job: ").to_owned()
}

#[test]
fn what_one_host_has_found_all_ranks_say() {
    assert_eq!(said(Record::Reached(Reached::default())), "");
    let unmet = vec![Unmet { host: 0, short: false, heard: false }];
    let line = said(Record::Reached(Reached { unmet, translated: Vec::new() }));
    let expected = "host b (10.0.0.2) does not reach UDP port 11 of host a (10.0.0.1): let UDP through (firewall, routes)";
    assert_eq!(line, expected, "there are no options");
    let translated = vec![(0, "192.0.2.1:5".parse().unwrap())];
    let line = said(Record::Reached(Reached { unmet: Vec::new(), translated }));
    assert!(line.starts_with("host a (10.0.0.1) comes to host b as 192.0.2.1: "), "{line}");
    assert!(!line.contains("--"), "there are no options: {line}");
    assert_eq!(said(Record::Without("no socket".into())), "host b: no socket");
}
