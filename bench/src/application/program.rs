//! `weft application`: its command line. This program is also what its ranks run.

use std::process::ExitCode;

use crate::application::{Options, rank, run};
use clap::Parser;

/// The program `weft-application`.
pub fn main() -> ExitCode {
    match Options::try_parse() {
        Ok(options) if !options.is_rank() => {
            weft_app_common::finish(run(&options).map(|()| ExitCode::SUCCESS))
        }
        // A job says once what is wrong with its words.
        _ => weft::run(|weft| match weft_app_common::arguments(&weft)? {
            Some(options) => rank(&weft, &options),
            None => Ok::<_, anyhow::Error>(()),
        }),
    }
}
