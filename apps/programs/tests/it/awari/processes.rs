//! Databases made by processes.

use crate::awari::common::{bytes, make_alone, options, run_in_job};
use std::path::Path;
use std::process::{Command, Stdio};

/// Stones of the largest boards; `AWARI_STONES` sets another number.
fn stones() -> u32 {
    std::env::var("AWARI_STONES").map_or(7, |stones| stones.parse().unwrap())
}

/// Output of a job that has to succeed.
fn said(ranks: usize, words: &[&str]) -> String {
    let output = run_in_job(ranks, words);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    text
}

fn make(ranks: usize, directory: &Path, stones: u32, batch: &str) -> String {
    let (stones, directory) = (stones.to_string(), directory.to_str().unwrap());
    said(ranks, &["make", "--stones", &stones, "--directory", directory, "--batch", batch])
}

#[test]
fn any_number_of_ranks_makes_the_same_bytes_which_are_right() {
    let (alone, most) = (tempfile::tempdir().unwrap(), stones());
    make_alone(&options(alone.path(), most));
    let expected = bytes(alone.path());
    for (ranks, batch) in [(1, "4096"), (3, "512"), (4, "4096")] {
        let folder = tempfile::tempdir().unwrap();
        let text = make(ranks, folder.path(), most, batch);
        let there = most + 1;
        let made = format!("positions in {there} databases, of which {there} were made now\n");
        assert!(text.contains(&made), "{text}");
        assert!(bytes(folder.path()) == expected, "{ranks} ranks make other bytes");
        println!("{text}");
    }
    let checked = said(3, &["check", "--directory", alone.path().to_str().unwrap()]);
    let all = expected.iter().map(|(_, bytes)| bytes.len() - 32).sum::<usize>() as u64;
    let all = weft_app_common::thousands(all);
    let right = format!("all checksums are right, and so are {all} of {all} values");
    assert!(checked.contains(&right), "{checked}");
}

#[test]
fn a_run_that_was_killed_is_gone_on_with() {
    let killed = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_awari"));
    command.args(["make", "--stones", "9", "--directory"]).arg(killed.path());
    let mut run = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while !killed.path().join("awari-6.db").exists() && run.try_wait().unwrap().is_none() {
        std::thread::yield_now();
    }
    // It may be over by now, on a machine that has kept this test waiting.
    run.kill().unwrap();
    run.wait().unwrap();
    let text = make(3, killed.path(), 9, "4096");
    assert!(text.contains("293,930 positions in 10 databases, of which "), "{text}");
    assert!(!text.contains("of which 10 were made"), "{text}");
    let whole = tempfile::tempdir().unwrap();
    make_alone(&options(whole.path(), 9));
    assert!(bytes(killed.path()) == bytes(whole.path()));
}

#[test]
fn rank_0_alone_says_what_cannot_be_read() {
    let folder = tempfile::tempdir().unwrap();
    make_alone(&options(folder.path(), 3));
    std::fs::write(folder.path().join("awari-2.db"), "no database").unwrap();
    let directory = folder.path().to_str().unwrap();
    for words in [
        &["make", "--stones", "4", "--directory", directory][..],
        &["check", "--directory", directory],
    ] {
        let output = run_in_job(3, words);
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        let errors = String::from_utf8(output.stderr).unwrap();
        let said = format!("{directory}/awari-2.db is damaged: it has 11 bytes");
        assert!(errors.contains(&said) && !errors.contains("weft: rank 1"), "{errors}");
    }
    assert!(!folder.path().join("awari-4.db").exists());
}
