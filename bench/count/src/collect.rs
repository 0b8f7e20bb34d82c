//! Functions that callgrind knows by name: one that it counts, and one after which it writes a
//! dump.

use anyhow::Result;
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

/// A step as it is played: once, counted or not.
pub type Step<'a> = &'a mut dyn FnMut() -> Result<()>;

/// Calls a step. The compiler does not see which, so that it makes one such function and no
/// variants.
#[inline(never)]
fn counted(step: Step<'_>) -> Result<()> {
    black_box(black_box(step)())
}

/// Does nothing, where callgrind is told to write.
#[inline(never)]
fn written(name: &str) {
    black_box(name);
}

/// Plays steps, and says on standard output which it has had counted.
pub struct Counter {
    /// The only figure that is wanted, if not all are.
    pub only: Option<String>,
}

/// A round, in which the step is counted or not.
pub struct Turn(bool);

impl Turn {
    /// Plays the step of the figure.
    pub fn step(&self, mut step: impl FnMut() -> Result<()>) -> Result<()> {
        if self.0 { counted(&mut step) } else { black_box(&mut step)() }
    }
}

impl Counter {
    /// Plays rounds of one figure. `round` plays its step by [`Turn::step`], and the rest of the
    /// round around it.
    ///
    /// # Errors
    /// Those of a round.
    pub fn figure(
        &self,
        name: &str,
        mut round: impl FnMut(u64, &Turn) -> Result<()>,
    ) -> Result<()> {
        if self.only.as_ref().is_some_and(|only| only != name && name != "empty") {
            return Ok(());
        }
        (0..WARM).try_for_each(|number| round(number, &Turn(false)))?;
        (0..ROUNDS).try_for_each(|number| round(number, &Turn(true)))?;
        written(name);
        println!("{name} {ROUNDS}");
        Ok(())
    }
}
