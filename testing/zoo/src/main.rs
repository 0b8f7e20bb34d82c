//! `weft-zoo NAME`: a rank of a program that hangs or crawls.

#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    let name = std::env::args().nth(1).unwrap_or_default();
    match weft_zoo::named(&name) {
        Some(animal) => weft::run(animal.run),
        None => {
            eprintln!("there is no '{name}' in the zoo");
            ExitCode::FAILURE
        }
    }
}
