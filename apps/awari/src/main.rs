//! `awari`: the command line of [`weft_awari`].

#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    weft_awari::main()
}
