use std::io::{self, IsTerminal, Write};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle, TermLike};

/// Redraws a second, at most: enough for an eye, too little to cost the computation anything.
const REDRAWS_PER_SECOND: u8 = 8;

/// A bar on standard error that shows how far this rank is; rank 0 shows it, others stay silent.
///
/// It is drawn only for someone who sees it: standard error is a terminal, or the launcher says
/// that it forwards to one (`WEFT_TERMINAL=1`). The bar is gone when the value is dropped.
#[derive(Debug)]
pub struct Progress(ProgressBar);

impl Progress {
    /// A bar of `length` steps, headed by `title`, if `rank` is 0.
    pub fn new(rank: usize, length: usize, title: &'static str) -> Self {
        let target = if rank == 0 { draw_target() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(Some(length as u64), target);
        if let Ok(style) = ProgressStyle::with_template("{msg} [{bar:40}] {percent:>3}%") {
            bar.set_style(style.progress_chars("=> "));
        }
        bar.set_message(title);
        Self(bar)
    }

    /// Shows that `steps` of the length are done.
    pub fn set(&self, steps: usize) {
        self.0.set_position(steps as u64);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

fn draw_target() -> ProgressDrawTarget {
    if io::stderr().is_terminal() {
        ProgressDrawTarget::stderr_with_hz(REDRAWS_PER_SECOND)
    } else if std::env::var_os("WEFT_TERMINAL").is_some_and(|value| value == "1") {
        ProgressDrawTarget::term_like_with_hz(Box::new(Forwarded), REDRAWS_PER_SECOND)
    } else {
        ProgressDrawTarget::hidden()
    }
}

/// A terminal at the other end of a pipe: standard error with escape sequences, of unknown width.
#[derive(Debug)]
struct Forwarded;

impl Forwarded {
    fn write(text: &str) -> io::Result<()> {
        io::stderr().write_all(text.as_bytes())
    }

    fn step(count: usize, direction: char) -> io::Result<()> {
        if count == 0 { Ok(()) } else { Self::write(&format!("\x1b[{count}{direction}")) }
    }
}

impl TermLike for Forwarded {
    fn width(&self) -> u16 {
        std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok()).unwrap_or(80)
    }

    fn move_cursor_up(&self, count: usize) -> io::Result<()> {
        Self::step(count, 'A')
    }

    fn move_cursor_down(&self, count: usize) -> io::Result<()> {
        Self::step(count, 'B')
    }

    fn move_cursor_right(&self, count: usize) -> io::Result<()> {
        Self::step(count, 'C')
    }

    fn move_cursor_left(&self, count: usize) -> io::Result<()> {
        Self::step(count, 'D')
    }

    fn write_line(&self, line: &str) -> io::Result<()> {
        Self::write(&format!("{line}\n"))
    }

    fn write_str(&self, text: &str) -> io::Result<()> {
        Self::write(text)
    }

    fn clear_line(&self) -> io::Result<()> {
        // The return comes last: the launcher then takes the line for ended, not for unfinished.
        Self::write("\x1b[2K\r")
    }

    fn flush(&self) -> io::Result<()> {
        io::stderr().flush()
    }
}
