//! `weft application`: the command line of [`weft_bench::application`].

#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    weft_bench::application::main()
}
