//! `weft run --door`: processes that a job has not started join it, and whatever ends it, or them,
//! leaves nothing and is said.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::common::{assert_one_line, built, text};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

const WEFT: &str = env!("CARGO_BIN_EXE_weft");
/// Longest wait for what has to come.
const PATIENCE: Duration = Duration::from_secs(60);

/// A job with a door, which may be of several hosts.
pub struct House {
    launcher: Child,
    folder: TempDir,
}

impl House {
    /// The job that this command begins, given its door.
    pub fn start(command: impl FnOnce(&Path) -> Command) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut command = command(&folder.path().join("door"));
        let launcher = piped(&mut command).spawn().unwrap();
        let house = House { launcher, folder };
        house.await_that("its door is there", || house.door().exists());
        house
    }

    /// Two ranks of the example, with room for four.
    fn of_example(words: &[&str]) -> Self {
        House::start(|door| {
            let mut command = Command::new(WEFT);
            command.args(["run", "-q", "-n", "2", "--room", "4", "--door"]).arg(door);
            command.args(words).arg("--").arg(built("weft-example")).arg("door");
            command
        })
    }

    pub fn door(&self) -> PathBuf {
        self.folder.path().join("door")
    }

    /// Another process of the example, which knocks there.
    fn visitor(&self, door: &str) -> Child {
        let mut command = Command::new(built("weft-example"));
        piped(command.arg("door").env("WEFT_DOOR", door)).spawn().unwrap()
    }

    fn await_that(&self, what: &str, is_so: impl Fn() -> bool) {
        let until = Instant::now() + PATIENCE;
        while !is_so() {
            assert!(Instant::now() < until, "waited too long until {what}");
            std::thread::yield_now();
        }
    }

    /// Waits until this number of ranks have joined.
    fn await_ranks(&self, ranks: usize) {
        self.await_that("its ranks have joined", || {
            let ps = Command::new(WEFT).args(["why", &self.launcher.id().to_string()]).output();
            let said = text(&ps.unwrap());
            said.starts_with(&format!("{ranks} ranks of ")) && !said.contains("not joined")
        });
    }

    fn signal(&self, signal: Signal) {
        kill_process(pid(&self.launcher), signal).unwrap();
    }

    /// Output of the job and of its visitors in the end; the door is gone.
    pub fn end(self, visitors: Vec<Child>) -> (Output, Vec<Output>) {
        let visitors = visitors.into_iter().map(|it| it.wait_with_output().unwrap()).collect();
        let output = self.launcher.wait_with_output().unwrap();
        let left = self.folder.path().read_dir().unwrap().count();
        assert_eq!(left, 0, "of the door something is left: {}", text(&output));
        (output, visitors)
    }
}

fn piped(command: &mut Command) -> &mut Command {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped())
}

fn pid(child: &Child) -> Pid {
    Pid::from_raw(child.id().cast_signed()).unwrap()
}

/// Asserts that these have all met, by what they wrote.
pub fn assert_met(outputs: &[&Output], ranks: u16) {
    let said: String = outputs.iter().map(|output| text(output)).collect();
    let all: Vec<_> = (0..ranks).collect();
    let mut met: Vec<_> = said.lines().filter(|line| line.contains(" has met ")).collect();
    met.sort_unstable();
    let expected = all.iter().map(|rank| format!("rank {rank} has met ranks {all:?}"));
    assert_eq!(met, expected.collect::<Vec<_>>(), "{said}");
    assert!(outputs.iter().all(|output| output.status.success()), "{said}");
}

#[test]
fn visitors_become_ranks_by_the_file_and_by_the_text() {
    let house = House::of_example(&[]);
    let (file, text) = (house.door(), std::fs::read_to_string(house.door()).unwrap());
    let visitors = vec![house.visitor(file.to_str().unwrap()), house.visitor(text.trim_end())];
    let (output, visitors) = house.end(visitors);
    assert_met(&[&output, &visitors[0], &visitors[1]], 4);
}

#[test]
fn ranks_without_shared_memory_have_a_door_too() {
    let house = House::of_example(&["--link", "udp", "--silence", "10"]);
    let door = house.door();
    let visitors =
        vec![house.visitor(door.to_str().unwrap()), house.visitor(door.to_str().unwrap())];
    let (output, visitors) = house.end(visitors);
    assert_met(&[&output, &visitors[0], &visitors[1]], 4);
}

#[test]
fn one_that_came_and_is_killed_ends_the_job() {
    let house = House::of_example(&[]);
    let visitor = house.visitor(house.door().to_str().unwrap());
    house.await_ranks(3);
    kill_process(pid(&visitor), Signal::KILL).unwrap();
    let number = visitor.id();
    let (output, _) = house.end(vec![visitor]);
    assert_eq!(output.status.code(), Some(1));
    let errors = String::from_utf8(output.stderr).unwrap();
    let said = format!("weft: rank 2 of 3 (pid {number}, host ");
    let how = "ended without leaving; how it ended is said where it was started, since it had joined by the door";
    assert_one_line(&errors, &[&said, how, "; the other 2 ranks ended"]);
}

#[test]
fn who_has_gone_before_it_was_let_in_is_no_loss() {
    let house = House::of_example(&[]);
    let visitor = house.visitor(house.door().to_str().unwrap());
    // Stopped, so that it lets nobody in meanwhile: what it finds afterwards is in any order.
    house.signal(Signal::STOP);
    let gone = house.visitor(house.door().to_str().unwrap());
    kill_process(pid(&gone), Signal::KILL).unwrap();
    gone.wait_with_output().unwrap();
    house.signal(Signal::CONT);
    let other = house.visitor(house.door().to_str().unwrap());
    let (output, visitors) = house.end(vec![visitor, other]);
    assert_met(&[&output, &visitors[0], &visitors[1]], 4);
}

/// However the launcher ends, so do the ranks that it has not started.
#[test]
fn visitors_end_with_the_job() {
    for signal in [Signal::INT, Signal::KILL] {
        let house = House::of_example(&[]);
        let visitor = house.visitor(house.door().to_str().unwrap());
        house.await_ranks(3);
        house.signal(signal);
        let ended = visitor.wait_with_output().unwrap();
        assert!(!ended.status.success(), "{signal:?}: {}", text(&ended));
        if signal == Signal::INT {
            let (output, _) = house.end(Vec::new());
            assert!(text(&output).contains("was ended by signal 2 (SIGINT)"), "{}", text(&output));
        }
    }
}

#[test]
fn who_waits_when_the_job_ends_is_told() {
    let house = House::start(|door| {
        let mut command = Command::new(WEFT);
        command.args(["run", "-q", "-n", "1", "--room", "2", "--door"]).arg(door);
        command.arg("--").arg(env!("CARGO_BIN_EXE_weft-testee")).arg("sit");
        command
    });
    let visitor = house.visitor(house.door().to_str().unwrap());
    // Ends once the visitor waits.
    let mut said = std::io::BufReader::new(visitor.stderr.unwrap());
    let mut line = String::new();
    std::io::BufRead::read_line(&mut said, &mut line).unwrap();
    assert_eq!(line, "weft: waits at the door of the job until its program lets this process in\n");
    house.signal(Signal::TERM);
    line.clear();
    std::io::BufRead::read_line(&mut said, &mut line).unwrap();
    let told = "cannot join the job: it has ended, and its program has not let this process in";
    assert_eq!(line, format!("weft: {told}\n"));
    house.end(Vec::new());
}

/// Words of a process that knocks there in vain.
fn refused(door: &str) -> String {
    let mut command = Command::new(built("weft-example"));
    let output = piped(command.arg("hello").env("WEFT_DOOR", door)).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", text(&output));
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn doors_that_are_none_are_refused_in_one_line() {
    let house = House::of_example(&[]);
    let key = std::fs::read_to_string(house.door()).unwrap();
    let (address, _) = key.split_once(':').unwrap();
    let wrong = format!("{address}:{:032x}", 1);
    let shut = format!("weft-door-{:016x}:{:032x}", 1, 1);
    for (door, said) in [
        (
            "nothing",
            "there is no door \"nothing\", which `weft run --door` writes while its job runs: ",
        ),
        (
            "/proc/version",
            "\"/proc/version\" is no door: it is weft-door-ADDRESS:SECRET, or the file that `weft run --door` writes",
        ),
        (&wrong, "it does not let this process in: that is not this door's secret"),
        (&shut, "nobody is at this door: the job has ended, or runs on other hosts than this one"),
    ] {
        assert_one_line(&refused(door), &["weft: cannot join the job: ", said]);
    }
    house.signal(Signal::TERM);
    house.end(Vec::new());
}

#[test]
fn a_door_is_not_written_over_another_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("data");
    std::fs::write(&file, "data").unwrap();
    let mut command = Command::new(WEFT);
    command.args(["run", "-q", "-n", "1", "--room", "2", "--door"]).arg(&file);
    let output = piped(command.arg("--").arg(built("weft-example")).arg("door")).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_one_line(
        &errors,
        &["cannot write where the door is to ", "there is such a file, which is no door"],
    );
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "data");
}
