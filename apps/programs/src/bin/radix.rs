//! `radix`: the command line of [`weft_apps::radix`].

#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    weft_apps::radix::main()
}
