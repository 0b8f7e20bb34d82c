//! Jobs that go on after a loss, on one host.

use std::process::Stdio;

use crate::common::{Finished, Running, launch_words, testee, without_process};
use rustix::process::Signal;

const KILLED: &str = "was killed by signal 9 (SIGKILL); its last words: \"about to die\"";

/// Lines of the launcher, without processes.
fn lines(err: &str) -> Vec<String> {
    err.lines().filter(|line| line.starts_with("weft: ")).map(without_process).collect()
}

fn launch(words: &str) -> Finished {
    launch_words(&format!("--on-loss continue {words}"))
}

/// A job that goes on, whose rank 0 reads until [`Running::launcher`] has no input any more, once
/// `named` of its ranks have named themselves: none that may be lost before anybody looks for it.
fn start(words: &str, named: usize) -> Running {
    let mut command = testee();
    command.arg("launch").args(["--on-loss", "continue"]).args(words.split_whitespace());
    Running::start_command(command.stdin(Stdio::piped()), named)
}

/// The next line of the launcher, without the process.
fn next_line(job: &mut Running) -> String {
    loop {
        let line = job.error_line();
        assert_ne!(line, "", "the job has ended");
        if line.starts_with("weft: ") {
            return without_process(line.trim_end());
        }
    }
}

/// Waits for the end of a job.
fn end(mut job: Running) -> Finished {
    let (status, err) = job.wait();
    let out = std::io::read_to_string(job.out.as_mut().unwrap()).unwrap();
    Finished { status, out, err }
}

#[test]
fn a_rank_is_killed_and_the_others_end_well() {
    for (words, lost) in [
        ("-n 4 goes-on goes-on goes-on kill=9", 3),
        ("-n 4 kill=9 goes-on", 0),
        ("-n 4 --sockets goes-on kill=9 goes-on", 1),
    ] {
        let job = launch(words);
        assert_eq!(job.status, 0, "{words}: {job:?}");
        let heard = format!("heard that rank {lost} was killed by signal 9 (SIGKILL)\n");
        assert_eq!(job.out.matches(&heard).count(), 3, "{words}: {job:?}");
        let line = format!("weft: rank {lost} of 4 {KILLED}; the job goes on with 3");
        assert_eq!(lines(&job.err), [line], "{words}");
        // What the rank said itself comes before what is said of it.
        assert!(job.err.starts_with("about to die\nweft: "), "{words}: {job:?}");
        job.assert_gone(4);
    }
}

#[test]
fn the_line_comes_at_once_and_one_more_for_the_next_loss() {
    let mut job = start("-n 3 stdin kill=9 kill-next=9", 0);
    let line = |rank, left| format!("weft: rank {rank} of 3 {KILLED}; the job goes on with {left}");
    assert_eq!(next_line(&mut job), line(1, 2));
    assert_eq!(next_line(&mut job), line(2, 1));
    drop(job.launcher.stdin.take());
    let job = end(job);
    assert_eq!((job.status, job.err.as_str()), (0, ""));
    job.assert_gone(3);
}

#[test]
fn every_way_to_be_lost_leaves_the_others() {
    for (lost, line) in [
        ("exit=3", "exited with status 3; its last words: \"about to exit\""),
        ("panic", "exited with status 101; its last words: \"row 17 is out of range\""),
        (
            "early",
            "exited with status 0 before the job ended (it left without saying so: a program in C calls \
             weft_leave, which returns WEFT_OK, before it ends; one in Rust returns from main instead of calling exit)",
        ),
    ] {
        let job = launch(&format!("-n 3 goes-on {lost} goes-on"));
        assert_eq!(job.status, 0, "{lost}: {job:?}");
        let line = format!("weft: rank 1 of 3 {line}; the job goes on with 2");
        assert_eq!(lines(&job.err), [line], "{lost}");
        job.assert_gone(3);
    }
}

#[test]
fn a_rank_that_never_joins_is_lost_alone() {
    let mut job = start("-n 2 stdin absent=0", 1);
    let line = "weft: rank 1 of 2 exited with status 0 without joining the job, which other ranks have joined; \
                the job goes on with 1";
    // Its neighbour waits for both to be there, and is told to end.
    assert_eq!(next_line(&mut job), line);
    job.signal(Signal::TERM);
    assert_eq!(job.wait().0, 128 + 15);
    job.assert_ranks_gone();
}

#[test]
fn a_job_of_which_nobody_is_left_has_failed() {
    let job = launch("-n 3 kill=9 kill-next=6 kill-next=6");
    assert_eq!(job.status, 128 + 6, "{job:?}");
    let lines = lines(&job.err);
    assert_eq!(lines.len(), 3, "{job:?}");
    assert_eq!(lines[0], format!("weft: rank 0 of 3 {KILLED}; the job goes on with 2"));
    assert!(lines[2].ends_with("; the other 2 ranks ended"), "{job:?}");
    assert!(!lines[1].ends_with(" ended"), "{job:?}");
    job.assert_gone(3);
}

#[test]
fn a_job_of_one_rank_fails_with_it() {
    let job = launch("-n 1 kill=9");
    assert_eq!(job.status, 137);
    assert_eq!(lines(&job.err), [format!("weft: rank 0 of 1 {KILLED}")]);
}

#[test]
fn ranks_that_were_told_nothing_else_hear_that_it_goes_on() {
    let job = launch("-n 1 options");
    assert!(job.out.contains("\"on-loss\": \"continue\""), "{job:?}");
    let job = launch_words("--on-loss end -n 1 options");
    assert!(!job.out.contains("on-loss"), "{job:?}");
}

#[test]
fn a_wish_to_stop_ends_what_has_gone_on() {
    let mut job = start("-n 3 stdin kill=9 spin", 0);
    let line = format!("weft: rank 1 of 3 {KILLED}; the job goes on with 2");
    assert_eq!(next_line(&mut job), line);
    job.signal(Signal::TERM);
    let job = end(job);
    let line = "weft: the job was ended by signal 15 (SIGTERM)";
    assert_eq!((job.status, lines(&job.err)[0].as_str()), (128 + 15, line), "{job:?}");
    job.assert_gone(3);
}

#[test]
fn a_rank_that_dies_of_a_signal_that_was_passed_on_ends_the_job() {
    let mut job = start("-n 3 stdin kill=9 spin", 0);
    next_line(&mut job);
    job.signal(Signal::HUP);
    let job = end(job);
    assert_eq!(job.status, 128 + 1, "{job:?}");
    job.assert_gone(3);
}

#[test]
fn files_of_output_have_what_ranks_wrote_and_the_line_is_the_launchers() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().display();
    let job = launch(&format!("-n 2 --directory {path} goes-on kill=9"));
    let line = format!("weft: rank 1 of 2 {KILLED}; the job goes on with 1");
    assert_eq!((job.status, lines(&job.err)), (0, vec![line]));
    let written = std::fs::read_to_string(directory.path().join("rank-1.err")).unwrap();
    assert_eq!(written, "about to die\n");
}
