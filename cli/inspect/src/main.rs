//! `weft-inspect`: the command line of [`weft_inspect`].

#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    weft_inspect::main()
}
