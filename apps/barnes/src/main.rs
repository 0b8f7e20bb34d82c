//! `barnes`: the command line of [`weft_barnes`].

#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    weft_barnes::main()
}
