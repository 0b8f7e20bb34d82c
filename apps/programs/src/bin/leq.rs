//! `leq`: the command line of [`weft_apps::leq`].

#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    weft_apps::leq::main()
}
