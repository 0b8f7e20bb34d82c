//! Processes that ranks started and left behind end with the job.

mod common;

use common::{launch, launch_words};
use std::collections::BTreeSet;
use std::path::Path;

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
    let job = launch(["-n", "2", "--program", "bash", "--", "-c", &script]);
    assert_eq!(job.status, 0, "{job:?}");
    let processes: BTreeSet<_> = job.processes().into_iter().collect();
    assert_eq!(processes.len(), 4, "{job:?}");
    for process in processes {
        assert!(!Path::new(&format!("/proc/{process}")).exists(), "{job:?}");
    }
}
