//! `qr`: the command line of [`weft_qr`].

#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    weft_qr::main()
}
