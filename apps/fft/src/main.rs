//! `fft`: the command line of [`weft_fft`].

#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    weft_fft::main()
}
