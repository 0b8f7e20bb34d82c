//! The compiler and the target, for which alone the figures hold.

use std::env;
use std::process::Command;

fn main() {
    let compiler = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let said = Command::new(compiler).arg("--version").output();
    let said = said.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    let version = said.as_deref().unwrap_or("").split(' ').nth(1).unwrap_or("unknown").trim();
    println!("cargo:rustc-env=COUNTED_RUSTC={version}");
    for (name, variable) in [("TARGET", "TARGET"), ("FEATURES", "CARGO_CFG_TARGET_FEATURE")] {
        println!("cargo:rustc-env=COUNTED_{name}={}", env::var(variable).unwrap_or_default());
    }
    let in_pieces = env::var("CARGO_INCREMENTAL").is_ok_and(|set| set != "0");
    println!("cargo:rustc-env=COUNTED_IN_PIECES={in_pieces}");
    println!("cargo:rerun-if-env-changed=CARGO_INCREMENTAL");
    println!("cargo:rerun-if-changed=build.rs");
}
