//! `water`: the command line of [`weft_apps::water`].

#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    weft_apps::water::main()
}
