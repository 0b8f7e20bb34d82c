//! Resources that run out, and what stands still for a while: one clear line and no success, or a
//! job that goes on; never a panic, a wait without an end, or anything that is left.
//!
//! The programs are built with the workspace (`make test` does that first). `WEFT_STOP_S` says for
//! how many seconds ranks are stopped.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use crate::common::{Running, assert_one_line, text};
use rustix::process::{Signal, kill_process};
use weft_netns::{Cluster, Options, available};

const WEFT: &str = env!("CARGO_BIN_EXE_weft");
const TESTEE: &str = env!("CARGO_BIN_EXE_weft-testee");
/// End of a script of `sh`: the command that follows takes its place.
const GO: &str = "exec \"$0\" \"$@\"";

/// A job whose launcher, and with it all ranks, have a limit.
fn limited(limit: &str, words: &str) -> Output {
    let mut command = Command::new("sh");
    command.args(["-c", &format!("{limit} && {GO}"), WEFT, "run"]);
    command.args(words.split_whitespace()).stdin(Stdio::null()).output().unwrap()
}

/// A job whose ranks have a limit, and the launcher has not.
fn with_limited_ranks(limit: &str, ranks: u16, mode: &str) -> Output {
    let mut command = Command::new(WEFT);
    command.args(["run", "-n", &ranks.to_string(), "--", "sh", "-c"]);
    command.args([&format!("{limit} && {GO}"), TESTEE, mode]);
    command.stdin(Stdio::null()).output().unwrap()
}

/// Asserts that a job ended with this one line and no success.
fn assert_refused(output: &Output, words: &[&str]) {
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success(), "{errors}");
    assert!(errors.starts_with("weft: "), "{errors}");
    assert_one_line(&errors, words);
}

#[test]
fn a_low_limit_on_open_files_is_raised_and_a_hard_one_is_said() {
    let words = format!("-n 8 -- {TESTEE} end");
    let output = limited("ulimit -S -n 20", &words);
    assert!(output.status.success(), "{}", text(&output));
    // The number under which a rank finds its socket is usually higher than that.
    let output = limited("ulimit -n 90", &words);
    assert!(output.status.success(), "{}", text(&output));
    for limit in [4, 6, 9, 14, 20, 30, 45] {
        let output = limited(&format!("ulimit -n {limit}"), &words);
        let said = "Too many open files (os error 24); raise the limit on open files: ulimit -n";
        assert_refused(&output, &[said]);
        assert_eq!(text(&output).matches("os error").count(), 1, "{}", text(&output));
    }
}

/// The memory of a host has one descriptor, and no others are left open while it is mapped.
#[test]
fn ranks_of_one_host_need_one_file_more_however_many_they_are() {
    let output = with_limited_ranks("ulimit -n 4", 16, "end");
    assert!(output.status.success(), "{}", text(&output));
}

#[test]
fn files_that_may_not_be_long_enough_are_said() {
    let output = limited("ulimit -f 1", &format!("-n 4 -- {TESTEE} end"));
    assert_refused(&output, &["cannot create the shared memory of 4 ranks", "ulimit -f"]);
    if available() {
        let two = Cluster::new(2, Options::default()).unwrap();
        let output = two
            .host(0)
            .command("sh")
            .args(["-c", &format!("ulimit -f 1 && {GO}"), WEFT])
            .args(["run", "--link", "xdp", "--hosts", "a:1,b:1", "--", TESTEE, "end"])
            .env("WEFT_RSH", two.remote_shell())
            .output()
            .unwrap();
        assert_refused(&output, &["AF_XDP on eth0: making memory for frames: File too large"]);
    }
}

#[test]
fn a_full_dev_shm_is_no_hindrance() {
    if !available() {
        return;
    }
    let full = "mount -t tmpfs -o size=4k none /dev/shm && head -c 4k /dev/zero > /dev/shm/full";
    let output = Command::new("unshare")
        .args(["--mount", "sh", "-c", &format!("{full} && {GO}"), WEFT])
        .args(["run", "-n", "4", "--", TESTEE, "end"])
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", text(&output));
}

/// From too little memory for the program itself to enough for all of it.
#[test]
fn ranks_that_may_have_too_little_memory_say_so() {
    let said = [
        "error while loading shared libraries",
        "Cannot allocate memory",
        "memory allocation of ",
        "raise the limit on",
    ];
    let (mut refused, mut done) = (0, 0);
    for limit_kib in (8_000..=64_000).step_by(4_000) {
        let output = with_limited_ranks(&format!("ulimit -v {limit_kib}"), 2, "end");
        if output.status.success() {
            done += 1;
            continue;
        }
        let errors = String::from_utf8_lossy(&output.stderr);
        let last = errors.lines().last().unwrap();
        assert!(last.starts_with("weft: rank "), "{limit_kib}: {errors}");
        if refused == 0 && last.contains("(SIGSEGV)") {
            // The end that the system gives a program that it cannot even load.
            continue;
        }
        refused += 1;
        assert!(said.iter().any(|words| last.contains(words)), "{limit_kib}: {errors}");
    }
    assert!(refused > 0 && done > 0, "{refused} jobs had too little memory, {done} had enough");
}

#[test]
fn a_launcher_that_may_have_too_little_memory_says_so() {
    let output = limited("ulimit -v 60000", &format!("-n 64 -- {TESTEE} end"));
    let said = "Cannot allocate memory (os error 12); raise the limit on memory (ulimit -v)";
    assert_refused(&output, &["cannot create the shared memory of 64 ranks", said]);
}

#[test]
fn an_allocation_that_fails_is_the_last_word() {
    let output = Command::new(WEFT)
        .args(["run", "-n", "2", "--", TESTEE, "greedy"])
        .env("RUST_BACKTRACE", "1")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(128 + 6), "{errors}");
    let last = errors.lines().last().unwrap();
    assert!(last.starts_with("weft: rank 1 of 2 (pid "), "{errors}");
    let said = "was killed by signal 6 (SIGABRT); its last words: \"memory allocation of ";
    assert!(last.contains(said), "{errors}");
}

/// A group of processes that may have so much memory, gone when dropped.
struct Cgroup(PathBuf);

impl Cgroup {
    /// `None` where there can be none; the reason is said then.
    fn of_memory(bytes: u64) -> Option<Self> {
        let made = Self::try_of_memory(bytes);
        if made.is_none() {
            eprintln!("SKIPPED, because no cgroup that limits memory can be made here");
        }
        made
    }

    fn try_of_memory(bytes: u64) -> Option<Self> {
        let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
        let of = |line: &str| {
            let (_, rest) = line.split_once(':')?;
            let (controllers, path) = rest.split_once(':')?;
            let (root, limit, swap) = match controllers {
                "memory" => ("memory", "memory.limit_in_bytes", "memory.memsw.limit_in_bytes"),
                "" => ("", "memory.max", "memory.swap.max"),
                _ => return None,
            };
            let parent = Path::new("/sys/fs/cgroup").join(root).join(path.trim_start_matches('/'));
            let group = Cgroup(parent.join(format!("weft-test-{}", std::process::id())));
            fs::create_dir(&group.0).ok()?;
            fs::write(group.0.join(limit), bytes.to_string()).ok()?;
            // There need not be any swap.
            let swap_bytes = if root.is_empty() { 0 } else { bytes };
            let _ = fs::write(group.0.join(swap), swap_bytes.to_string());
            Some(group)
        };
        groups.lines().find_map(of)
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.0);
    }
}

#[test]
fn a_rank_that_the_system_kills_for_memory_is_named_with_the_reason() {
    let Some(group) = Cgroup::of_memory(96 << 20) else { return };
    let enter = format!("echo $$ > {}/cgroup.procs", group.0.display());
    let output = limited(&enter, &format!("-n 2 -- {TESTEE} grow"));
    let said = "was killed by signal 9 (SIGKILL) when memory was full";
    assert_refused(&output, &["weft: rank 1 of 2 (pid ", said]);
    assert_eq!(output.status.code(), Some(128 + 9));
}

/// Time for which a rank is stopped: longer than the usual silence.
fn stop() -> Duration {
    let asked = std::env::var("WEFT_STOP_S").ok().map(|text| text.parse().unwrap());
    asked.map_or(Duration::from_millis(1200), Duration::from_secs)
}

/// A job whose ranks check what they get.
fn on_one_host() -> Running {
    let mut command = Command::new(WEFT);
    command.args(["run", "-n", "2", "--", TESTEE, "checked"]);
    command.stdin(Stdio::piped());
    Running::start_this(command, 2)
}

/// Such jobs on two hosts, over each link.
fn on_two_hosts(silence_s: f64) -> impl Iterator<Item = (Cluster, Running)> {
    let links = if available() { &["udp", "xdp"][..] } else { &[] };
    links.iter().map(move |link| {
        let two = Cluster::new(2, Options::default()).unwrap();
        let words = format!("--link {link} --hosts a:1,b:1 --silence {silence_s}");
        let job = Running::start_checked(&two, &words, 2);
        (two, job)
    })
}

/// Asserts that a job goes on after this was done to it, and that nobody has anything to say.
fn assert_bears(mut job: Running, what: impl Fn(&Running)) {
    job.chats();
    what(&job);
    // More than can have been written before.
    (0..10).for_each(|_| job.chats());
    let (_, errors) = job.end_checked();
    assert_eq!(errors, "");
}

#[test]
fn a_rank_that_is_stopped_is_waited_for_within_its_silence() {
    let stop_one = |job: &Running| {
        kill_process(job.ranks[1].1, Signal::STOP).unwrap();
        // How long it stands still is what this is about.
        std::thread::sleep(stop());
        kill_process(job.ranks[1].1, Signal::CONT).unwrap();
    };
    assert_bears(on_one_host(), stop_one);
    for (_two, job) in on_two_hosts(10.0 * stop().as_secs_f64()) {
        assert_bears(job, stop_one);
    }
}

#[test]
fn a_rank_that_stays_stopped_is_lost_after_its_silence() {
    for (_two, mut job) in on_two_hosts(0.5) {
        job.chats();
        kill_process(job.ranks[1].1, Signal::STOP).unwrap();
        let (errors, status) = job.finish();
        assert_one_line(&errors, &["rank 1 could not be reached for 0.5 s"]);
        assert_ne!(status, Some(0));
    }
}

#[test]
fn an_interface_that_goes_down_and_returns_loses_nothing() {
    for (two, job) in on_two_hosts(20.0) {
        assert_bears(job, |_| {
            two.host(1).set_link(false).unwrap();
            // How long it is down is what this is about, and nothing tells when that is over.
            std::thread::sleep(Duration::from_millis(300));
            two.host(1).set_link(true).unwrap();
        });
    }
}
