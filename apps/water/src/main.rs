//! `water`: the command line of [`weft_water`].

#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    weft_water::main()
}
