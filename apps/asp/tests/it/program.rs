//! `asp` as a program of one rank: what it prints, what it refuses, and with which status.

use std::path::Path;
use std::process::{Command, Output};

fn asp(arguments: &[&str], directory: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_asp"));
    command.args(arguments).current_dir(directory).output().expect("asp can be started")
}

/// Runs what must fail and returns what it says.
fn refused(arguments: &[&str], directory: &Path) -> String {
    let output = asp(arguments, directory);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(output.stdout.is_empty(), "{output:?}");
    String::from_utf8(output.stderr).expect("text")
}

#[test]
fn a_route_is_found_verified_and_drawn() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let arguments =
        ["--sample", "120", "--from", "ams", "--to", "syd", "--check", "200", "--map", "map.svg"];
    let output = asp(&arguments, folder.path());
    let text = String::from_utf8(output.stdout).expect("text");
    assert!(output.status.success(), "{text}");
    let first = text.lines().next().expect("a line");
    assert!(first.starts_with("AMS -> ") && first.contains(" -> SYD   "), "{first}");
    // More sources were asked for than there are airports: all of them, then.
    assert!(
        first.contains(" 120 airports   verified against Dijkstra from 120 sources"),
        "{first}"
    );
    assert!(text.contains("1 rank, "), "{text}");
    assert!(text.ends_with("map: map.svg\n"), "{text}");
    let map = std::fs::read_to_string(folder.path().join("map.svg")).expect("it is drawn");
    assert!(map.starts_with("<svg ") && map.ends_with("</svg>\n"));
}

#[test]
fn an_import_can_be_used() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let airports =
        "1,\"A\",\"a\",\"x\",\"AAA\",\"AAAA\",0,0\n2,\"B\",\"b\",\"x\",\"BBB\",\\N,0,1\n";
    std::fs::write(folder.path().join("a.dat"), airports).expect("writable");
    std::fs::write(folder.path().join("r.dat"), "X,1,AAA,1,BBB,2\nX,1,BBB,2,AAA,1\n")
        .expect("writable");
    let imported = asp(&["--import", "a.dat", "r.dat", "."], folder.path());
    assert_eq!(imported.stdout, b"2 airports and 2 routes in .\n");
    let tables = ["--airports", "airports.tsv", "--routes", "routes.tsv"];
    let output = asp(&[&tables[..], &["--from", "aaa", "--to", "bbb"]].concat(), folder.path());
    let text = String::from_utf8(output.stdout).expect("text");
    assert!(text.starts_with("AAA -> BBB   111 km      2 airports   verified"), "{text}");
}

#[test]
fn mistakes_are_explained() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("bad.tsv"), "# head\nAMS\tEHAM\tnorth\t4\ta\tb\tc\n")
        .expect("writable");
    let says = |arguments: &[&str], expected: &str| {
        let text = refused(arguments, folder.path());
        assert!(text.contains(expected), "{text}");
    };
    says(&["--from", "Hobart"], "there is no airport \"Hobart\"; did you mean HBA");
    says(&["--from", "AMS", "--to", "eham"], "--from and --to are the same airport");
    says(
        &["--airports", "bad.tsv", "--routes", "bad.tsv"],
        "bad.tsv:2: expected a latitude from -90 to 90, found \"north\"",
    );
    says(&["--airports", "none.tsv", "--routes", "bad.tsv"], "none.tsv: No such file");
    says(&["--check", "0"], "--check");
    says(&["--import", "bad.tsv", "bad.tsv", "."], "bad.tsv:2: expected at least 8 fields");
}
