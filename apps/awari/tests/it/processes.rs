//! Databases made by processes.

use crate::common::{bytes, make_alone, options, run_in_job};
use std::process::{Command, Stdio};

fn make(ranks: usize, directory: &std::path::Path, stones: u32) -> String {
    let (stones, directory) = (stones.to_string(), directory.to_str().unwrap());
    let words = ["make", "--stones", &stones, "--directory", directory, "--batch", "512"];
    let output = run_in_job(ranks, &words);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    text
}

#[test]
fn any_number_of_ranks_makes_the_same_bytes_which_are_right() {
    let alone = tempfile::tempdir().unwrap();
    make_alone(&options(alone.path(), 7));
    let expected = bytes(alone.path());
    for ranks in [1, 3, 4] {
        let folder = tempfile::tempdir().unwrap();
        let text = make(ranks, folder.path(), 7);
        assert!(
            text.contains("50,388 positions in 8 databases, of which 8 were made now"),
            "{text}"
        );
        assert!(bytes(folder.path()) == expected, "{ranks} ranks make other bytes");
    }
    let directory = alone.path().to_str().unwrap();
    let output = run_in_job(3, &["check", "--directory", directory]);
    let text = String::from_utf8(output.stdout).unwrap();
    let right = "8 databases: all checksums are right, and so are 50,388 of 50,388 values";
    assert!(text.starts_with(right), "{text}");
}

#[test]
fn a_run_that_was_killed_is_gone_on_with() {
    let killed = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_awari"));
    command.args(["make", "--stones", "9", "--directory"]).arg(killed.path());
    let mut run = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while !killed.path().join("awari-6.db").exists() {
        assert!(run.try_wait().unwrap().is_none(), "it ended before it made that");
        std::thread::yield_now();
    }
    run.kill().unwrap();
    run.wait().unwrap();
    let text = make(3, killed.path(), 9);
    assert!(text.contains("293,930 positions in 10 databases, of which "), "{text}");
    assert!(!text.contains("of which 10 were made"), "{text}");
    let whole = tempfile::tempdir().unwrap();
    make_alone(&options(whole.path(), 9));
    assert!(bytes(killed.path()) == bytes(whole.path()));
}
