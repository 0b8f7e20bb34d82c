//! `weft ps`, `weft why` and `weft kill`, and what a job says that is ended from outside.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

/// Longest wait for what has to come.
const PATIENCE: Duration = Duration::from_secs(60);

/// A job of four ranks, of which rank 2 waits for a message that nobody sends.
struct Running(Child);

impl Running {
    fn start() -> Self {
        Self::start_this(Path::new(env!("CARGO_BIN_EXE_weft-testee")))
    }

    /// The testee by this name.
    fn start_this(program: &Path) -> Self {
        let mut launcher = Command::new(env!("CARGO_BIN_EXE_weft"))
            .args(["run", "-n", "4", "--"])
            .arg(program)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut out = BufReader::new(launcher.stdout.take().unwrap());
        let mut line = String::new();
        out.read_line(&mut line).unwrap();
        assert!(line.contains("is process"), "{line}");
        // What else it prints is read, so that it goes on.
        std::thread::spawn(move || std::io::copy(&mut out, &mut std::io::sink()));
        Running(launcher)
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_raw(self.0.id().cast_signed()).unwrap(), signal).unwrap();
    }

    /// The answer of `weft why`, once it says that rank 2 waits.
    fn why(&self) -> String {
        let until = Instant::now() + PATIENCE;
        loop {
            let (code, said) = weft(&["why", &self.0.id().to_string()]);
            if code == Some(0) && said.lines().any(says_that_rank_2_waits) {
                return said;
            }
            assert!(Instant::now() < until, "{said}");
            std::thread::yield_now();
        }
    }

    /// Ends the job by a signal, of which it has the status. Returns what it has said.
    fn end(self) -> String {
        self.signal(Signal::TERM);
        self.has_ended(Some(128 + 15))
    }

    /// Last words of the job, which ends with this status.
    fn has_ended(mut self, status: Option<i32>) -> String {
        let mut said = String::new();
        self.0.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        assert_eq!(self.0.wait().unwrap().code(), status, "{said}");
        said
    }

    fn number(&self) -> String {
        self.0.id().to_string()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // A test that fails leaves no job behind.
        if let Ok(None) = self.0.try_wait() {
            self.signal(Signal::CONT);
            self.signal(Signal::TERM);
            let _ = self.0.wait();
        }
    }
}

fn says_that_rank_2_waits(line: &str) -> bool {
    line.contains("rank 2 waits for a message on port 'silence', for ")
}

/// The status of a command, and what it has said on either stream.
fn weft(words: &[&str]) -> (Option<i32>, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_weft")).args(words).output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8(said).unwrap())
}

#[test]
fn a_job_says_what_its_ranks_wait_for() {
    let job = Running::start();
    let first = job.why().lines().next().unwrap().to_owned();
    assert!(first.starts_with("4 ranks of "), "{first}");
    let own = job.0.id().to_string();
    let listed = weft(&["ps"]).1;
    let listed: Vec<_> = listed.lines().filter_map(|line| line.split_once('\t')).collect();
    assert!(listed.iter().any(|(job, what)| *job == own && what.starts_with("4 ranks of ")));
    let said = job.end();
    assert!(said.starts_with("weft: the job was ended by signal 15 (SIGTERM)\n"), "{said}");
    assert!(said.lines().any(says_that_rank_2_waits), "{said}");
    let (code, said) = weft(&["why", &own]);
    assert_eq!((code, said.contains("is no job of yours on this host")), (Some(1), true), "{said}");
}

#[test]
fn a_look_at_a_job_shows_its_ranks_and_their_packets() {
    let job = Running::start();
    job.why();
    let (code, said) = weft(&["top", "--once", &job.0.id().to_string()]);
    assert_eq!(code, Some(0), "{said}");
    let lines: Vec<_> = said.lines().collect();
    assert!(lines[0].starts_with("4 ranks of ") && lines.len() == 6, "{said}");
    let of = |rank: usize| lines[2 + rank].split_whitespace().collect::<Vec<_>>();
    assert!(lines[4].contains("waits for a message on port 'silence', for "), "{said}");
    // The others talk all the time.
    assert!((0..4).all(|rank| of(rank)[0] == rank.to_string()), "{said}");
    assert!(of(0)[2] != "0" && lines[2].contains(" Mi  "), "{said}");
    job.end();
}

#[test]
fn a_launcher_that_is_stopped_does_not_answer() {
    let job = Running::start();
    job.why();
    job.signal(Signal::STOP);
    let (code, said) = weft(&["why", &job.0.id().to_string()]);
    assert_eq!((code, said.contains("does not answer: is it stopped?")), (Some(1), true), "{said}");
    job.signal(Signal::CONT);
    job.end();
}

#[test]
fn what_is_no_job_is_said_to_be_none() {
    for command in ["why", "top"] {
        let (code, said) = weft(&[command, "abc"]);
        assert_eq!(code, Some(2), "{said}");
        assert!(said.contains("a job is a number, as `weft ps` lists it"), "{said}");
        let (code, said) = weft(&[command, "1"]);
        assert_eq!(code, Some(1), "{said}");
        assert_eq!(said, "weft: 1 is no job of yours on this host: `weft ps` lists them\n");
    }
    let (code, said) = weft(&["top", "--for", "3s"]);
    assert!(code == Some(2) && said.contains("--record <FILE>"), "{said}");
}

#[test]
fn a_job_is_ended_by_its_number_and_waited_for() {
    let job = Running::start();
    job.why();
    let number = job.number();
    let (code, said) = weft(&["kill", &number]);
    let line = format!("{number}\twas ended by SIGTERM: 4 ranks of ");
    assert_eq!((code, said.starts_with(&line), said.lines().count()), (Some(0), true, 1), "{said}");
    // It has gone before the command says so.
    assert!(!weft(&["ps"]).1.lines().any(|line| line.starts_with(&format!("{number}\t"))));
    assert!(
        job.has_ended(Some(128 + 15))
            .starts_with("weft: the job was ended by signal 15 (SIGTERM)\n")
    );
    let (code, said) = weft(&["kill", &number]);
    let none = format!("weft: {number} is no job of yours on this host: `weft ps` lists them\n");
    assert_eq!((code, said), (Some(1), none));
}

#[test]
fn a_job_that_is_stopped_is_ended_too() {
    let job = Running::start();
    job.why();
    job.signal(Signal::STOP);
    let number = job.number();
    let (code, said) = weft(&["kill", &number, "--signal", "term"]);
    assert_eq!((code, said), (Some(0), format!("{number}\twas ended by SIGTERM\n")));
    job.has_ended(Some(128 + 15));
}

#[test]
fn a_job_is_killed_with_its_launcher() {
    let job = Running::start();
    job.why();
    let (code, said) = weft(&["kill", "--signal", "SIGKILL", &job.number()]);
    assert!(code == Some(0) && said.contains("\twas ended by SIGKILL: 4 ranks of "), "{said}");
    job.has_ended(None);
}

#[test]
fn other_signals_are_passed_on_to_the_ranks() {
    let job = Running::start();
    job.why();
    let (code, said) = weft(&["kill", "-s", "10", &job.number()]);
    assert!(code == Some(0) && said.contains("\twas sent SIGUSR1: 4 ranks of "), "{said}");
    // The ranks do not handle it.
    let said = job.has_ended(Some(128 + 10));
    assert!(said.contains("the job was ended by signal 10 (SIGUSR1)"), "{said}");
}

#[test]
fn jobs_have_names_and_of_several_one_is_to_be_said() {
    let folder = tempfile::tempdir().unwrap();
    let name = format!("named-{}", std::process::id());
    let program = folder.path().join(&name);
    fs::hard_link(env!("CARGO_BIN_EXE_weft-testee"), &program)
        .or_else(|_| fs::copy(env!("CARGO_BIN_EXE_weft-testee"), &program).map(drop))
        .unwrap();
    let (one, other) = (Running::start_this(&program), Running::start_this(&program));
    let (code, said) = weft(&["kill", &name]);
    let begins = format!("weft: several jobs of yours run {name}: say which, of ");
    assert_eq!(
        (code, said.starts_with(&begins), said.lines().count()),
        (Some(1), true, 1),
        "{said}"
    );
    assert!(
        [&one, &other].iter().all(|job| said.contains(&format!("{} (4 ranks of ", job.number())))
    );
    let (code, said) = weft(&["kill", &one.number()]);
    assert_eq!(code, Some(0), "{said}");
    let (code, said) = weft(&["kill", &name]);
    assert!(code == Some(0) && said.starts_with(&format!("{}\t", other.number())), "{said}");
    one.has_ended(Some(128 + 15));
    other.has_ended(Some(128 + 15));
    let (code, said) = weft(&["kill", &name]);
    let none = format!("weft: no job of yours on this host runs {name}: `weft ps` lists them\n");
    assert_eq!((code, said), (Some(1), none));
}

/// The example of a command in the guide, which is the first line of JSON that names it.
fn example(command: &str) -> Value {
    let guide = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/guide/10-see.md"));
    let guide = guide.unwrap();
    let (_, behind) = guide.split_once(&format!("\n`weft {command} --json` prints one")).unwrap();
    serde_json::from_str(behind.lines().find(|line| line.starts_with('{')).unwrap()).unwrap()
}

/// Checks that a value has the fields and the types of the example, in each of its parts.
fn is_as_in(example: &Value, value: &Value, at: &str) {
    match (example, value) {
        // What is not always known.
        (Value::Null, _) | (_, Value::Null) => {}
        (Value::Object(fields), Value::Object(found)) => {
            assert!(fields.keys().eq(found.keys()), "{at}: {fields:?}, and not {found:?}");
            fields.iter().for_each(|(name, field)| is_as_in(field, &found[name], name));
        }
        (Value::Array(parts), Value::Array(found)) => {
            let first = parts.first().unwrap_or(&Value::Null);
            found.iter().for_each(|part| is_as_in(first, part, at));
        }
        _ => {
            let is_alike = example.is_number() == value.is_number()
                && example.is_string() == value.is_string()
                && example.is_boolean() == value.is_boolean()
                && example.is_f64() == value.is_f64();
            assert!(is_alike, "{at}: {value}, and in the guide {example}");
        }
    }
}

#[test]
fn programs_are_told_as_the_guide_says() {
    let job = Running::start();
    job.why();
    let number = job.number();
    let said = |words: &[&str]| {
        let (code, said) = weft(words);
        assert_eq!(code, Some(0), "{said}");
        said
    };
    let listed = said(&["ps", "--json"]);
    let mut listed = listed.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let process: u32 = number.parse().unwrap();
    let listed = listed.find(|listed| listed["job"] == process).unwrap();
    is_as_in(&example("ps"), &listed, "ps");
    assert_eq!(listed["ranks"], 4);
    let why: Value = serde_json::from_str(&said(&["why", "--json", &number])).unwrap();
    is_as_in(&example("why"), &why, "why");
    let second = &why["standings"][2];
    assert_eq!(
        (&second["state"], &second["waits_for"]),
        (&json!("waits"), &json!("a message on port 'silence'"))
    );
    assert!(second["since_us"].as_u64().is_some_and(|time| time > 0), "{why}");
    assert_eq!((&why["deadlocked"], &why["disagreeing"]), (&json!([]), &json!([])));
    let top: Value = serde_json::from_str(&said(&["top", "--once", "--json", &number])).unwrap();
    is_as_in(&example("top"), &top, "top");
    assert_eq!(top["ranks"].as_array().unwrap().len(), 4);
    assert_eq!(top["ranks"][2]["waits_for"], "a message on port 'silence'");
    assert!(top["ranks"][0]["packets_sent_per_second"].as_f64().is_some_and(|rate| rate > 0.0));
    // Object after object, until the job ends.
    let mut command = Command::new(env!("CARGO_BIN_EXE_weft"));
    command.args(["top", "--json", "--interval", "100ms", &number]).stdout(Stdio::piped());
    let mut looks = command.spawn().unwrap();
    let mut lines = BufReader::new(looks.stdout.take().unwrap()).lines();
    for _ in 0..2 {
        let line = lines.next().unwrap().unwrap();
        is_as_in(&example("top"), &serde_json::from_str(&line).unwrap(), "top");
    }
    job.end();
    assert!(lines.all(|line| line.is_ok()) && looks.wait().unwrap().success());
}

#[test]
fn who_reads_no_more_of_a_job_ends_the_looks_at_it() {
    let job = Running::start();
    job.why();
    let mut command = Command::new(env!("CARGO_BIN_EXE_weft"));
    command.args(["top", "--json", "--interval", "100ms", &job.number()]).stdout(Stdio::piped());
    let mut looks = command.spawn().unwrap();
    let mut out = BufReader::new(looks.stdout.take().unwrap());
    out.read_line(&mut String::new()).unwrap();
    drop(out);
    assert!(looks.wait().unwrap().success());
    job.end();
}

#[test]
fn a_job_whose_launcher_is_stopped_is_listed() {
    let job = Running::start();
    job.why();
    job.signal(Signal::STOP);
    let number = job.number();
    let line = format!("{number}\tdoes not answer: is it stopped?");
    assert!(weft(&["ps"]).1.lines().any(|listed| listed == line));
    let line = format!("{{\"job\":{number},\"program\":null,\"ranks\":null,\"running_us\":null}}");
    assert!(weft(&["ps", "--json"]).1.lines().any(|listed| listed == line));
    job.signal(Signal::CONT);
    job.end();
}
