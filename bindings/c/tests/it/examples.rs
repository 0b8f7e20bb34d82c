//! The examples in C: compiled as their authors would, and run as jobs. What they write is listed
//! here; an example in Rust of the same name writes the same, so that the guide shows it once.

use crate::programs::{
    GOES_ON, SANITIZED, built, compile, folder, goes_on_with_3, here, run, sorted_lines,
    two_at_once, visit,
};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// Example that runs to its end by itself.
struct Example {
    name: &'static str,
    /// Options of `weft run`.
    options: &'static str,
    /// True if `weft-example` of that name writes the same.
    is_in_rust: bool,
    /// Lines that ranks write, sorted; `#` is text without blanks, which differs from run to run.
    lines: &'static [&'static str],
}

const fn twin(
    name: &'static str,
    options: &'static str,
    lines: &'static [&'static str],
) -> Example {
    Example { name, options, is_in_rust: true, lines }
}

const fn alone(
    name: &'static str,
    options: &'static str,
    lines: &'static [&'static str],
) -> Example {
    Example { name, options, is_in_rust: false, lines }
}

const EXAMPLES: [Example; 22] = [
    twin("ping", "-n 2", &["1000 round trips, # each"]),
    twin(
        "hello",
        "-n 3",
        &["rank 0 hears from rank 1: good morning", "rank 0 hears from rank 2: good morning"],
    ),
    twin(
        "stream",
        "-n 2",
        &["16777216 bytes came in # pieces", "all is sent, and some of it has been read"],
    ),
    twin("ring", "-n 4", &["the token came round 10 times, in 40 hops"]),
    twin("bank", "-n 4", &["80 transfers, and the ranks have 4000 together, as before"]),
    alone(
        "threads",
        "-n 2",
        &[
            "rank 0: the numbers of 4 threads add up to 6",
            "rank 1: the numbers of 4 threads add up to 6",
        ],
    ),
    alone(
        "phonebook",
        "-n 4",
        &["4 numbers found; and then: 'find' of rank 0 failed: nobody is called Nobody"],
    ),
    twin("pi", "-n 4", &["pi is 3.141592654"]),
    alone(
        "overlap",
        "-n 2",
        &["rank 0: pi is 3.141592654, nearly", "rank 1: pi is 3.141592654, nearly"],
    ),
    twin(
        "histogram",
        "-n 2",
        &[
            "20000 numbers; in the first 8 buckets are [1232, 1237, 1218, 1227, 1284, 1242, 1299, 1271]",
        ],
    ),
    twin("sort", "-n 3", &["3000 numbers are sorted; the one in the middle is 2172537742"]),
    twin(
        "counter",
        "-n 2",
        &["9592 primes below 100000; rank 0 did # of 1000 pieces", "the last of them is 99991"],
    ),
    twin("kv", "-n 3", &["3 replicas of 14 pairs are equal; rank # was last"]),
    twin("heat", "-n 4", &["after 40 steps 175.7 degrees are left in the rod"]),
    twin("census", "-n 3", &["4884 people in 24 districts, and all ranks agree"]),
    twin("jobs", "-n 4", &["100 jobs were taken, by 4 ranks, and come to 5050"]),
    twin("linda", "-n 3", &["below 100000 the longest chain begins with 77031 and has 350 steps"]),
    twin("growth", "-n 2 --room 4", &["2 of 4 ranks", "4 of 4 ranks"]),
    alone(
        "survivors",
        "-n 2",
        &[
            "rank 0: pi is 3.141592654, and 2 ranks are left",
            "rank 1: pi is 3.141592654, and 2 ranks are left",
        ],
    ),
    alone(
        "tickets",
        "-n 2",
        &[
            "rank 0 drew # tickets; 1000 of 1000 are with 2 ranks that are left, no two the same",
            "rank 1 drew # tickets; 1000 of 1000 are with 2 ranks that are left, no two the same",
        ],
    ),
    alone("packets", "-n 4", &["1000 rounds of 4 ranks, # us a hop"]),
    alone("rows", "-n 3", &["64 rows add up to 1006992000"]),
];

/// Example to which others come.
const DOOR: &str = "door";

/// True if a line is as expected.
fn is_as(expected: &str, line: &str) -> bool {
    let is_word = |(expected, word): (&str, &str)| match expected.split_once('#') {
        None => expected == word,
        Some((before, after)) => {
            let rest = word.strip_prefix(before).and_then(|rest| rest.strip_suffix(after));
            rest.is_some_and(|rest| !rest.is_empty())
        }
    };
    expected.split(' ').count() == line.split(' ').count()
        && expected.split(' ').zip(line.split(' ')).all(is_word)
}

fn assert_lines(expected: &[&str], lines: &[&str], what: &str) {
    let are_as = expected.iter().zip(lines).all(|(expected, line)| is_as(expected, line));
    assert!(expected.len() == lines.len() && are_as, "{what}: {lines:#?}, not {expected:#?}");
}

/// Output of a command under `weft run` with these options.
fn run_job(options: &str, command: &[&Path]) -> String {
    let mut weft = Command::new(built().join("weft"));
    run(weft.arg("run").args(options.split(' ')).arg("--").args(command))
}

fn run_all(flags: &[&str]) {
    two_at_once(&EXAMPLES, |Example { name, options, lines, .. }| {
        let folder = folder();
        let program = compile(&format!("examples/{name}.c"), flags, &folder);
        assert_lines(lines, &sorted_lines(&run_job(options, &[&program])), name);
    });
    let folder = folder();
    let program = compile(&format!("examples/{DOOR}.c"), flags, &folder);
    let text = visit(&program, &[], &folder);
    let (met, counted): (Vec<&str>, Vec<&str>) =
        sorted_lines(&text).into_iter().partition(|line| line.starts_with("rank "));
    assert_eq!(met, [0, 1, 2, 3].map(|rank| format!("rank {rank} has met ranks [0, 1, 2, 3]")));
    // Two come at once, or one after the other.
    assert!(matches!(counted[..], ["2 of 4 ranks"] | ["2 of 4 ranks", "3 of 4 ranks"]), "{text}");
}

#[test]
fn examples_compile_without_a_warning_and_write_what_is_listed() {
    run_all(&["-O2"]);
}

#[test]
fn examples_are_clean_under_the_sanitizers() {
    run_all(&SANITIZED);
}

#[test]
fn examples_in_rust_write_the_same() {
    let twins: Vec<_> = EXAMPLES.iter().filter(|example| example.is_in_rust).collect();
    let beside = built().join("weft-example");
    two_at_once(&twins, |Example { name, options, lines, .. }| {
        let text = run_job(options, &[&beside, Path::new(name)]);
        assert_lines(lines, &sorted_lines(&text), name);
    });
}

#[test]
fn all_examples_are_run_and_told_of() {
    let files = std::fs::read_dir(here().join("examples")).unwrap();
    let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    let programs: BTreeSet<String> =
        names.filter_map(|name| Some(name.strip_suffix(".c")?.to_owned())).collect();
    let listed = EXAMPLES.iter().map(|example| example.name).chain([DOOR]);
    assert_eq!(programs, listed.map(str::to_owned).collect());
    let list = std::fs::read_to_string(here().join("../../docs/guide/c.md")).unwrap();
    for name in &programs {
        assert!(
            list.contains(&format!("| `{name}` |")),
            "{name} is not in the list of docs/guide/c.md"
        );
    }
}

/// Lines of the three ranks that are left when rank 2 has killed itself.
fn lines_without_rank_2(name: &str) -> Vec<String> {
    let folder = folder();
    let program = compile(&format!("examples/{name}.c"), &["-O2"], &folder);
    goes_on_with_3(&GOES_ON, &[&program, Path::new("2")])
}

#[test]
fn the_survivors_compute_the_same_without_a_rank() {
    let all = [0, 1, 3].map(|rank| format!("rank {rank}: pi is 3.141592654, and 3 ranks are left"));
    assert_eq!(lines_without_rank_2("survivors"), all);
}

#[test]
fn tickets_are_drawn_once_without_a_rank() {
    let lines = lines_without_rank_2("tickets");
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let left = "# of 1000 are with 3 ranks that are left, no two the same";
    let expected = [0, 1, 3].map(|rank| format!("rank {rank} drew # tickets; {left}"));
    assert_lines(&expected.each_ref().map(String::as_str), &lines, "tickets");
}

#[test]
fn a_line_that_differs_is_found() {
    assert!(is_as("rank # was last, # each", "rank 3 was last, 4.8µs each"));
    assert!(is_as("[#, 5]", "[4, 5]"));
    assert!(!is_as("rank # was last", "rank 3 was first"));
    assert!(!is_as("rank # was last", "rank 3 was last of all"));
    assert!(!is_as("in # pieces", "in  pieces"));
}
