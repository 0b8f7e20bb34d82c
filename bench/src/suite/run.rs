use std::time::Duration;

use clap::Parser;
use tempfile::TempDir;
use weft::prelude::*;
use weft_app_common::{Exchange, MEASURED, Mailboxes, RegionRank, Times, Traffic, gather_traffic};

use crate::suite::application::{Application, Size};
use crate::suite::error::{Error, Result};

/// Outcome of an application, whose result was checked.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Time by the job's clock at which its parallel phase began.
    pub began: Duration,
    /// Length of the parallel phase: all ranks compute, nothing is read, made or checked.
    pub time: Duration,
    /// Traffic of each rank meanwhile.
    pub traffic: Vec<Traffic>,
}

/// Bytes of the name of a folder, at most.
const NAME_BYTES: usize = 256;
/// Positions of each database that are checked.
pub(crate) const AWARI_SAMPLE: u32 = 20_000;

impl Outcome {
    fn new(began: Duration, times: Times, traffic: Vec<Traffic>) -> Self {
        Outcome { began, time: times.parallel, traffic }
    }
}

impl Application {
    /// Solves its problem of this size on all ranks, and checks the result. Collective; rank 0 gets
    /// the outcome.
    ///
    /// # Errors
    /// [`enum@Error`]: among others a result that is wrong, which rank 0 says.
    pub fn run(self, weft: &Weft, size: Size) -> Result<Option<Outcome>> {
        self.run_with(weft, self.words(size))
    }

    /// Solves another problem, which these words state.
    ///
    /// # Errors
    /// Those of [`Self::run`].
    pub fn run_with(self, weft: &Weft, words: &[&str]) -> Result<Option<Outcome>> {
        match self {
            Application::Asp => {
                let solved = weft_asp::solve(weft, &parse(words)?)?;
                Ok(solved.map(|solved| Outcome::new(solved.began, solved.times, solved.traffic)))
            }
            Application::Qr => {
                let solved = weft_apps::qr::solve(weft, &parse(words)?)?;
                Ok(solved.map(|solved| Outcome::new(solved.began, solved.times, solved.traffic)))
            }
            Application::Sor => {
                let solved = weft_apps::sor::solve(weft, &parse(words)?)?;
                Ok(solved.map(|solved| Outcome::new(solved.began, solved.times, solved.traffic)))
            }
            Application::Leq => {
                let solved = weft_apps::leq::solve(weft, &parse(words)?)?;
                Ok(solved.map(|solved| Outcome::new(solved.began, solved.times, solved.traffic)))
            }
            Application::Awari => awari(weft, words),
            Application::Puzzle4 | Application::Puzzle64 => puzzle(weft, &parse(words)?),
            Application::Barnes => on_regions(weft, |shared| {
                let solved = weft_apps::barnes::solve(shared, &checked(words)?)?;
                Ok(solved.map(|solved| Outcome::new(solved.began, solved.times, solved.traffic)))
            }),
            Application::Fft => on_regions(weft, |shared| {
                let solved = weft_apps::fft::solve(shared, &checked(words)?)?;
                Ok(solved.map(|solved| Outcome::new(solved.began, solved.times, solved.traffic)))
            }),
            Application::Radix => on_regions(weft, |shared| {
                let solved = weft_apps::radix::solve(shared, &checked(words)?)?;
                Ok(solved.map(|solved| Outcome::new(solved.began, solved.times, solved.traffic)))
            }),
        }
    }
}

pub(crate) fn parse<O: Parser>(words: &[&str]) -> Result<O> {
    Ok(O::try_parse_from(["program"].iter().chain(words))?)
}

/// Options of a program on regions, which checks its result if it is told to.
fn checked<O: Parser>(words: &[&str]) -> Result<O> {
    parse(&[words, &["--verify"]].concat())
}

fn on_regions(
    weft: &Weft,
    program: impl FnOnce(&RegionRank) -> Result<Option<Outcome>>,
) -> Result<Option<Outcome>> {
    RegionRank::run(weft.packets(), program)
}

/// Solves a board, of which the length of the solution is known if it is a published one.
fn puzzle(weft: &Weft, options: &weft_apps::puzzle::Options) -> Result<Option<Outcome>> {
    let before = Traffic::so_far(weft.packets());
    weft.barrier()?;
    let began = weft.now();
    let span = weft.span(MEASURED);
    let mut time = Duration::ZERO;
    weft_apps::puzzle::solve(weft, options, |_, solved| {
        time += solved.time;
        Ok(())
    })?;
    drop(span);
    let traffic = Traffic::so_far(weft.packets()).since(before);
    let traffic = gather_traffic(&mut Mailboxes::open(weft, "suite")?, traffic)?;
    Ok(traffic.map(|traffic| Outcome { began, time, traffic }))
}

/// Makes databases in a folder that is there as long as this runs, and checks some positions of
/// each.
fn awari(weft: &Weft, words: &[&str]) -> Result<Option<Outcome>> {
    let folder = Folder::new(weft)?;
    let words = [words, &["--directory", &folder.name]].concat();
    let words = [&["make"], &words[..]].concat();
    let weft_apps::awari::Command::Make(options) =
        parse::<weft_apps::awari::Options>(&words)?.command
    else {
        unreachable!("'make' is the command that makes")
    };
    let began = weft.now();
    let span = weft.span(MEASURED);
    let made = weft_apps::awari::make(weft, &options)?;
    drop(span);
    let check = weft_apps::awari::CheckOptions {
        directory: options.directory,
        stones: Some(options.stones),
        sample: Some(AWARI_SAMPLE),
    };
    weft_apps::awari::check(weft, &check)?;
    // Rank 0 removes what the others read.
    weft.barrier()?;
    Ok(made.map(|made| Outcome::new(began, made.times, made.traffic)))
}

/// A folder that rank 0 has made and will remove.
struct Folder {
    name: String,
    _made: Option<TempDir>,
}

impl Folder {
    fn new(weft: &Weft) -> Result<Self> {
        let is_first = weft.rank() == 0;
        let made = is_first.then(TempDir::new).transpose().map_err(Error::Folder)?;
        let mut bytes = [0; NAME_BYTES];
        if let Some(made) = &made {
            let name = made.path().to_string_lossy();
            bytes[..name.len()].copy_from_slice(name.as_bytes());
        }
        Mailboxes::open(weft, "suite")?.spread(&mut bytes)?;
        let length = bytes.iter().position(|&byte| byte == 0).unwrap_or(NAME_BYTES);
        let name = String::from_utf8_lossy(&bytes[..length]).into_owned();
        Ok(Folder { name, _made: made })
    }
}
