//! `weft compare`: the command line of [`weft_compare`].

#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    weft_compare::main()
}
