//! `qr`: the command line of [`weft_apps::qr`].

#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    weft_apps::qr::main()
}
