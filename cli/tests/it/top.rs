//! `weft top --record`, and its key, which records: what is read back of a job whose doings are
//! known.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use weft_launch::{Question, Snapshot};
use weft_report::Analysis;
use weft_trace::{Trace, What};

use crate::common::mpi::{compile, mpirun, open_mpis};
use crate::visit::visit;

/// Longest wait for what has to come.
const PATIENCE: Duration = Duration::from_secs(60);

/// A job of two ranks: again and again rank 0 computes for 20 ms, and sends rank 1 a message.
struct Running {
    launcher: Child,
    job: u32,
}

impl Running {
    fn start(words: &[&str], folder: &Path) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_weft"));
        command.args(["run", "-n", "2"]).args(words).current_dir(folder);
        Self::of(command.args(["--", env!("CARGO_BIN_EXE_weft-testee"), "steps"]))
    }

    /// Starts one that says when its ranks have met, and its process if that is not its launcher's.
    fn of(command: &mut Command) -> Self {
        let command = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut launcher = command.spawn().unwrap();
        let mut out = BufReader::new(launcher.stdout.take().unwrap());
        let mut line = String::new();
        // Who has met the other has joined.
        while !line.contains("has met all") {
            line.clear();
            assert!(out.read_line(&mut line).unwrap() > 0, "it ended");
        }
        std::thread::spawn(move || std::io::copy(&mut out, &mut std::io::sink()));
        let job = line.split_whitespace().next().and_then(|word| word.parse().ok());
        let job = job.unwrap_or(launcher.id());
        Running { launcher, job }
    }

    fn id(&self) -> String {
        self.job.to_string()
    }

    fn look(&self) -> Snapshot {
        weft_launch::ask(self.job, Question::Snapshot).unwrap().snapshot().unwrap()
    }

    /// Bytes that rank 0 has sent, as the job says itself, once it does.
    fn bytes_sent(&self) -> u64 {
        let until = Instant::now() + PATIENCE;
        loop {
            let counts = self.look().ranks.first().and_then(|rank| rank.counts);
            match counts {
                Some(counts) => return counts.bytes_sent,
                None => assert!(Instant::now() < until),
            }
        }
    }

    fn end(&mut self) {
        let launcher = Pid::from_raw(self.launcher.id().cast_signed()).unwrap();
        kill_process(launcher, Signal::TERM).unwrap();
        self.launcher.wait().unwrap();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // A test that fails leaves no job behind.
        if let Ok(None) = self.launcher.try_wait() {
            self.end();
        }
    }
}

fn weft(words: &[&str], folder: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_weft"));
    command.args(words).current_dir(folder).stdin(Stdio::null()).output().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8([&output.stdout[..], &output.stderr].concat()).unwrap()
}

fn json_of(folder: &Path, file: &str) -> Value {
    let output = weft(&["report", file, "--json"], folder);
    assert!(output.status.success(), "{}", said(&output));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Checks what a recording says of the job: rank 1 waits for rank 0, which computes.
fn is_known(found: &Value) {
    let ns = |rank: usize, what: &str| found["time"][rank][what].as_u64().unwrap();
    let total = |rank: usize| ns(rank, "end_ns") - ns(rank, "begin_ns");
    assert!(2 * ns(0, "computing_ns") > total(0), "{found}");
    assert!(2 * (ns(1, "asleep_ns") + ns(1, "waiting_ns")) > total(1), "{found}");
    assert_eq!(found["time"][1]["waits_for"][0]["rank"], 0, "{found}");
    let verdict = found["verdict"][0].as_str().unwrap();
    assert!(verdict.contains("for rank 0"), "{verdict}");
    let kind = found["wait_kinds"][0]["text"].as_str().unwrap();
    assert!(kind.contains("a message on port 'steps'"), "{kind}");
    let counter =
        |rank: usize, name: &str| found["sampled"]["counters"][rank][name].as_u64().unwrap();
    let [sent, received] = [counter(0, "packets_sent"), counter(1, "packets_received")];
    assert!(sent > 0 && received > 0 && counter(0, "bytes_sent") >= sent, "{found}");
    // Each message ends one wait.
    assert!(ns(1, "waits") <= received + 2, "{found}");
    assert_eq!(found["traffic"]["matrix"], json!([]));
}

#[test]
fn a_recording_shows_what_the_ranks_did() {
    let folder = tempfile::tempdir().unwrap();
    let job = Running::start(&[], folder.path());
    let before = job.bytes_sent();
    let output = weft(&["top", &job.id(), "--record", "run.weft", "--for", "1s"], folder.path());
    assert!(output.status.success(), "{}", said(&output));
    let after = job.bytes_sent();
    let told = said(&output);
    assert!(told.contains("1.0 s of this job are in run.weft, in "), "{told}");
    assert!(told.ends_with("`weft report run.weft` shows them\n"), "{told}");
    let found = json_of(folder.path(), "run.weft");
    is_known(&found);
    let bytes = found["sampled"]["counters"][0]["bytes_sent"].as_u64().unwrap();
    assert!(bytes <= after - before, "{bytes} of {}", after - before);
    let over_time = found["sampled"]["over_time"]["bytes_sent"][0].as_array().unwrap();
    let sum: f64 = over_time.iter().map(|bytes| bytes.as_f64().unwrap()).sum();
    assert!((sum - bytes as f64).abs() < 1.0, "{sum}, {bytes}");
    let text = said(&weft(&["report", "run.weft", "--text"], folder.path()));
    assert!(text.contains("sampled, not traced: 1,000 looks a second asked for"), "{text}");
    // The page says so, too, and has nothing of what is not known.
    let trace = Trace::open(&folder.path().join("run.weft")).unwrap();
    assert!(!trace.ranks[0].events.iter().any(|event| matches!(event.what, What::Sent(_))));
    let told = visit(&Analysis::new(&trace), &json!({"acts": "sampled"}));
    assert_eq!(told["errors"], json!([]));
    assert!(told["sampled"].as_str().unwrap().starts_with("Sampled, not traced: 1,000 looks"));
    assert_eq!(told["shown"], json!([]), "what only traces have");
    assert_eq!(told["counters"].as_array().unwrap().len(), 2);
}

#[test]
fn a_rank_of_mpi_that_tests_seldom_is_recorded_as_one_that_waits() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("seldom");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/seldom.c");
    compile(&open_mpis("mpicc"), &[source], &[], &program);
    let job = Running::of(mpirun("-n 2 --oversubscribe", &folder).arg(&program));
    let listed = said(&weft(&["ps"], folder.path()));
    assert!(
        listed.contains(&format!("{}\t2 ranks of {}, for ", job.id(), program.display())),
        "{listed}"
    );
    // Once it has tested for some time, others know of it.
    let until = Instant::now() + PATIENCE;
    while !job.look().ranks[1].state.to_string().contains("a message of rank 0 with tag 7") {
        assert!(Instant::now() < until, "{:?}", job.look());
        std::thread::yield_now();
    }
    let output = weft(&["top", &job.id(), "--record", "run.weft", "--for", "1s"], folder.path());
    assert!(output.status.success(), "{}", said(&output));
    let found = json_of(folder.path(), "run.weft");
    let ns = |rank: usize, what: &str| found["time"][rank][what].as_u64().unwrap();
    assert_eq!((ns(0, "waits"), ns(0, "asleep_ns")), (0, 0), "{found}");
    assert!(10 * ns(1, "computing_ns") < ns(1, "end_ns"), "it tests all the time: {found}");
    assert_eq!(found["time"][1]["waits_for"][0]["rank"], 0, "{found}");
    // What has come, and nobody wants, is no part of that.
    let kinds = found["wait_kinds"].as_array().unwrap();
    assert_eq!(kinds.len(), 1, "{kinds:?}");
    assert_eq!(kinds[0]["text"], "a message of rank # with tag #");
    let verdict = found["verdict"][0].as_str().unwrap();
    assert!(verdict.starts_with("Rank 1 waits for rank 0 in "), "{verdict}");
}

#[test]
fn a_job_that_ends_meanwhile_leaves_what_was_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let mut job = Running::start(&[], folder.path());
    let recorder = Command::new(env!("CARGO_BIN_EXE_weft"))
        .args(["top", &job.id(), "--record", "run.weft", "--for", "60s"])
        .current_dir(folder.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let file = folder.path().join("run.weft");
    let until = Instant::now() + PATIENCE;
    let events = || Trace::open(&file).map_or(0, |trace| trace.ranks[1].events.len());
    while events() < 10 {
        assert!(Instant::now() < until);
        std::thread::yield_now();
    }
    job.end();
    let output = recorder.wait_with_output().unwrap();
    assert!(output.status.success());
    let told = said(&output);
    assert!(told.contains(" are in run.weft, until the job ended, in "), "{told}");
    assert!(json_of(folder.path(), "run.weft")["events"].as_u64() >= Some(10));
}

#[test]
fn a_recording_that_cannot_be_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let job = Running::start(&["--trace=whole.weft"], folder.path());
    let output = weft(&["top", &job.id(), "--record", "no/such/file"], folder.path());
    assert_eq!(output.status.code(), Some(1));
    let told = said(&output);
    assert!(told.contains("cannot write no/such/file: No such file or directory"), "{told}");
    assert!(told.contains("this job was started with --trace") && told.contains("in whole.weft"));
    let output = weft(&["top", "1", "--record", "run.weft"], folder.path());
    assert!(said(&output).contains("1 is no job of yours on this host"), "{}", said(&output));
    let output = weft(&["top", "--record", "run.weft", "--for", "2h"], folder.path());
    assert!(said(&output).contains("it is a time from 100ms to 1m, such as"), "{}", said(&output));
    assert!(!folder.path().join("run.weft").exists());
}

/// A terminal, as `script` makes one for a command: keys go in, and what is drawn comes out.
#[test]
fn the_key_records_two_seconds() {
    let folder = tempfile::tempdir().unwrap();
    let job = Running::start(&[], folder.path());
    let mut terminal = Command::new("script")
        .args(["--quiet", "--return", "--command"])
        .arg(format!("stty rows 24 cols 160; {} top {}", env!("CARGO_BIN_EXE_weft"), job.id()))
        .arg("/dev/null")
        .env("TERM", "xterm-256color")
        .current_dir(folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut keys = terminal.stdin.take().unwrap();
    std::io::Write::write_all(&mut keys, b"r").unwrap();
    let file = folder.path().join(format!("weft-{}.trace", job.id()));
    let until = Instant::now() + PATIENCE;
    let mut drawn = terminal.stdout.take().unwrap();
    let reader = std::thread::spawn(move || {
        let mut all = Vec::new();
        let _ = std::io::Read::read_to_end(&mut drawn, &mut all);
        String::from_utf8_lossy(&all).into_owned()
    });
    let duration = || {
        let trace = Trace::open(&file).ok()?;
        Some(Analysis::new(&trace).findings.duration_ns)
    };
    while duration() < Some(2_000_000_000) {
        assert!(Instant::now() < until, "{:?}", std::fs::read_dir(folder.path()));
        std::thread::yield_now();
    }
    std::io::Write::write_all(&mut keys, b"q").unwrap();
    assert!(terminal.wait().unwrap().success());
    let drawn = reader.join().unwrap();
    assert!(drawn.contains("recording into weft-"), "{drawn}");
    is_known(&json_of(folder.path(), file.to_str().unwrap()));
}
