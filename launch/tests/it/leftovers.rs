//! Processes that ranks started and left behind end with the job.

use crate::common::{self, launch_words};
use std::collections::BTreeSet;
use weft_launch::{JobSpec, Settings, Verdict, run};

#[test]
fn a_daemon_of_a_rank_ends_with_the_job() {
    let job = launch_words("-n 2 daemon");
    assert_eq!(job.status, 0, "{job:?}");
    job.assert_gone(4);
}

#[test]
fn what_a_wrapper_leaves_in_the_background_ends_with_it() {
    let exe = env!("CARGO_BIN_EXE_weft-launch-testee");
    let script = format!("{exe} absent-named & echo pid $!; {exe} leave");
    // In this process, which does not adopt: only the group of the wrapper leads to what it left.
    let directory = tempfile::tempdir().unwrap();
    let mut spec = JobSpec::new(Settings::new(1), "bash");
    spec.arguments = vec!["-c".into(), script.into()];
    spec.starter = exe.into();
    spec.output.directory = Some(directory.path().into());
    assert_eq!(run(&spec, || {}).unwrap().verdict, Verdict::Completed);
    let out = std::fs::read_to_string(directory.path().join("rank-0.out")).unwrap();
    let processes: BTreeSet<_> = common::processes_in(&out).into_iter().collect();
    assert_eq!(processes.len(), 2, "{out}");
    for process in processes {
        common::wait_until_gone(process);
    }
}
