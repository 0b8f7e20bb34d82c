//! A line at the terminal that says how far a long run is.

use std::io::IsTerminal;
use std::time::{Duration, Instant};
use weft_app_common::thousands;
use weft_simulator::{Happened, Observer, in_words};

/// Runs that are over sooner say nothing before their end.
const FIRST_AFTER: Duration = Duration::from_secs(2);
/// Time for which a line stays.
const NEXT_AFTER: Duration = Duration::from_millis(200);
/// Events between looks at the clock.
const LOOK_EVERY: u64 = 1 << 14;

/// Counts events and, now and then, writes over its own line; leaves nothing behind.
pub struct ProgressLine {
    events: u64,
    next: Instant,
    drawn: bool,
}

impl ProgressLine {
    /// A line on standard error, if that is a terminal.
    pub fn on_terminal() -> Option<Box<dyn Observer>> {
        let next = Instant::now() + FIRST_AFTER;
        let line = || Box::new(ProgressLine { events: 0, next, drawn: false }) as Box<dyn Observer>;
        std::io::stderr().is_terminal().then(line)
    }
}

impl Observer for ProgressLine {
    fn see(&mut self, happened: &Happened) {
        self.events += 1;
        if !self.events.is_multiple_of(LOOK_EVERY) {
            return;
        }
        let now = Instant::now();
        if now >= self.next {
            self.next = now + NEXT_AFTER;
            self.drawn = true;
            let time = in_words(Duration::from_nanos(happened.time));
            eprint!("\r\x1b[Kweft: {time} simulated, {} events", thousands(self.events));
        }
    }
}

impl Drop for ProgressLine {
    fn drop(&mut self) {
        if self.drawn {
            eprint!("\r\x1b[K");
        }
    }
}
