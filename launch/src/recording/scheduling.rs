//! Scheduling of ranks by the system: for how long each had a core, and wanted one in vain.

use std::fs::File;
use std::os::unix::fs::FileExt;
use weft_trace::event::EventWords;
use weft_trace::{Event, What};

/// Times of the first thread of a process since it was started, by `/proc/PID/schedstat`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Times {
    on_core_ns: u64,
    run_delay_ns: u64,
}

/// Scheduling of one rank.
#[derive(Debug)]
pub(crate) struct Scheduling {
    /// `None` where the system does not say.
    file: Option<File>,
    last: Option<Times>,
}

impl Scheduling {
    /// That of a process, which may have ended.
    pub fn of(process: u32) -> Self {
        let file = File::open(format!("/proc/{process}/schedstat")).ok();
        Scheduling { file, last: None }
    }

    /// Adds to events of the rank, which are new, how it was scheduled since some were last. Where
    /// there are none it keeps the times for the next ones. Its event stands before a text that
    /// may not be at its end, and at the time of the one before it.
    pub fn add_to(&mut self, events: &mut Vec<EventWords>) {
        let is_text = |words: &EventWords| {
            matches!(Event::of_words(words), Some(Event { what: What::Text { .. }, .. }))
        };
        let Some(at) = events.iter().rposition(|words| !is_text(words)) else { return };
        let Some(now) = self.read() else { return };
        let Some(last) = self.last.replace(now) else { return };
        let what = What::Scheduled {
            on_core_ns: now.on_core_ns.saturating_sub(last.on_core_ns),
            run_delay_ns: now.run_delay_ns.saturating_sub(last.run_delay_ns),
        };
        let [time, ..] = events[at];
        events.insert(at + 1, Event { time, what }.to_words());
    }

    fn read(&self) -> Option<Times> {
        let mut text = [0; 80];
        let bytes = self.file.as_ref()?.read_at(&mut text, 0).ok()?;
        parse(std::str::from_utf8(&text[..bytes]).ok()?)
    }
}

/// Time on a core, time in the queue of one, and how often it got one.
fn parse(text: &str) -> Option<Times> {
    let mut numbers = text.split_ascii_whitespace().map(|word| word.parse().ok());
    Some(Times { on_core_ns: numbers.next()??, run_delay_ns: numbers.next()?? })
}

#[cfg(test)]
mod tests;
