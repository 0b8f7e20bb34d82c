//! `asp`: the command line of [`weft_asp`].

#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    weft_asp::main()
}
