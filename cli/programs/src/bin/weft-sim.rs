//! `weft sim`: the command line of [`weft_programs::sim`].

#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    weft_programs::sim::main()
}
