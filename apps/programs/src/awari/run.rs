use std::io;

use weft::prelude::Weft;
use weft_app_common::{agree, write_out};

use crate::awari::check::check;
use crate::awari::error::Error;
use crate::awari::make::make;
use crate::awari::options::{Command, Options};
use crate::awari::play::play;
use crate::awari::query::query;

/// Runs a command. Collective: every rank of the job calls it with the same options; rank 0 prints.
/// Queries and games are of rank 0 alone, while the others wait.
///
/// # Errors
/// [`enum@Error`].
pub fn run(weft: &Weft, options: &Options) -> Result<(), Error> {
    let is_first = weft.rank() == 0;
    match &options.command {
        Command::Make(options) => match make(weft, options)? {
            Some(made) => Ok(write_out(made)?),
            None => Ok(()),
        },
        Command::Check(options) => match agree(weft, check(weft, options))? {
            Some(checked) if is_first => Ok(write_out(checked)?),
            _ => Ok(()),
        },
        Command::Query(options) if is_first => Ok(write_out(query(options)?)?),
        Command::Play(options) if is_first => play(options, io::stdin().lock(), io::stdout()),
        Command::Query(_) | Command::Play(_) => Ok(()),
    }
}
