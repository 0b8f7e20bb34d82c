//! `tsp`: the command line of [`weft_apps::tsp`].

#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    weft_apps::tsp::main()
}
