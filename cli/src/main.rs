//! `weft`: the command line of [`weft_cli`].

#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    weft_cli::main()
}
