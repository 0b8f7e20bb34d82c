//! `weft-inspect`: the command line of [`weft_programs::inspect`].

#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    weft_programs::inspect::main()
}
