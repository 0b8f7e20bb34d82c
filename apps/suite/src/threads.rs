use std::time::Duration;

use crate::application::Application;
use crate::error::{Error, Result};
use crate::run::{AWARI_SAMPLE, parse};

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
            Application::Barnes => weft_barnes::threads::solve(&parse(words)?, threads)?,
            Application::Fft => weft_fft::threads::solve(&parse(words)?, threads)?,
            Application::Leq => weft_leq::threads::solve(&parse(words)?, threads)?,
            Application::Puzzle4 | Application::Puzzle64 => {
                weft_puzzle::threads::solve(&parse(words)?, threads)?
            }
            Application::Qr => weft_qr::threads::solve(&parse(words)?, threads)?,
            Application::Radix => weft_radix::threads::solve(&parse(words)?, threads)?,
            Application::Sor => weft_sor::threads::solve(&parse(words)?, threads)?,
        })
    }
}

fn awari(words: &[&str], threads: usize) -> Result<Duration> {
    let words = [&["make"], words].concat();
    let weft_awari::Command::Make(options) = parse::<weft_awari::Options>(&words)?.command else {
        unreachable!("'make' is the command that makes")
    };
    let (known, time) = weft_awari::threads::make(options.stones, threads);
    match weft_awari::threads::first_wrong(&known, AWARI_SAMPLE) {
        Some((stones, index)) => Err(Error::Position { stones, index }),
        None => Ok(time),
    }
}
