//! `weft-example NAME`: the command line of [`weft_examples`].

#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    match (words.next().as_deref().and_then(weft_examples::named), words.next()) {
        (Some(example), None) => weft::run(example.run),
        _ => weft::run(|weft| match weft.rank().0 {
            0 => Err(format!(
                "there are these examples:\n{}name one: weft run -n 4 -- weft-example ping",
                weft_examples::list()
            )),
            _ => weft.barrier().map_err(|error| error.to_string()),
        }),
    }
}
