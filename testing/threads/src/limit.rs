//! A deadlock should fail, not hang, and say what led to it.

use crate::Job;
use std::io::Write;
use std::panic::PanicHookInfo;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, Once, PoisonError};
use std::time::Duration;

/// Messages of panics of this process: the ranks that wait for a rank that panicked wait for ever,
/// and what a test printed is lost when its process aborts.
static PANICS: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Ends the test process if a job takes for ever.
pub struct TimeLimit(Sender<()>);

impl TimeLimit {
    pub const USUAL: Duration = Duration::from_secs(300);

    pub fn start(job: Job) -> Self {
        remember_panics();
        let (done, ended) = channel();
        std::thread::spawn(move || {
            if ended.recv_timeout(job.limit) == Err(RecvTimeoutError::Timeout) {
                give_up(job);
            }
        });
        TimeLimit(done)
    }
}

impl Drop for TimeLimit {
    fn drop(&mut self) {
        // If nobody listens any more, the process is about to end anyway.
        let _ = self.0.send(());
    }
}

fn remember_panics() {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic: &PanicHookInfo<'_>| {
            let mut panics = PANICS.lock().unwrap_or_else(PoisonError::into_inner);
            panics.push(panic.to_string());
            drop(panics);
            usual(panic);
        }));
    });
}

fn give_up(job: Job) -> ! {
    // Not by `eprintln!`, which a test's output is kept from.
    let mut stderr = std::io::stderr();
    let _ = writeln!(stderr, "ranks of this job wait for one another for ever: {job:?}");
    for panic in PANICS.lock().unwrap_or_else(PoisonError::into_inner).iter() {
        let _ = writeln!(stderr, "before that, in this process: {panic}");
    }
    std::process::abort()
}
