//! `barnes`: the command line of [`weft_apps::barnes`].

#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    weft_apps::barnes::main()
}
