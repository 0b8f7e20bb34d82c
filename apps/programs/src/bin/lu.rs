//! `lu`: the command line of [`weft_apps::lu`].

#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    weft_apps::lu::main()
}
