//! `weft-example NAME`: the command line of [`weft_examples`].

#![forbid(unsafe_code)]

use std::process::ExitCode;
use weft_examples::Program;

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    match (words.next().as_deref().and_then(weft_examples::named), words.next()) {
        (Some(example), None) => match example.run {
            Program::Messages(run) => weft::run(run),
            Program::Regions(run) => weft::run_packets(run),
        },
        _ => weft::run(|weft| match weft.rank().0 {
            0 => Err(format!(
                "there are these examples:\n{}name one: weft run -n 4 -- weft-example ping",
                weft_examples::list()
            )),
            _ => weft.barrier().map_err(|error| error.to_string()),
        }),
    }
}
