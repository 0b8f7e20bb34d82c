//! The name under which programs look for the shared library at run time.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libweft.so.0");
}
