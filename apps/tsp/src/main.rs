//! `tsp`: the command line of [`weft_tsp`].

#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    weft_tsp::main()
}
