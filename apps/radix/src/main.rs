//! `radix`: the command line of [`weft_radix`].

#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    weft_radix::main()
}
