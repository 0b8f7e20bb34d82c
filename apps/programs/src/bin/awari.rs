//! `awari`: the command line of [`weft_apps::awari`].

#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    weft_apps::awari::main()
}
