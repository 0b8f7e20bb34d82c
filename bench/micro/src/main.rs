//! `weft bench`: the command line of [`weft_bench`].

#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    weft_bench::main()
}
