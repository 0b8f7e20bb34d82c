//! Compiles the XDP program with clang, where there is one. Elsewhere the crate builds without it,
//! and says so where a job asks for it.

use std::env;
use std::path::PathBuf;
use std::process::Command;

const SOURCE: &str = "bpf/weft.bpf.c";

fn main() {
    println!("cargo::rerun-if-changed={SOURCE}");
    println!("cargo::rerun-if-env-changed=WEFT_CLANG");
    println!("cargo::rerun-if-env-changed=PATH");
    println!("cargo::rustc-check-cfg=cfg(xdp_program)");
    let clang = env::var_os("WEFT_CLANG").unwrap_or_else(|| "clang".into());
    let Some(folder) = env::var_os("OUT_DIR") else { panic!("cargo sets OUT_DIR") };
    let object = PathBuf::from(folder).join("weft.bpf.o");
    let mut command = Command::new(&clang);
    // -g for the types of the maps.
    command.args(["-target", "bpf", "-mcpu=v3", "-O2", "-g", "-Wall", "-Werror", "-c", SOURCE]);
    // The folder of whoever builds would be in the program.
    if let Ok(here) = env::current_dir() {
        command.arg(format!("-ffile-prefix-map={}=.", here.display()));
    }
    match command.arg("-o").arg(&object).output() {
        Ok(output) if output.status.success() => println!("cargo::rustc-cfg=xdp_program"),
        Ok(output) => {
            println!("cargo::warning=clang could not compile {SOURCE}; no --link xdp");
            for line in String::from_utf8_lossy(&output.stderr).lines() {
                println!("cargo::warning={line}");
            }
        }
        Err(error) => {
            // Where it comes to be if it is installed later, which PATH does not tell.
            println!("cargo::rerun-if-changed=/usr/bin");
            let name = clang.display();
            println!("cargo::warning=cannot run {name} ({error}), so this weft has no --link xdp");
        }
    }
}
