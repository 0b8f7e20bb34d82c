//! `leq`: the command line of [`weft_leq`].

#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    weft_leq::main()
}
