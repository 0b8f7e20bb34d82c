//! `weft why` and `weft top` of jobs on several hosts: their agents say what the ranks there do.

use super::*;
use std::io::Read;
use std::process::Stdio;
use std::time::Instant;

/// Longest wait for the answer that has to come.
const PATIENCE: Duration = Duration::from_secs(60);

/// Answer of `weft why` on the first host, about the only job there.
fn why(cluster: &Cluster) -> String {
    weft(cluster, &["why"])
}

/// Words of `weft` on the first host.
fn weft(cluster: &Cluster, words: &[&str]) -> String {
    let mut command = cluster.host(0).command(env!("CARGO_BIN_EXE_weft"));
    text(&command.args(words).output().unwrap())
}

#[test]
fn a_look_shows_the_ranks_of_all_hosts() {
    let Some(two) = cluster(2) else { return };
    let mut job = Running::start_checked(&two, &format!("{UDP} --hosts a:2,b:2"), 4);
    let until = Instant::now() + PATIENCE;
    loop {
        job.chats();
        let said = weft(&two, &["top", "--once"]);
        let lines: Vec<_> = said.lines().collect();
        let is_shown = |rank: usize| {
            let cell = |column: usize| lines[2 + rank][10 * column..][..10].trim();
            cell(0) == rank.to_string() && cell(2) != "0" && cell(6) != "-"
        };
        // Those of the other host, too, have sent packets meanwhile, which were acknowledged.
        if lines.len() == 6 && lines[0].starts_with("4 ranks of ") && (0..4).all(is_shown) {
            break;
        }
        assert!(Instant::now() < until, "{said}");
    }
    job.end_checked();
}

#[test]
fn ranks_of_other_hosts_are_named() {
    let Some(two) = cluster(2) else { return };
    let words = format!("{UDP} --hosts a:2,b:2");
    let mut command = common::command(&two, &words, "weft-zoo two-away");
    let mut job = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let parts = ["ranks 1, 3 sleep, outside of Weft", "; ranks 0, 2 wait for them: barrier"];
    let until = Instant::now() + PATIENCE;
    loop {
        let said = why(&two);
        let verdict = said.lines().nth(1).unwrap_or_default();
        if said.starts_with("4 ranks of ") && parts.iter().all(|part| verdict.contains(part)) {
            break;
        }
        assert!(job.try_wait().unwrap().is_none() && Instant::now() < until, "{said}");
        std::thread::yield_now();
    }
    kill_process(Pid::from_raw(job.id().cast_signed()).unwrap(), Signal::TERM).unwrap();
    let ended = job.wait_with_output().unwrap();
    let said = String::from_utf8(ended.stderr).unwrap();
    let verdict = said.lines().find(|line| line.starts_with(&format!("weft: {}", parts[0])));
    // One look may find a thread of either awake, which a heartbeat has woken.
    let waits = [parts[1], "; rank 0 waits for them: barrier", "; rank 2 waits for them: barrier"];
    assert!(verdict.is_some_and(|line| waits.iter().any(|part| line.contains(part))), "{said}");
}

/// A job that is stopped by its end, whatever becomes of the test.
struct Cage(std::process::Child);

impl Drop for Cage {
    fn drop(&mut self) {
        let _ = kill_process(Pid::from_child(&self.0), Signal::TERM);
        let _ = self.0.wait();
    }
}

#[test]
fn stacks_of_ranks_on_other_hosts_are_told() {
    let Some(two) = cluster(2) else { return };
    let mut command = common::command(&two, &format!("{UDP} --hosts a:1,b:1"), "weft-zoo loop");
    let job = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut cage = Cage(job);
    let stacks = [
        "rank 1 computes or polls; its stack: weft_zoo::outside::computes (outside.rs:",
        "; its stack: weft::weft::Weft::barrier (weft.rs:",
        "), weft_zoo::main (main.rs:",
    ];
    let until = Instant::now() + PATIENCE;
    loop {
        let said = why(&two);
        if stacks.iter().all(|part| said.contains(part)) {
            break;
        }
        assert!(cage.0.try_wait().unwrap().is_none() && Instant::now() < until, "{said}");
        std::thread::yield_now();
    }
    // They are taken before the ranks hear of the signal, and said at the end.
    kill_process(Pid::from_child(&cage.0), Signal::TERM).unwrap();
    let mut said = String::new();
    cage.0.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert!(said.lines().any(|line| line.starts_with("weft: rank 1 computes")), "{said}");
}

#[test]
fn a_deadlock_between_hosts_ends_the_job_if_it_is_to() {
    let Some(two) = cluster(2) else { return };
    let words = format!("{UDP} --hosts a:1,b:1 --progress-limit 1 --on-deadlock end");
    let output = common::command(&two, &words, "weft-zoo cross").output().unwrap();
    let said = text(&output);
    assert_eq!(output.status.code(), Some(35), "{said}");
    assert!(said.contains("weft: deadlock: rank 0 waits for a message on port 'a'"), "{said}");
}
