//! The ranks' output: whole lines, labels, files, and readers that stop reading.

use crate::common::{Running, launch, launch_words};

#[test]
fn lines_are_never_mixed() {
    let job = launch_words("-n 4 lines=500");
    assert_eq!(job.status, 0);
    for (letter, line) in ["a", "b", "c", "d"].map(|letter| (letter, letter.repeat(60))) {
        let whole = job.out.lines().filter(|found| **found == line).count();
        assert_eq!(whole, 500, "lines of {letter}");
    }
    assert_eq!(job.out.lines().count(), 4 * 500 + 4);
}

#[test]
fn labels_say_who_wrote_a_line() {
    let job = launch_words("-n 2 --label lines=3");
    assert_eq!(job.status, 0);
    let label = |rank: &str, letter: &str| format!("[{rank}] {}\n", letter.repeat(60));
    assert_eq!(job.out.matches(&label("0", "a")).count(), 3, "{job:?}");
    assert_eq!(job.out.matches(&label("1", "b")).count(), 3, "{job:?}");
}

#[test]
fn progress_bars_and_last_lines_without_end_are_passed_on() {
    let bar = launch_words("-n 1 bar");
    assert!(bar.out.ends_with("10%\r20%\r\n"), "{bar:?}");
    let partial = launch_words("-n 1 partial");
    assert!(partial.out.ends_with("\nno end"), "{partial:?}");
    assert_eq!(partial.err, "nor here");
    assert_eq!(partial.status, 0);
}

#[test]
fn last_lines_without_end_are_not_joined_to_those_of_others() {
    let job = launch_words("-n 2 --label partial");
    for line in ["[0] no end", "[1] no end"] {
        assert_eq!(job.out.lines().filter(|found| *found == line).count(), 1, "{job:?}");
    }
}

#[test]
fn each_rank_may_have_files_of_its_own() {
    let directory = tempfile::tempdir().unwrap();
    let inner = directory.path().join("new/runs");
    let job = launch(["-n", "2", "--directory", inner.to_str().unwrap(), "--", "leave", "exit=3"]);
    assert_eq!((job.status, job.out.as_str()), (3, ""));
    let read = |name: &str| std::fs::read_to_string(inner.join(name)).unwrap();
    assert!(read("rank-0.out").starts_with("pid "));
    assert!(read("rank-1.out").starts_with("pid "));
    assert_eq!(read("rank-0.err"), "");
    assert_eq!(read("rank-1.err"), "about to exit\n");
    assert!(job.err.contains("its last words: \"about to exit\""), "{job:?}");
}

#[test]
fn a_reader_that_stops_reading_ends_the_job() {
    let mut job = Running::start("-n 2 lines=100000000", 2);
    job.line();
    job.out = None;
    let (status, err) = job.wait();
    assert_eq!((status, err.as_str()), (128 + 13, ""));
    job.assert_ranks_gone();
}

#[test]
fn a_reader_that_is_slow_does_not_keep_a_loss_from_being_noticed() {
    let mut job = Running::start("-n 2 lines=100000000 spin", 2);
    // Nobody reads now, so the first rank and the launcher soon cannot write.
    job.kill_rank(1);
    job.wait_for_ranks();
    job.out = None;
    assert_eq!(job.wait().0, 128 + 9);
}
