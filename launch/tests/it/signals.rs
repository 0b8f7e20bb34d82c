//! Signals from outside, and the end of the launcher itself.

use crate::common::Running;
use rustix::process::Signal;

#[test]
fn a_wish_to_stop_reaches_every_rank() {
    for signal in [Signal::TERM, Signal::INT] {
        let mut job = Running::start("-n 3 spin", 3);
        job.signal(signal);
        let (status, err) = job.wait();
        assert_eq!(status, 128 + signal.as_raw());
        let name = weft_launch::signal_name(signal.as_raw());
        let line = format!("weft: the job was ended by signal {} ({name})\n", signal.as_raw());
        assert_eq!(err, line);
        job.assert_ranks_gone();
    }
}

#[test]
fn ranks_that_do_not_listen_are_killed() {
    let mut job = Running::start("-n 2 deaf", 2);
    job.signal(Signal::TERM);
    let (status, _) = job.wait();
    assert_eq!(status, 128 + 15);
    job.assert_ranks_gone();
}

#[test]
fn other_signals_are_passed_on() {
    for signal in [Signal::HUP, Signal::QUIT, Signal::USR1, Signal::USR2] {
        let mut job = Running::start("-n 2 spin", 2);
        job.signal(signal);
        let (status, _) = job.wait();
        assert_eq!(status, 128 + signal.as_raw());
        job.assert_ranks_gone();
    }
}

#[test]
fn a_stopped_job_goes_on_when_it_is_told_to() {
    Running::start("-n 2 spin", 2).assert_goes_on_after_a_stop();
}

#[test]
fn a_killed_launcher_leaves_no_ranks() {
    let mut job = Running::start("-n 3 deaf", 3);
    job.signal(Signal::KILL);
    assert_eq!(job.wait().0, -9);
    job.wait_for_ranks();
}

#[test]
fn a_killed_launcher_leaves_no_programs_that_have_not_joined() {
    let mut job = Running::start("-n 2 absent-named", 2);
    job.signal(Signal::KILL);
    assert_eq!(job.wait().0, -9);
    job.wait_for_ranks();
}

#[test]
fn a_killed_launcher_leaves_no_ranks_behind_wrappers() {
    let exe = env!("CARGO_BIN_EXE_weft-launch-testee");
    let script = format!("{exe} deaf; true");
    let mut job = Running::start_with(["-n", "2", "--program", "bash", "--", "-c", &script], 2);
    job.signal(Signal::KILL);
    assert_eq!(job.wait().0, -9);
    job.wait_for_ranks();
}
