//! `lu`: the command line of [`weft_lu`].

#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    weft_lu::main()
}
