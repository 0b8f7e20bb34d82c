//! `sor`: the command line of [`weft_apps::sor`].

#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    weft_apps::sor::main()
}
