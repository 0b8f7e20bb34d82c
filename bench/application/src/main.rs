//! `weft application`: the command line of [`weft_application`]. This program is also what its
//! ranks run.

#![forbid(unsafe_code)]

use std::process::ExitCode;

use clap::Parser;
use weft_application::{Options, rank, run};

fn main() -> ExitCode {
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
