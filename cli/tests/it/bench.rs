//! All that `make bench` measures, in one round each: that every benchmark still comes to its end
//! and has figures. How good these are is not looked at.

use serde_json::Value;
use std::process::{Command, Stdio};
use weft_netns::available;

const MAKEFILE: &str = include_str!("../../../Makefile");

/// Words of the benchmarks between two hosts, which the test may not be permitted to make.
const ETHERNET: [&str; 5] = ["udp", "xdp", "authentication", "coexist", "hostile"];

/// The words after `weft bench` in each line of the recipe of `make bench`, and in each turn of its
/// loops.
fn benchmarks() -> Vec<String> {
    let recipe = MAKEFILE.split("\nbench:\n").nth(1).unwrap().split("\n\n").next().unwrap();
    // That of congestion has a test of its own, which takes less long.
    recipe.lines().flat_map(turns).filter(|words| words != "congestion").collect()
}

fn turns(line: &str) -> Vec<String> {
    let Some((before, words)) = line.split_once("/weft bench ") else { return Vec::new() };
    let words = words.split(" ||").next().unwrap().split(" --rounds ").next().unwrap();
    let Some(looped) = before.trim().strip_prefix("@for ") else { return vec![words.into()] };
    let (variable, values) = looped.split_once(" in ").unwrap();
    let values = values.split(';').next().unwrap().split(' ');
    values.map(|value| words.replace(&format!("$${variable}"), value)).collect()
}

fn assert_has_figures(words: &str) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_weft"));
    command.arg("bench").args(words.split(' ')).args(["--rounds", "1", "--json"]);
    if words.starts_with("hostile") {
        command.args(["--frames", "2000"]);
    }
    let output = command.stdin(Stdio::null()).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!((output.status.code(), &*error), (Some(0), ""), "weft bench {words}");
    let rows: Vec<Value> = output
        .stdout
        .split(|byte| *byte == b'\n')
        .filter(|row| !row.is_empty())
        .map(object)
        .collect();
    assert!(!rows.is_empty(), "weft bench {words} says nothing");
    for row in rows {
        let figure = ["p50", "alone", "ratio"].iter().find_map(|name| row[name].as_f64());
        // Latency in the LogGP model is a difference, which in one round may be less than nothing.
        assert!(figure.is_some_and(|figure| figure != 0.0), "weft bench {words}: {row}");
    }
}

fn object(row: &[u8]) -> Value {
    serde_json::from_slice(row).unwrap()
}

#[test]
fn all_that_make_bench_measures_comes_to_its_end() {
    let (ethernet, memory): (Vec<_>, Vec<_>) = benchmarks()
        .into_iter()
        .partition(|words| words.split(' ').any(|word| ETHERNET.contains(&word)));
    assert!(memory.len() >= 15 && ethernet.len() >= 10, "{memory:?}, {ethernet:?}");
    memory.iter().for_each(|words| assert_has_figures(words));
    if available() {
        ethernet.iter().for_each(|words| assert_has_figures(words));
    }
}
