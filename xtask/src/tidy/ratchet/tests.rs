use super::super::tests::Repository;
use super::*;

const RATCHET: Ratchet = Ratchet {
    rule: "legs",
    limit: 4,
    unit: "legs",
    reason: "they get tangled",
    list: "legs.rs",
    listed: &[("ant", 6), ("spider", 8)],
};

/// Findings where these have so many legs, in a tree with the list.
fn found(legs: &[(&str, usize)]) -> Vec<String> {
    let list = "listed: &[\n    (\"ant\", 6),\n    (\"spider\", 8),\n]\n";
    found_with(legs, &[("legs.rs", list)])
}

fn found_with(legs: &[(&str, usize)], files: &[(&str, &str)]) -> Vec<String> {
    let counts: Vec<Count> = legs.iter().map(|&(name, number)| count(name, number)).collect();
    let mut findings = Vec::new();
    RATCHET.hold(&Repository::new(files).tree(), &counts, &mut findings);
    findings.iter().map(|found| format!("{}:{}: {}", found.path, found.line, found.what)).collect()
}

fn count(name: &str, number: usize) -> Count {
    let (name, detail) = (name.to_owned(), " in all".to_owned());
    Count { name, number, path: "zoo.rs".into(), line: 5, detail }
}

#[test]
fn what_keeps_to_the_limit_or_its_number_in_the_list_is_fine() {
    assert_eq!(found(&[("ant", 6), ("cat", 4), ("hen", 2), ("spider", 8)]), [""; 0]);
}

#[test]
fn what_is_above_the_limit_is_found_unless_listed() {
    let findings = found(&[("ant", 6), ("crab", 10), ("spider", 8)]);
    assert_eq!(findings, ["zoo.rs:5: crab has 10 legs in all, 4 are the most"]);
}

#[test]
fn what_is_listed_may_not_grow() {
    let findings = found(&[("ant", 7), ("spider", 8)]);
    assert_eq!(findings, ["zoo.rs:5: ant has 7 legs in all, legs.rs allows it 6"]);
}

#[test]
fn an_entry_gets_lower_with_what_it_names_and_then_goes() {
    let findings = found(&[("ant", 5), ("spider", 8)]);
    assert_eq!(findings, ["legs.rs:2: ant has 5 legs: lower its 6 to that"]);
    let findings = found(&[("ant", 6), ("spider", 4)]);
    assert_eq!(findings, ["legs.rs:3: spider has 4 legs: take it off the list"]);
    assert_eq!(found(&[("ant", 6)]), ["legs.rs:3: spider is no more: take it off the list"]);
}

#[test]
fn an_entry_is_for_the_most_of_those_of_its_name() {
    assert_eq!(found(&[("ant", 6), ("ant", 2), ("spider", 8)]), [""; 0]);
    assert_eq!(found(&[("ant", 7), ("ant", 6), ("spider", 8)]).len(), 1);
}

#[test]
fn a_tree_without_the_list_is_another() {
    assert_eq!(found_with(&[], &[]), [""; 0]);
}
