//! Functions that callgrind knows by name: one that it counts, and one after which it writes a
//! dump.

use anyhow::{Context, Result};
use std::cell::Cell;
use std::hint::black_box;

/// Rounds that are played before those that are counted: what grows has grown then.
const WARM: u64 = 1024;
/// Rounds that are counted: many windows of 32 packets, so that packets of credits count for their
/// average.
pub const ROUNDS: u64 = 2048;

/// Callgrind's option that has it count what [`counted`] calls.
pub const COUNTED: &str = "--toggle-collect=*weft_count::collect::counted*";
/// Callgrind's option that has it write down what it has counted, and begin anew.
pub const WRITTEN: &str = "--dump-after=*weft_count::collect::written*";

/// Part of a step as it is played: by one rank, counted or not.
pub type Part<'a> = &'a mut dyn FnMut() -> Result<()>;

/// Calls a part of a step. The compiler does not see which, so that it makes one such function and
/// no variants.
#[inline(never)]
fn counted(part: Part<'_>) -> Result<()> {
    black_box(black_box(part)())
}

/// Does nothing, where callgrind is told to write.
#[inline(never)]
fn written(name: &str) {
    black_box(name);
}

/// Thread of the other rank. What threads keep for themselves, and who owns a rank's lock, is as in
/// a program whose ranks are processes. It waits while this one goes on, and this one while it does
/// something.
pub struct Other(rayon_core::ThreadPool);

impl Other {
    /// Starts the thread.
    ///
    /// # Errors
    /// The system has none.
    pub fn start() -> Result<Self> {
        let threads = rayon_core::ThreadPoolBuilder::new().num_threads(1).build();
        Ok(Other(threads.context("no thread for the other rank")?))
    }

    /// Has it do this, and returns what that returns.
    pub fn run<R: Send>(&self, what: impl FnOnce() -> R + Send) -> R {
        self.0.install(what)
    }
}

/// Plays steps, and says on standard output which it has had counted.
pub struct Counter {
    /// The only figure that is wanted, if not all are.
    pub only: Option<String>,
    /// Thread of rank 1.
    pub other: Other,
}

/// A round, in which parts of a step are counted or not.
pub struct Turn<'a> {
    other: &'a Other,
    is_counted: bool,
    /// Parts that were counted.
    parts: &'a Cell<u64>,
}

impl Turn<'_> {
    /// Plays a part of the figure's step here, as rank 0.
    pub fn step(&self, mut part: impl FnMut() -> Result<()>) -> Result<()> {
        self.count_part();
        play(&mut part, self.is_counted)
    }

    /// Plays a part of it as rank 1, in that one's thread.
    pub fn other(&self, mut part: impl FnMut() -> Result<()> + Send) -> Result<()> {
        self.count_part();
        let is_counted = self.is_counted;
        self.other.run(|| play(&mut part, is_counted))
    }

    fn count_part(&self) {
        self.parts.set(self.parts.get() + u64::from(self.is_counted));
    }
}

fn play(part: Part<'_>, is_counted: bool) -> Result<()> {
    if is_counted { counted(part) } else { black_box(part)() }
}

impl Counter {
    /// Plays rounds of one figure. `round` plays the parts of its step by [`Turn::step`] and
    /// [`Turn::other`], and the rest of the round around them.
    ///
    /// # Errors
    /// Those of a round.
    pub fn figure(
        &self,
        name: &str,
        mut round: impl FnMut(u64, &Turn<'_>) -> Result<()>,
    ) -> Result<()> {
        if self.only.as_ref().is_some_and(|only| only != name && name != "empty") {
            return Ok(());
        }
        let (other, parts) = (&self.other, &Cell::new(0));
        let turn = |is_counted| Turn { other, is_counted, parts };
        (0..WARM).try_for_each(|number| round(number, &turn(false)))?;
        (0..ROUNDS).try_for_each(|number| round(number, &turn(true)))?;
        written(name);
        println!("{name} {ROUNDS} {}", parts.get());
        Ok(())
    }
}
