//! `fft`: the command line of [`weft_apps::fft`].

#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    weft_apps::fft::main()
}
