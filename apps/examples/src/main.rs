//! `weft-example NAME`: the command line of [`weft_examples`].

#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    weft_examples::main()
}
