//! Any process of a job is killed at any moment, be it the launcher, an agent, a process manager or
//! a rank: everybody else learns of it and ends, one line says who was lost, and nothing is left.
//!
//! A seed fixes the starter, the link, the program, the moment and the victim. `WEFT_KILLS` says
//! how many seeds are tried, from `WEFT_FIRST_KILL` on.

mod jobs;
mod times;

use super::ends::{Traces, await_end, name_of};
use super::*;
use crate::common::traces::{Draw, Process, ends_within, kill, variable_of};
use jobs::{Job, Jobs};
use rustix::process::Pid;
use std::fs::{self, File};
use std::io::{Read, Seek};
use std::time::Instant;
use times::{Times, now};

/// Kills in `make test`.
const KILLS: u64 = 200;
/// Names of processes of Weft's, and of ranks on it.
const OURS: [&str; 4] = ["weft", "weft-testee", "water", "transfers"];
/// Names of process managers and their helpers.
const MANAGERS: [&str; 4] = ["mpiexec.hydra", "hydra_pmi_proxy", "orterun", "orted"];
/// Variables in which a rank is told its number, by its starter.
const RANKS: [&str; 3] = ["WEFT_RANK", "PMI_RANK", "OMPI_COMM_WORLD_RANK"];

/// Kills one process of a job, and says what was left behind, if anything was.
fn kill_one(cluster: &Cluster, jobs: &Jobs, seed: u64, times: &mut Times) {
    let mut draw = Draw(seed);
    let job = Job::drawn(&mut draw);
    let traces = Traces::before(cluster, job.link);
    let mut command = traces.command(jobs.command(&job));
    // Files, which nobody has to read for their writers to go on.
    let [out, errors] = [(); 2].map(|()| tempfile::tempfile().unwrap());
    command.stdout(out.try_clone().unwrap()).stderr(errors.try_clone().unwrap());
    let mut launcher = command.spawn().unwrap();
    // The moment is what this is about.
    std::thread::sleep(Duration::from_micros(draw.below(job.starter.latest_us())));
    let mut processes = traces.processes();
    processes.retain(|(process, _)| may_be_killed(*process));
    let (killed, at) = (Instant::now(), now());
    let mut what = format!("kill {seed}: {}, nobody", job.text());
    let (rank, is_launcher);
    if processes.is_empty() {
        // It has not begun, or is over.
        (rank, is_launcher) = (None, true);
        launcher.kill().unwrap();
    } else {
        let (process, exit) = &processes[draw.below(processes.len() as u64) as usize];
        is_launcher = process.as_raw_nonzero().get() == launcher.id().cast_signed();
        rank = rank_of(*process);
        what = format!("kill {seed}: {}, {rank:?}, {}", job.text(), name_of(*process));
        kill(exit);
    }
    // Whoever was started meanwhile.
    processes.extend(traces.processes());
    if job.starter.is_foreign() {
        traces.wait_for(&processes, |one| is_ours(one.0) && !is_kept(one, &what), &what);
        // A remote shell may start a manager meanwhile.
        let seconds = if rank.is_some() { 5 } else { 0 };
        let mut managers = traces.processes();
        while !managers.is_empty() {
            end_managers(&managers, seconds, &what);
            managers = traces.processes();
        }
    }
    let gone = traces.wait(&processes, killed, &what);
    let status = launcher.wait().unwrap();
    let [out, errors] = [out, errors].map(text_of);
    if !status.success() && !is_launcher && !job.starter.is_foreign() {
        check_what_was_said(rank, &errors, &what);
    }
    let is_kill = !what.ends_with(", nobody");
    assert!(is_kill || matches!(status.code(), None | Some(0)), "{what}: {status}, {errors}");
    times.add(&job, at, gone, &out, &what);
    traces.check(&what);
}

/// Ends process managers whose ranks are gone, after so many seconds. Hydra's stay when a proxy of
/// theirs was killed, and now and then when a rank was, which is said then.
fn end_managers(managers: &[Process], seconds: i64, what: &str) {
    for manager in managers {
        let (process, end) = manager;
        if !ends_within(end, seconds) && seconds > 0 {
            println!("{what}: {process} had to be killed, {}", name_of(*process));
        }
        kill(end);
        await_end(manager, what);
    }
}

/// True of a rank that its manager keeps, which has lost a process and not noticed (hydra, now and
/// then): it waits for an answer, before it can know of any other rank.
fn is_kept((process, end): &Process, what: &str) -> bool {
    let is_kept = !ends_within(end, 5) && waits_for_manager(*process) == Some(true);
    if is_kept {
        println!("{what}: {process} is kept by its manager, {}", name_of(*process));
    }
    is_kept
}

/// True if a process reads from the socket to its process manager; `None` of one that has ended.
fn waits_for_manager(process: Pid) -> Option<bool> {
    // A call's number, then its arguments.
    let call = fs::read_to_string(format!("/proc/{process}/syscall")).ok()?;
    let mut words = call.split(' ');
    if words.next()?.parse() != Ok(libc::SYS_recvfrom) {
        return Some(false);
    }
    let reads = i32::from_str_radix(words.next()?.trim_start_matches("0x"), 16).ok()?;
    let told: i32 = variable_of(process, "PMI_FD")?.parse().ok()?;
    let [reads, told] =
        [reads, told].map(|file| fs::read_link(format!("/proc/{process}/fd/{file}")).ok());
    Some(reads.is_some() && reads == told)
}

/// Judges the words of a job that failed while its launcher lived. Those under process managers are
/// not judged here: managers end who would name the rank, ranks that have not joined each say what
/// the manager told them, and hydra says nothing now and then. `managers.rs` judges their words.
fn check_what_was_said(rank: Option<u16>, errors: &str, what: &str) {
    assert_eq!(errors.lines().count(), 1, "{what}: one clear line, not: {errors}");
    let is_named = rank.is_none_or(|rank| errors.contains(&format!("rank {rank} ")));
    assert!(is_named, "{what}: {errors}");
}

fn text_of(mut file: File) -> String {
    let mut bytes = Vec::new();
    file.rewind().unwrap();
    file.read_to_end(&mut bytes).unwrap();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// True unless the job goes on without this process, or waits for it for ever: a remote shell,
/// Hydra's child that is about to become one, or a question of `weft mpirun`'s to what it then does
/// not take.
fn may_be_killed(process: Pid) -> bool {
    let is_hydra = |process: Pid| file_of(process) == "mpiexec.hydra";
    if is_hydra(process) && common::parent_if_known(process).is_some_and(is_hydra) {
        return false;
    }
    is_ours(process)
        || MANAGERS.contains(&&*file_of(process)) && !name_of(process).contains("--version")
}

fn is_ours(process: Pid) -> bool {
    OURS.contains(&&*file_of(process))
}

/// Name of the file that a process executes.
fn file_of(process: Pid) -> String {
    let file = fs::read_link(format!("/proc/{process}/exe")).unwrap_or_default();
    file.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// The rank that a process is, if it is one and no longer on its way to be one.
fn rank_of(process: Pid) -> Option<u16> {
    RANKS.iter().find_map(|name| variable_of(process, name))?.parse().ok()
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap())
}

#[test]
fn nothing_is_left_whoever_is_killed_whenever() {
    let Some(two) = cluster(2) else { return };
    let (first, count) =
        (number("WEFT_FIRST_KILL").unwrap_or(1), number("WEFT_KILLS").unwrap_or(KILLS));
    let (jobs, mut times) = (Jobs::on(&two), Times::default());
    (first..first + count).for_each(|seed| kill_one(&two, &jobs, seed, &mut times));
    let told = times.print();
    assert!(count < KILLS || told.iter().all(|told| *told > 0), "nobody was told of anybody");
}
