//! The library has the name of libfabric, so that what is linked with that takes this one where it
//! is loaded before.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libfabric.so.1");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
}
