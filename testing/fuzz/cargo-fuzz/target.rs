//! The program of one target, named as the target is: hands what libFuzzer makes up to it.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| weft_fuzz::run(env!("CARGO_BIN_NAME"), data));
