//! State that a rank finds when it joins, and that its children find.

use crate::common::{launch, launch_words, testee};

#[test]
fn a_program_that_nobody_launched_is_alone() {
    let output = testee().arg("leave").output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "alone\n");
}

#[test]
fn options_reach_every_rank() {
    let job =
        launch(["-n", "2", "--option", "preset", "nrx-imc", "--option", "tree", "flat", "options"]);
    for rank in 0..2 {
        let cores = std::thread::available_parallelism().unwrap();
        let line = format!(
            "{rank} {{\"cores\": \"{cores}\", \"preset\": \"nrx-imc\", \"tree\": \"flat\"}}\n"
        );
        assert!(job.out.contains(&line), "{job:?}");
    }
    assert_eq!(job.status, 0);
}

#[test]
fn what_a_rank_starts_is_no_rank() {
    let job = launch_words("-n 2 child");
    assert_eq!(job.status, 0, "{job:?}");
    assert_eq!(job.out.lines().filter(|line| *line == "alone").count(), 2);
}

#[test]
fn a_process_joins_once() {
    let job = launch_words("-n 1 again");
    assert_eq!(job.status, 0, "{job:?}");
    assert!(job.out.contains("this process has already joined its job"), "{job:?}");
}

#[test]
fn a_variable_that_no_launcher_wrote_is_refused() {
    for (value, complaint) in [("yes", "which no launcher writes"), ("100:1", "is not open")] {
        let output = testee().arg("leave").env("WEFT_JOB", value).output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        let err = String::from_utf8(output.stderr).unwrap();
        assert!(err.starts_with("cannot join the job: ") && err.contains(complaint), "{err}");
    }
}

#[test]
fn a_rank_behind_a_wrapper_joins() {
    let exe = env!("CARGO_BIN_EXE_weft-launch-testee");
    let script = format!("{exe} leave; exit $?");
    let job = launch(["-n", "2", "--program", "bash", "--", "-c", &script]);
    // The wrapper is the rank's process: it exits with 0 after the program in it has said that it
    // leaves.
    assert_eq!((job.status, job.err.as_str()), (0, ""));
    job.assert_gone(2);
}

#[test]
fn a_rank_of_another_release_is_refused_in_one_line() {
    // Says hello as version 1 of the messages has it, and waits for an answer.
    let script =
        r#"printf 'weft\001\000\002\000\000' >&${WEFT_JOB%%:*}; read -r <&${WEFT_JOB%%:*}"#;
    let job = launch(["-n", "2", "--program", "bash", "--", "-c", script]);
    assert_eq!(job.status, 1, "{job:?}");
    assert_eq!(job.err.lines().count(), 1, "{job:?}");
    assert!(
        job.err.contains("it speaks version 1 of Weft's messages where this program speaks "),
        "{job:?}"
    );
    assert!(job.err.contains("take both from the same release"), "{job:?}");
}

#[test]
fn the_first_rank_reads_what_the_launcher_was_given() {
    use std::io::Write;
    use std::process::Stdio;
    let mut command = testee();
    command.args(["launch", "-n", "2", "--label", "stdin"]);
    let mut job = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    job.stdin.take().unwrap().write_all(b"a line\n").unwrap();
    let output = job.wait_with_output().unwrap();
    let out = String::from_utf8(output.stdout).unwrap();
    assert!(out.contains("[0] read \"a line\\n\"\n"), "{out}");
    assert!(out.contains("[1] read \"\"\n"), "{out}");
}

#[test]
fn a_rank_has_its_streams_its_socket_its_memory_and_nothing_else() {
    // What the test itself has inherited goes through to everything that it starts.
    let output = testee().arg("absent-descriptors").output().unwrap();
    let usual = count_descriptors(&String::from_utf8(output.stdout).unwrap());
    let job = launch_words("-n 2 descriptors");
    let lists: Vec<_> = job.out.lines().filter(|line| line.starts_with("descriptors")).collect();
    assert_eq!(lists.len(), 2, "{job:?}");
    for list in lists {
        let (all, sockets, memory) = count_descriptors(list);
        assert_eq!((all, sockets, memory), (usual.0 + 2, usual.1 + 1, usual.2 + 1), "{list}");
    }
}

/// Descriptors in a list, and sockets and shared memory among them.
fn count_descriptors(list: &str) -> (usize, usize, usize) {
    let count = |what: &str| list.matches(what).count();
    (count("\"") / 2, count("\"socket:"), count("\"/memfd:"))
}

#[test]
fn a_bound_rank_has_one_core() {
    let job = launch_words("-n 3 --bind cores");
    assert_eq!(job.out.matches("cores 1\n").count(), 3, "{job:?}");
}

#[test]
fn ranks_of_one_host_get_sockets_if_they_are_asked_for() {
    let job = launch_words("-n 3 --sockets network");
    assert_eq!((job.status, job.err.as_str()), (0, ""));
    for rank in 0..3 {
        let line = format!("{rank} of 3 on host 0 (");
        assert!(
            job.out.lines().any(|said| said.starts_with(&line) && said.ends_with("heard all")),
            "{}",
            job.out
        );
    }
    let without = launch_words("-n 1 network");
    assert_eq!(without.status, 101, "a behaviour that only ranks with sockets have");
}
