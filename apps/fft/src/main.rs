//! `fft`: the command line of [`weft_fft`].

#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    weft_app_common::run_shared(weft_fft::run)
}
