//! A program's way into its job and out of it.

use crate::Result;
use crate::session::Session;
use crate::weft::{Weft, end_if_lost};
use std::fmt::Display;
use std::process::ExitCode;
use weft_launch::OnLoss;

/// Joins the job that this process was started in, or whose door `WEFT_DOOR` names in the
/// environment ([`join_at`]), or makes one of a single rank. End with [`Weft::leave`]; [`run`] and
/// `#[weft::main]` do both.
///
/// # Errors
/// [`crate::Error`] if this process cannot take its place.
pub fn join() -> Result<Weft> {
    join_for(OnLoss::End)
}

/// Does what [`join`] does, and asks that the job go on after the loss of a rank, or end: all
/// programs of a job ask for the same. `weft run --on-loss continue` has a job go on whatever
/// programs ask; under a process manager `WEFT_ON_LOSS` says it ([`Weft::goes_on`]).
///
/// # Errors
/// Those of [`join`].
pub fn join_for(on_loss: OnLoss) -> Result<Weft> {
    assemble(Session::open(on_loss)?)
}

/// Joins a job that has not started this process by its door, which is `weft-door-ADDRESS:SECRET`
/// or the file that `weft run --door` writes, on a host of that job; asks for this reaction to
/// losses as [`join_for`] does. Blocks until the job's program lets this process in
/// ([`Weft::admit`]). What [`join`] does where the environment says `WEFT_DOOR`.
///
/// # Errors
/// There is no such door, the job ends first, or this process cannot take its place.
pub fn join_at(door: &str, on_loss: OnLoss) -> Result<Weft> {
    assemble(Session::open_at(door, on_loss)?)
}

fn assemble(session: Session) -> Result<Weft> {
    let packets = session.packets().clone();
    Weft::assemble(packets, Box::new(session))
}

/// Result types of a program's function.
pub trait Outcome {
    /// The error, for a person, if it failed.
    fn error(self) -> Option<String>;
}

impl Outcome for () {
    fn error(self) -> Option<String> {
        None
    }
}

impl<E: Display> Outcome for std::result::Result<(), E> {
    fn error(self) -> Option<String> {
        // The alternate form of error types that chain causes shows them all.
        self.err().map(|error| format!("{error:#}"))
    }
}

/// Joins the job, runs `program`, and leaves when it returns. What `#[weft::main]` expands to.
pub fn run<O: Outcome>(program: impl FnOnce(Weft) -> O) -> ExitCode {
    run_for(OnLoss::End, program)
}

/// Does what [`run`] does, in a job that goes on after the loss of a rank, or ends: see
/// [`join_for`]. What `#[weft::main(on_loss = "continue")]` expands to:
///
/// ```no_run
/// #[weft::main(on_loss = "continue")]
/// fn program(weft: weft::Weft) -> weft::Result<()> {
///     assert!(weft.goes_on());
///     weft.barrier()
/// }
/// ```
pub fn run_for<O: Outcome>(on_loss: OnLoss, program: impl FnOnce(Weft) -> O) -> ExitCode {
    let weft = match join_for(on_loss) {
        Ok(weft) => weft,
        Err(error) => {
            error.say();
            return ExitCode::FAILURE;
        }
    };
    let error = match program(weft.clone()).error() {
        None => weft.leave().err().map(|error| error.to_string()),
        failed => failed,
    };
    let Some(error) = error else { return ExitCode::SUCCESS };
    end_if_lost(&weft);
    eprintln!("weft: rank {}: {error}", weft.rank());
    ExitCode::FAILURE
}
