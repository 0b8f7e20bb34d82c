//! The library stays where it is once it is loaded: libfabric unloads providers when a program
//! ends, and threads that watch over the job may still run then.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
}
