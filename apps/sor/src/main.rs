//! `sor`: the command line of [`weft_sor`].

#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    weft_sor::main()
}
