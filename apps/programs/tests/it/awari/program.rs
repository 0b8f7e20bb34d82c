//! `awari` as a program of one rank: what it prints, what it refuses, and with which status.

use crate::awari::common::{make_alone, options, run_in_job};
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

fn awari(words: &[&str], directory: &Path, input: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_awari"));
    command.args(words).current_dir(directory);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut program = command.spawn().unwrap();
    // It may have ended without having read.
    let _ = program.stdin.take().unwrap().write_all(input.as_bytes());
    program.wait_with_output().unwrap()
}

/// Output of what has to succeed.
fn said(words: &[&str], directory: &Path, input: &str) -> String {
    let output = awari(words, directory, input);
    assert!(output.status.success(), "{words:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// Error of what has to fail.
fn refused(words: &[&str], directory: &Path) -> String {
    let output = awari(words, directory, "");
    assert_eq!(output.status.code(), Some(1), "{words:?}: {output:?}");
    assert!(output.stdout.is_empty(), "{output:?}");
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn databases_are_made_checked_and_asked() {
    let folder = tempfile::tempdir().unwrap();
    let made = said(&["make", "--stones", "5"], folder.path(), "");
    let heading = "stones  positions        won      drawn       lost    checksum\n";
    assert!(made.starts_with(heading), "{made}");
    let row = "     5      4,368      2,161          0      2,207  1886458384\n";
    assert!(made.contains(row), "{made}");
    assert!(made.contains("\n1 rank, "), "{made}");
    let checked = said(&["check", "--sample", "100", "--stones", "4"], folder.path(), "");
    let expected = "5 databases: all checksums are right, and so are 291 of 1,820 values, each by \
                    those of its moves\n";
    assert_eq!(checked, expected, "1, 12, 78, 100 and 100");
    let answer = said(&["query", "0,0,0,0,0,1,1,0,0,0,0,1"], folder.path(), "");
    assert!(answer.contains("value +3: the side to move wins by 3\n"), "{answer}");
    assert!(answer.ends_with("best line: 6x2 6; then the game is over\n"), "{answer}");
}

#[test]
fn a_game_is_played_through_a_pipe() {
    let folder = tempfile::tempdir().unwrap();
    make_alone(&options(folder.path(), 3));
    let words = ["play", "--board", "0 0 0 0 0 1 1 0 0 0 0 1"];
    let game = said(&words, folder.path(), "5\n6\n");
    assert!(
        game.starts_with("I know all boards of up to 3 stones. Your pits are below.\n"),
        "{game}"
    );
    assert!(game.contains("'5' is no legal move: write 6, or quit.\n"), "{game}");
    assert!(game.ends_with("You win: you have 3 stones, I have 0.\n"), "{game}");
    let game = said(&["play", "--second", "--depth", "3"], folder.path(), "quit\n");
    assert!(game.contains("\nI play ") && game.ends_with("The game is not over.\n"), "{game}");
}

#[test]
fn wrong_values_are_found_and_named() {
    let folder = tempfile::tempdir().unwrap();
    make_alone(&options(folder.path(), 3));
    // A whole file with another value: its checksum is right.
    let path = folder.path().join("awari-3.db");
    let mut bytes = fs::read(&path).unwrap();
    bytes[32] = 0_i8.to_le_bytes()[0].wrapping_sub(bytes[32]);
    let sum = crc32c::crc32c_append(crc32c::crc32c(&bytes[..24]), &bytes[32..]);
    bytes[24..28].copy_from_slice(&sum.to_le_bytes());
    fs::write(&path, bytes).unwrap();
    let error = refused(&["check"], folder.path());
    let found =
        "./awari-3.db has 1 wrong value: '0 0 0 0 0 0 0 0 0 0 0 3' is worth +3 there and -3 by";
    assert!(error.contains(found), "{error}");
    let output = run_in_job(3, &["check", "--directory", folder.path().to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(errors.contains("awari-3.db has 1 wrong value"), "{errors}");
    assert!(!errors.contains("weft: rank 1"), "rank 0 speaks for all: {errors}");
}

#[test]
fn output_that_is_lost_is_said() {
    let folder = tempfile::tempdir().unwrap();
    make_alone(&options(folder.path(), 2));
    let board = "0 0 0 0 0 1 0 1 0 0 0 0";
    for words in
        [&["make", "--stones", "2"][..], &["check"], &["query", board], &["play", "--board", board]]
    {
        let full = fs::File::options().write(true).open("/dev/full").unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_awari"));
        command.args(words).current_dir(folder.path()).stdin(Stdio::null()).stdout(full);
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{words:?}: {output:?}");
        let said = String::from_utf8(output.stderr).unwrap();
        let lost = said.matches("cannot write to standard output: No space left on device");
        assert_eq!(lost.count(), 1, "{words:?}: {said}");
    }
}

#[test]
fn help_has_examples_and_mistakes_are_explained() {
    let folder = tempfile::tempdir().unwrap();
    for words in [&["--help"][..], &["make", "--help"], &["query", "--help"], &["play", "--help"]] {
        let help = said(words, folder.path(), "");
        assert!(help.contains("\nExamples:\n"), "{help}");
    }
    fs::write(folder.path().join("awari-1.db"), "no database").unwrap();
    fs::write(folder.path().join("file"), "").unwrap();
    for (words, expected) in [
        (&[][..], "Usage: awari <COMMAND>"),
        (&["make"], "--stones <STONES>"),
        (&["make", "--stones", "14"], "it is 0 to 13"),
        (&["make", "--stones", "2", "--batch", "3"], "it is 4 to 16777216"),
        (&["make", "--stones", "2", "--directory", "file"], "cannot make file: "),
        (&["make", "--stones", "2"], "./awari-1.db is damaged: it has 11 bytes"),
        (&["query", "1 2 3"], "'1 2 3' is no board: write 12 numbers"),
        (&["query", "4 4 4 4 4 4 4 4 4 4 4 4"], "a board of 48 stones is in no database, 13 are"),
        (
            &["query", "0 0 0 0 0 0 0 0 0 1 0 0", "--directory", "none"],
            "there is no none/awari-0.db",
        ),
        (&["play", "--directory", "none"], "awari make --stones 0 --directory none makes it"),
        (&["check", "--directory", "none"], "there is no none/awari-0.db"),
        (&["check", "--sample", "0"], "--sample"),
    ] {
        let error = refused(words, folder.path());
        assert!(error.contains(expected), "{words:?}: {error}");
    }
}
