//! `weft compare`: the command line of [`weft_bench::compare`].

#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    weft_bench::compare::main()
}
