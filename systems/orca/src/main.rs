//! `orcac`: the command line of [`weft_orca`].

#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    weft_orca::main()
}
