//! Every program says that its output is lost, and does not mind a reader who has had enough.
//!
//! They are built with the workspace (`make test` does that first), beside `weft`.

use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};

/// Each with the words of an ordinary command that writes to standard output and takes no time.
const PROGRAMS: [(&str, Option<&str>); 22] = [
    ("weft", Some("doctor")),
    // Which jobs there are depends on the machine.
    ("weft-inspect", None),
    ("weft-sim", Some("ping -n 2 --json")),
    ("weft-bench", Some("latency -n 2 --rounds 10")),
    // It measures for minutes, and whom it compares with depends on the machine.
    ("weft-compare", None),
    ("weft-count", None),
    ("weft-paper", Some("--list")),
    ("weft-soak", Some("--case 1")),
    ("weft-application", Some("sor --size small")),
    ("asp", Some("--sample 120 --to SYD")),
    // Its commands take databases; its own tests have them.
    ("awari", None),
    ("qr", Some("12")),
    ("sor", Some("--rows 20 --columns 20 --iterations 2")),
    ("leq", Some("--unknowns 20")),
    ("tsp", Some("--random 7")),
    ("puzzle", Some("--korf 9 --brief")),
    ("weft-game", Some("perft othello 4")),
    ("fft", Some("--points 64")),
    ("radix", Some("--keys 100")),
    ("lu", Some("--order 16 --block 8")),
    ("barnes", Some("--bodies 16 --steps 1")),
    ("water", Some("--molecules 8 --steps 1")),
];

/// Status, and standard error, of a program that writes there.
fn run(name: &str, words: &str, stdout: Stdio) -> (Option<i32>, String) {
    let program = Path::new(env!("CARGO_BIN_EXE_weft")).with_file_name(name);
    assert!(program.exists(), "{} is not built: cargo build --workspace", program.display());
    let mut command = Command::new(program);
    command.args(words.split(' ')).stdin(Stdio::null()).stdout(stdout).stderr(Stdio::piped());
    let output = command.spawn().unwrap().wait_with_output().unwrap();
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

/// Words for each program.
fn commands() -> impl Iterator<Item = (&'static str, &'static str)> {
    let both = |(name, words): (_, Option<_>)| [Some("--help"), words].map(|it| Some((name, it?)));
    PROGRAMS.into_iter().flat_map(both).flatten()
}

#[test]
fn a_full_disk_is_said_and_no_success() {
    for (name, words) in commands() {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let (status, said) = run(name, words, full.into());
        assert_eq!(status, Some(1), "{name} {words}: {said}");
        let lines = said.matches("cannot write to standard output: No space left on device");
        assert_eq!(lines.count(), 1, "{name} {words}: {said}");
        assert!(!said.contains("panicked"), "{name} {words}: {said}");
    }
}

#[test]
fn a_reader_who_has_had_enough_is_no_mistake() {
    for (name, words) in commands() {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let (status, said) = run(name, words, writer.into());
        // A launcher whose ranks' output nobody reads ends as if by SIGPIPE.
        assert!(matches!(status, Some(0 | 141)), "{name} {words}: {status:?} {said}");
        assert!(
            !said.contains("standard output") && !said.contains("panicked"),
            "{name} {words}: {said}"
        );
    }
}
