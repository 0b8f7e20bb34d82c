//! `weft report` of programs that crawl: its first two lines name the culprit and the reason.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use weft_zoo::{CRAWLERS, named};

/// Words of the causes that a healthy program has none of.
const CAUSES: [&str; 7] = [
    "loses packets",
    "slow: even",
    "unexpected messages",
    "false sharing",
    "tiny messages",
    "late receiver",
    "oversubscription",
];

/// Runs `weft` with these words, which must succeed; returns what it writes.
fn weft(words: &str, folder: &Path) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_weft"));
    command.args(words.split_whitespace()).current_dir(folder).stdin(Stdio::null());
    let output = command.output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{words}: {errors}");
    String::from_utf8(output.stdout).unwrap()
}

/// Report about a run of `weft` with these words.
fn report(words: &str, folder: &Path) -> String {
    weft(words, folder);
    weft("report the.trace --text", folder)
}

/// Runs of a program whose ranks are processes. What others do on the machine meanwhile is in its
/// trace, too, and may be the better reason: a rank that gets no core receives late. One of them
/// has to be undisturbed.
const TRIES: usize = 3;

fn one_of_some(report: impl Fn() -> String, is_right: impl Fn(&str) -> bool) {
    let mut wrong = Vec::new();
    while wrong.len() < TRIES {
        let said = report();
        if is_right(&said) {
            return;
        }
        wrong.push(said);
    }
    panic!("{}", wrong.join("\n"));
}

fn is_seen_through(said: &str, verdict: &[&str]) -> bool {
    let first: Vec<_> = said.lines().take(2).collect();
    verdict.iter().all(|part| first.iter().any(|line| line.contains(part)))
}

/// The report of a program of the zoo.
fn crawls(name: &str) {
    let (animal, folder) = (named(name).unwrap(), tempfile::tempdir().unwrap());
    let zoo = Path::new(env!("CARGO_BIN_EXE_weft")).with_file_name("weft-zoo");
    assert!(zoo.exists(), "{} is not built: cargo build -p weft-zoo", zoo.display());
    let words = format!("run -n {} --trace=the.trace -- {} {name}", animal.ranks, zoo.display());
    one_of_some(|| report(&words, folder.path()), |said| is_seen_through(said, animal.verdict));
}

/// True if the report of a program says none of the causes.
fn is_healthy(said: &str) -> bool {
    !CAUSES.iter().any(|cause| said.contains(cause))
}

macro_rules! crawlers {
    ($($test:ident: $name:literal,)*) => {
        $(#[test]
        fn $test() {
            crawls($name);
        })*

        #[test]
        fn all_are_seen_through() {
            let mut all: Vec<_> = CRAWLERS.iter().map(|animal| animal.name).collect();
            let mut tested = vec!["oversubscribed", $($name),*];
            all.sort_unstable();
            tested.sort_unstable();
            assert_eq!(all, tested);
        }
    };
}

crawlers! {
    a_rank_that_computes_for_longer: "slow-rank",
    a_receiver_that_is_late: "late-receiver",
    a_region_that_two_write_in_turn: "false-sharing",
    a_thousand_tiny_messages: "tiny-messages",
    messages_that_nobody_expects: "unexpected",
}

/// The program and its launcher have the first two cores, however many there are.
#[test]
fn more_ranks_than_cores() {
    let allowed = sched_getaffinity(None).unwrap();
    let cores: Vec<_> = (0..CpuSet::MAX_CPU).filter(|&core| allowed.is_set(core)).collect();
    let mut first = CpuSet::new();
    cores.iter().take(2).for_each(|&core| first.set(core));
    sched_setaffinity(None, &first).unwrap();
    if cores.len() > 1 {
        crawls("oversubscribed");
    }
}

#[test]
fn a_slow_link() {
    let folder = tempfile::tempdir().unwrap();
    let myrinet = concat!(env!("CARGO_MANIFEST_DIR"), "/../links/sim/machines/myrinet.toml");
    let myrinet = fs::read_to_string(myrinet).unwrap();
    let slow = myrinet.replace("\nlatency_ns = 500\n", "\nlatency_ns = 1_000_000\n");
    assert_ne!(slow, myrinet);
    fs::write(folder.path().join("slow.toml"), slow).unwrap();
    let words = "sim -n 4 --machine slow.toml --trace=the.trace sor --rows 64 --columns 64";
    let verdict = ["The links between all ranks are slow: even the fastest packet takes 1.0", "ms"];
    let said = report(words, folder.path());
    assert!(is_seen_through(&said, &verdict), "{said}");
}

#[test]
fn a_way_that_loses_packets() {
    let folder = tempfile::tempdir().unwrap();
    let words =
        "sim -n 4 --preset irx-imc --loss 0.05 --trace=the.trace sor --rows 64 --columns 64";
    let verdict =
        ["The way between all ranks loses packets: ", "were lost and sent again (", "cables"];
    let said = report(words, folder.path());
    assert!(is_seen_through(&said, &verdict), "{said}");
}

#[test]
fn healthy_programs_in_the_simulator_have_none_of_these() {
    for words in [
        "sim -n 4 --trace=the.trace sor --rows 64 --columns 64",
        "sim -n 4 --preset irx-imc --trace=the.trace sor --rows 64 --columns 64",
        "sim -n 4 --trace=the.trace asp --sample 300 --check 4 --to JFK",
    ] {
        let folder = tempfile::tempdir().unwrap();
        let said = report(words, folder.path());
        assert!(is_healthy(&said), "{words}: {said}");
    }
}

#[test]
fn healthy_programs_have_none_of_these() {
    for words in [
        "run -n 2 --trace=the.trace -- sor",
        "run -n 2 --trace=the.trace -- asp --sample 300 --check 40 --to JFK",
        "run -n 2 --link udp --trace=the.trace -- sor --rows 256 --columns 256",
    ] {
        let folder = tempfile::tempdir().unwrap();
        one_of_some(|| report(words, folder.path()), is_healthy);
    }
}
