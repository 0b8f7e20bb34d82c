//! `weft bench`: the command line of [`weft_bench::micro`].

#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    weft_bench::micro::main()
}
