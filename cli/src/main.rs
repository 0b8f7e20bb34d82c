//! `weft`: the command line of [`weft_command`].

#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    weft_command::main()
}
