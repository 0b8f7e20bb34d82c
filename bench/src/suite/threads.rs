use std::time::Duration;

use crate::suite::application::Application;
use crate::suite::error::{Error, Result};
use crate::suite::run::{AWARI_SAMPLE, parse};

impl Application {
    /// Solves the problem that these words state by bare threads, which share memory and know
    /// nothing of Weft, and checks the result. Returns the time of the parallel phase.
    ///
    /// # Errors
    /// [`enum@Error`]: among others a result that is wrong.
    pub fn run_on_threads(self, words: &[&str], threads: usize) -> Result<Duration> {
        Ok(match self {
            Application::Asp => weft_asp::threads::solve(&parse(words)?, threads)?,
            Application::Awari => awari(words, threads)?,
            Application::Barnes => weft_apps::barnes::threads::solve(&parse(words)?, threads)?,
            Application::Fft => weft_apps::fft::threads::solve(&parse(words)?, threads)?,
            Application::Leq => weft_apps::leq::threads::solve(&parse(words)?, threads)?,
            Application::Puzzle4 | Application::Puzzle64 => {
                weft_apps::puzzle::threads::solve(&parse(words)?, threads)?
            }
            Application::Qr => weft_apps::qr::threads::solve(&parse(words)?, threads)?,
            Application::Radix => weft_apps::radix::threads::solve(&parse(words)?, threads)?,
            Application::Sor => weft_apps::sor::threads::solve(&parse(words)?, threads)?,
        })
    }
}

fn awari(words: &[&str], threads: usize) -> Result<Duration> {
    let words = [&["make"], words].concat();
    let weft_apps::awari::Command::Make(options) =
        parse::<weft_apps::awari::Options>(&words)?.command
    else {
        unreachable!("'make' is the command that makes")
    };
    let (known, time) = weft_apps::awari::threads::make(options.stones, threads);
    match weft_apps::awari::threads::first_wrong(&known, AWARI_SAMPLE) {
        Some((stones, index)) => Err(Error::Position { stones, index }),
        None => Ok(time),
    }
}
