//! Mistakes in C programs: what they are told, by their own errors and by `weft run`.

use crate::programs::{built, compile, folder};
use std::process::{Command, Stdio};

/// Status of a job of two ranks that make this mistake, and all of standard error.
fn made(mistake: &str) -> (Option<i32>, String) {
    let folder = folder();
    let program = compile("tests/mistakes.c", &["-O2"], &folder);
    let mut command = Command::new(built().join("weft"));
    command.args(["run", "-q", "-n", "2", "--progress-limit", "1", "--on-deadlock", "end", "--"]);
    command.arg(program).arg(mistake).stdin(Stdio::null());
    let output = command.output().unwrap();
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn ranks_that_all_wait_for_callbacks_are_in_a_deadlock() {
    for (mistake, what) in [
        ("waits-in-vain", "what a callback is to do"),
        ("waits-in-vain-for-packets", "what an upcall is to do"),
    ] {
        let (status, said) = made(mistake);
        let line = format!("weft: deadlock: ranks 0, 1 wait for {what}, for ");
        assert!(said.lines().any(|it| it.starts_with(&line)), "{said}");
        assert_eq!(status, Some(35), "{said}");
    }
}

#[test]
fn a_program_that_returns_without_leaving_is_told_what_to_call() {
    let (status, said) = made("returns");
    let advice = "exited with status 0 before the job ended (it left without saying so: a program \
                  in C calls weft_leave, which returns WEFT_OK, before it ends; ";
    assert!(said.contains(advice), "{said}");
    assert_eq!(status, Some(1), "{said}");
}

#[test]
fn a_barrier_agrees_with_no_rank_that_leaves() {
    let (_, said) = made("leaves");
    let disagreement = "WEFT_DISAGREEMENT: the members of a team disagree about its operation 0: ";
    for rank in [0, 1] {
        let begins = format!("rank {rank}: {disagreement}");
        let is_told = |line: &str| {
            line.starts_with(&begins)
                && line.contains("rank 0 began leaving the job")
                && line.contains("rank 1 began barrier")
        };
        assert!(said.lines().any(is_told), "{said}");
    }
}

#[test]
fn a_preset_that_there_is_not_is_said_once() {
    let (_, said) = made("simulates");
    let begins = "WEFT_BAD_OPTION: there is no preset 'irx'; there are nrx-imc, ";
    assert!(said.lines().any(|line| line.starts_with(begins)), "{said}");
    assert_eq!(said.lines().next().unwrap().matches("irx'").count(), 1, "{said}");
}
