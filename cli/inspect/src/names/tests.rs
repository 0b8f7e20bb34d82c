//! Stacks of real processes.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::{in_words, name};
use tempfile::TempDir;
use weft_launch::stack::{StackError, TakenStacks, take};

/// Longest wait for a stack that has to come.
const PATIENCE: Duration = Duration::from_secs(60);

/// A program that says that it is about to be where it stays.
const PROGRAM: &str = r#"
#include <stdio.h>
#include <string.h>
#include <unistd.h>
static volatile int turns;
__attribute__((noinline)) static void busy(void) { for (;;) turns++; }
__attribute__((noinline)) static void asleep(void) { sleep(1000); turns++; }
__attribute__((noinline)) static void work(int sleeps) { puts("there"); fflush(stdout); if (sleeps) asleep(); else busy(); turns++; }
int main(int count, char **words) { work(count > 1); return turns; }
"#;

/// A process, ended when this is dropped.
struct Running(Child);

impl Running {
    fn start(folder: &TempDir, flags: &[&str], words: &[&str]) -> Self {
        let (source, program) = (folder.path().join("job.c"), folder.path().join("job"));
        std::fs::write(&source, PROGRAM).unwrap();
        let made = Command::new("cc").args(flags).arg(&source).arg("-o").arg(&program).status();
        assert!(made.unwrap().success());
        let mut child = Command::new(program).args(words).stdout(Stdio::piped()).spawn().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        out.read_line(&mut line).unwrap();
        assert_eq!(line, "there\n");
        child.stdout = Some(out.into_inner());
        Running(child)
    }

    /// Waits until its stack is one that is wanted, which has to come: the last word of the program
    /// is heard before it has returned from saying it.
    fn wait_for_stack(&self, is_wanted: impl Fn(&str) -> bool) {
        let until = Instant::now() + PATIENCE;
        loop {
            let stack = self.stack();
            if is_wanted(&stack) {
                return;
            }
            assert!(Instant::now() < until, "{stack}");
        }
    }

    fn stack(&self) -> String {
        let stacks = name(self.taken());
        in_words(stacks[0].as_ref().unwrap(), |_| false)
    }

    /// Its stack, however long the thread waits for a core on which to stop.
    fn taken(&self) -> TakenStacks {
        let until = Instant::now() + PATIENCE;
        loop {
            let taken = take(&[self.0.id()]);
            if !matches!(taken[..], [Err(StackError::Busy)]) || Instant::now() >= until {
                return taken;
            }
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_thread_that_computes_has_lines() {
    let folder = tempfile::tempdir().unwrap();
    let running = Running::start(&folder, &["-g", "-O1"], &[]);
    let line =
        |function: &str| PROGRAM.lines().position(|line| line.contains(function)).unwrap() + 1;
    let said = [("busy", "void busy"), ("work", "void work"), ("main", "int main")];
    let said = said.map(|(name, text)| format!("{name} (job.c:{})", line(text))).join(", ");
    running.wait_for_stack(|stack| stack == said);
    // However often it is stopped, it goes on.
    for _ in 0..20 {
        assert_eq!(running.stack(), said);
    }
}

#[test]
fn a_thread_that_sleeps_sleeps_on() {
    let folder = tempfile::tempdir().unwrap();
    let mut running = Running::start(&folder, &["-O1"], &["sleep"]);
    // Only symbols are there, of the system's library and the program's.
    let sleeps = |stack: &str| stack.contains("nanosleep") && stack.ends_with("asleep, work, main");
    running.wait_for_stack(|stack| sleeps(stack) && running.stack() == stack);
    assert!(running.0.try_wait().unwrap().is_none());
    let mut rest = String::new();
    running.0.kill().unwrap();
    running.0.stdout.take().unwrap().read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "");
}

#[test]
fn who_has_ended_has_no_stack() {
    let mut child = Command::new("true").spawn().unwrap();
    let number = child.id();
    child.wait().unwrap();
    let stacks = name(take(&[number]));
    assert!(matches!(stacks[..], [Err(StackError::Gone | StackError::System(_))]), "{stacks:?}");
}

#[test]
fn names_are_found_when_the_thread_has_ended() {
    let folder = tempfile::tempdir().unwrap();
    let running = Running::start(&folder, &["-g", "-O1"], &[]);
    running.wait_for_stack(|stack| stack.starts_with("busy "));
    let taken = running.taken();
    drop(running);
    let stacks = name(taken);
    let said = in_words(stacks[0].as_ref().unwrap(), |_| false);
    assert!(said.starts_with("busy (job.c:") && said.contains("), main (job.c:"), "{said}");
}
