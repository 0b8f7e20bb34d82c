//! Every way in which ranks end: the line, the exit status, and nobody left.

use crate::common::{launch, launch_words, without_process};
use weft_netns::write_script;

fn last_line(err: &str) -> String {
    without_process(err.lines().last().unwrap_or_default())
}

#[test]
fn ranks_that_leave_cleanly_end_the_job_in_silence() {
    let job = launch_words("-n 4 leave");
    assert_eq!((job.status, job.err.as_str()), (0, ""));
    job.assert_gone(4);
}

#[test]
fn a_job_of_the_most_ranks_runs() {
    let job = launch_words("-n 64 leave");
    assert_eq!((job.status, job.err.as_str()), (0, ""));
    job.assert_gone(64);
}

#[test]
fn a_rank_that_is_killed_is_named() {
    let job = launch_words("-n 4 spin spin kill=9 spin");
    assert_eq!(job.status, 137);
    let line = "weft: rank 2 of 4 was killed by signal 9 (SIGKILL); its last words: \"about to die\"; \
                the other 3 ranks ended";
    assert_eq!(last_line(&job.err), line);
    job.assert_gone(4);
}

#[test]
fn the_line_gives_process_and_host() {
    let job = launch_words("-n 1 kill=6");
    let process = job.processes()[0];
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let line = format!("weft: rank 0 of 1 (pid {process}, host {host}) was killed by signal 6 ");
    assert!(job.err.lines().last().unwrap().starts_with(&line), "{}", job.err);
}

#[test]
fn an_exit_status_is_passed_on() {
    let job = launch_words("-n 2 exit=3 deaf");
    assert_eq!(job.status, 3);
    let line = "weft: rank 0 of 2 exited with status 3; its last words: \"about to exit\"; the other rank ended";
    assert_eq!(last_line(&job.err), line);
    job.assert_gone(2);
}

#[test]
fn a_panic_is_repeated_without_the_advice_that_follows_it() {
    let job = launch_words("-n 1 panic");
    assert_eq!(job.status, 101);
    let line =
        "weft: rank 0 of 1 exited with status 101; its last words: \"row 17 is out of range\"";
    assert_eq!(last_line(&job.err), line);
}

#[test]
fn an_exit_that_was_not_announced_is_a_failure() {
    let job = launch_words("-n 3 early spin spin");
    assert_eq!(job.status, 1);
    let line = "weft: rank 0 of 3 exited with status 0 before the job ended (it left without saying so: \
                a program in C calls weft_leave, which returns WEFT_OK, before it ends; one in Rust returns \
                from main instead of calling exit); the other 2 ranks ended";
    assert_eq!(last_line(&job.err), line);
    job.assert_gone(3);
}

#[test]
fn survivors_that_report_a_loss_are_not_blamed_for_it() {
    let job = launch_words("-n 4 --grace-ms 60000 survivor survivor survivor kill=9");
    let heard = "heard that rank 3 was killed by signal 9 (SIGKILL)\n";
    assert_eq!(job.out.matches(heard).count(), 3, "{job:?}");
    assert_eq!(job.status, 137);
    let line = "weft: rank 3 of 4 was killed by signal 9 (SIGKILL); its last words: \"about to die\"; \
                the other 3 ranks ended";
    assert_eq!(last_line(&job.err), line);
    job.assert_gone(4);
}

#[test]
fn programs_that_are_not_wefts_are_recognised() {
    let job = launch(["-n", "2", "--program", "true"]);
    assert_eq!(job.status, 1);
    assert_eq!(job.err, "weft: true exited without joining the job: is it a Weft program?\n");
}

#[test]
fn a_program_that_fails_before_it_joins_is_a_failed_rank() {
    let job = launch(["-n", "1", "--program", "false"]);
    assert_eq!(job.status, 1);
    assert_eq!(last_line(&job.err), "weft: rank 0 of 1 exited with status 1");
}

#[test]
fn a_rank_that_ends_without_joining_fails_the_others() {
    let job = launch_words("-n 3 leave leave absent=0");
    assert_eq!(job.status, 1);
    let line = "weft: rank 2 of 3 exited with status 0 without joining the job, which other ranks have joined; \
                the other 2 ranks ended";
    assert_eq!(last_line(&job.err), line);
}

#[test]
fn a_rank_that_does_not_join_in_time_ends_the_job() {
    let job = launch_words("-n 2 --join-limit-ms 250 absent-named");
    assert_eq!(job.status, 1);
    let line = last_line(&job.err);
    assert!(
        line.starts_with("weft: rank 0 of 2 has not joined the job within 0.25 s: is "),
        "{line}"
    );
    job.assert_gone(2);
}

#[test]
fn what_cannot_be_executed_is_said() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("program");
    write_script(&file, "#!/dev/null\n").unwrap();
    let job = launch(["-n", "2", "--program", file.to_str().unwrap()]);
    assert_eq!(job.status, 126);
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let line = format!(
        "weft: cannot start {} on {host}: Permission denied (os error 13)\n",
        file.display()
    );
    assert_eq!(job.err, line);
}

#[test]
fn what_cannot_be_found_is_said_with_where_it_was_looked_for() {
    let job = launch(["-n", "2", "--program", "no-such-program"]);
    assert_eq!(job.status, 2);
    assert!(
        job.err
            .starts_with("weft: cannot find the program \"no-such-program\": looked beside weft (")
    );
    assert_eq!(job.err.lines().count(), 1);
}

#[test]
fn no_ranks_and_too_many_are_refused() {
    for ranks in ["0", "1025"] {
        let job = launch(["-n", ranks, "leave"]);
        assert_eq!(job.status, 2);
        let line = format!("weft: {ranks} ranks were asked for: a job on one host has 1 to 1024\n");
        assert_eq!(job.err, line);
    }
}
