use super::*;

fn failure(ranks: u16, fault: Fault, last_words: Option<&str>) -> Failure {
    Failure {
        rank: Rank(2),
        ranks,
        process: 1234,
        host: "h".into(),
        program: "asp".into(),
        fault,
        last_words: last_words.map(str::to_owned),
    }
}

fn failed(ranks: u16, fault: Fault, last_words: Option<&str>) -> JobOutcome {
    JobOutcome::of(Verdict::Failed(Box::new(failure(ranks, fault, last_words))))
}

#[test]
fn a_killed_rank_is_named_with_its_last_words() {
    let outcome = failed(4, Fault::Killed { signal: 9 }, Some("no row 17"));
    assert_eq!(
        outcome.to_string(),
        "rank 2 of 4 (pid 1234, host h) was killed by signal 9 (SIGKILL); \
         its last words: \"no row 17\"; the other 3 ranks ended"
    );
    assert_eq!(outcome.status(), 137);
}

#[test]
fn memory_that_cannot_be_had_is_a_reason() {
    let outcome = failed(2, Fault::OutOfMemory, None);
    assert_eq!(
        outcome.to_string(),
        "rank 2 of 2 (pid 1234, host h) was killed by signal 9 (SIGKILL) when memory was full, the \
         machine's or what the job's cgroup may have: allow it more, or run fewer ranks here; the \
         other rank ended"
    );
    assert_eq!(outcome.status(), 137);
    let outcome = failed(2, Fault::Killed { signal: 7 }, None);
    assert_eq!(
        outcome.to_string(),
        "rank 2 of 2 (pid 1234, host h) was killed by signal 7 (SIGBUS), as when memory that it has \
         mapped cannot be had: memory or a disk is full, or a file became shorter; the other rank ended"
    );
    assert_eq!(outcome.status(), 135);
}

#[test]
fn an_exit_status_is_passed_on() {
    let outcome = failed(3, Fault::Exited { status: 3 }, None);
    let line = "rank 2 of 3 (pid 1234, host h) exited with status 3; the other 2 ranks ended";
    assert_eq!(outcome.to_string(), line);
    assert_eq!(outcome.status(), 3);
}

#[test]
fn leaving_without_a_word_is_explained_and_is_a_failure() {
    let outcome = failed(2, Fault::LeftEarly, None);
    assert_eq!(
        outcome.to_string(),
        "rank 2 of 2 (pid 1234, host h) exited with status 0 before the job ended (it left without \
         saying so: a program in C calls weft_leave, which returns WEFT_OK, before it ends; one in \
         Rust returns from main instead of calling exit); the other rank ended"
    );
    assert_eq!(outcome.status(), 1);
}

#[test]
fn every_other_fault_has_its_line_and_status() {
    let line = |fault: Fault| failed(1, fault.clone(), None).to_string();
    let who = "rank 2 of 1 (pid 1234, host h)";
    let late = Fault::LateJoin { limit: Duration::from_secs(30) };
    assert_eq!(
        line(late.clone()),
        format!(
            "{who} has not joined the job within 30 s: is asp a Weft program? (--join-limit gives it longer)"
        )
    );
    assert_eq!(
        line(Fault::CannotStart { errno: 8 }),
        "cannot start asp on h: Exec format error (os error 8)"
    );
    assert_eq!(
        line(Fault::AsksOtherwise),
        format!(
            "{who} and a rank before it do not agree whether the job goes on after a loss: all programs of a \
             job ask for that when they join, or none, or say weft run --on-loss continue"
        )
    );
    assert_eq!(
        line(Fault::BadMessage("it ends too early".into())),
        format!("{who} sent the launcher a message that is unusable: it ends too early")
    );
    assert_eq!(failed(1, late, None).status(), 1);
    assert_eq!(failed(1, Fault::CannotStart { errno: 8 }, None).status(), 126);
}

#[test]
fn what_is_stuck_is_said_and_is_never_a_success() {
    let outcome = JobOutcome { stuck: vec![7, 9], ..JobOutcome::of(Verdict::Completed) };
    assert!(!outcome.is_silent());
    assert_eq!(outcome.status(), 1);
    assert_eq!(
        outcome.to_string(),
        "every rank left cleanly; killed but not gone, because the system holds them: process 7, 9"
    );
}

#[test]
fn a_job_that_went_on_without_a_rank_said_so_and_has_succeeded() {
    let lost = failure(4, Fault::Killed { signal: 9 }, Some("no row 17"));
    let who = "rank 2 of 4 (pid 1234, host h) was killed by signal 9 (SIGKILL); \
               its last words: \"no row 17\"";
    assert_eq!(lost.borne_by(3), format!("{who}; the job goes on with 3"));
    assert_eq!(lost.borne_by(0), format!("{who}; no other rank runs"));
    let outcome = JobOutcome { lost: vec![lost], ..JobOutcome::of(Verdict::Completed) };
    assert!(outcome.is_silent());
    assert_eq!(outcome.status(), 0);
    assert_eq!(outcome.to_string(), "every rank left cleanly but those that were lost: rank 2");
}
