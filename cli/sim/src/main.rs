//! `weft sim`: the command line of [`weft_sim`].

#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    weft_sim::main()
}
