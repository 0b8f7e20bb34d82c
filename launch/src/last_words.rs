//! Last words of a process, and names of signals.

pub use weft_link::bell::signal_name;

/// Characters of the longest last words that are shown.
pub(crate) const WORDS_CHARS_MAX: usize = 300;

/// Remembers the last line worth repeating.
///
/// After a panic of Rust's, or when there was no memory, that is the message, not the backtrace and
/// advice that follow it.
#[derive(Clone, Debug, Default)]
pub(crate) struct LastWords {
    words: Option<String>,
    panicking: Panicking,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Panicking {
    #[default]
    No,
    /// The next line is the message.
    Announced,
    /// The message has been said; what belongs to it is indented, or begins as a few known lines
    /// do.
    Reported,
}

impl LastWords {
    /// Takes in a line, which is the last one now unless it is empty.
    pub fn take_in(&mut self, line: &[u8]) {
        let text = String::from_utf8_lossy(line);
        let plain: String = text.chars().filter(|char| !char.is_control()).collect();
        let plain = plain.trim_end();
        if plain.is_empty() || self.panicking == Panicking::Reported && belongs_to_panic(plain) {
            return;
        }
        self.panicking = match self.panicking {
            Panicking::Announced => Panicking::Reported,
            _ if plain.starts_with("thread '") && plain.contains(" panicked at ") => {
                Panicking::Announced
            }
            _ if plain.starts_with("memory allocation of ") => Panicking::Reported,
            _ => Panicking::No,
        };
        self.words = Some(plain.trim_start().chars().take(WORDS_CHARS_MAX).collect());
    }

    /// Last line worth repeating.
    pub fn get(&self) -> Option<&str> {
        self.words.as_deref()
    }
}

fn belongs_to_panic(line: &str) -> bool {
    const BEGINNINGS: [&str; 4] = [" ", "note: ", "stack backtrace:", "skipping backtrace "];
    BEGINNINGS.iter().any(|beginning| line.starts_with(beginning))
}

#[cfg(test)]
mod tests;
