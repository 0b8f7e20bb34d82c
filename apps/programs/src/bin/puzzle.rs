//! `puzzle`: the command line of [`weft_apps::puzzle`].

#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    weft_apps::puzzle::main()
}
