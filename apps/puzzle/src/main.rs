//! `puzzle`: the command line of [`weft_puzzle`].

#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    weft_puzzle::main()
}
