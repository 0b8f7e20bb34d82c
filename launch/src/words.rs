//! Names and last words.

pub use weft_link::bell::signal_name;

/// Characters of the longest last words that are shown.
const WORDS_CHARS_MAX: usize = 300;

/// Remembers the last line worth repeating.
#[derive(Clone, Debug, Default)]
pub(crate) struct LastWords(Option<String>);

impl LastWords {
    /// Takes the place of what was said before, unless `line` says nothing.
    pub fn say(&mut self, line: &[u8]) {
        let text = String::from_utf8_lossy(line);
        let plain: String = text.trim().chars().filter(|char| !char.is_control()).collect();
        // What Rust's panics end with; the line before it says what happened.
        if plain.is_empty() || plain.starts_with("note: run with `RUST_BACKTRACE=1`") {
            return;
        }
        self.0 = Some(plain.chars().take(WORDS_CHARS_MAX).collect());
    }

    /// What was said last.
    pub fn get(&self) -> Option<&str> {
        self.0.as_deref()
    }
}

#[cfg(test)]
mod tests;
