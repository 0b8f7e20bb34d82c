//! `weft application`: the command line of [`weft_application`].

#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    weft_application::main()
}
