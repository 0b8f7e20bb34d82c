//! The attribute macros of Weft; the crate `weft` re-exports them.

#![forbid(unsafe_code)]

use proc_macro::TokenStream;
use quote::quote;
use syn::{ItemFn, parse_macro_input};

/// Makes a function of a rank's `Weft` the program: it joins the job, runs the function, and leaves
/// the job when it returns. An error it returns is printed, and ends the job with status 1.
#[proc_macro_attribute]
pub fn main(_arguments: TokenStream, function: TokenStream) -> TokenStream {
    let function = parse_macro_input!(function as ItemFn);
    let name = &function.sig.ident;
    if function.sig.inputs.len() != 1 {
        let message = "#[weft::main] takes a function of one argument, the rank's `Weft`";
        return syn::Error::new_spanned(&function.sig, message).to_compile_error().into();
    }
    quote! {
        fn main() -> ::std::process::ExitCode {
            #function
            ::weft::run(#name)
        }
    }
    .into()
}
