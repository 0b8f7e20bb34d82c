//! The attribute macros of Weft; the crate `weft` re-exports them.

#![forbid(unsafe_code)]

mod service;

use proc_macro::TokenStream;
use quote::quote;
use syn::{ItemFn, ItemTrait, parse_macro_input};

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

/// Makes a trait a service: a client and a server of it that meet over the job's messages.
///
/// From `trait Bank` come `BankServer::new(&weft, my_bank)`, which serves an implementation of
/// `Bank` until it is dropped, and `BankClient::new(&weft)`, whose `at(rank)` has the trait's
/// methods. They return a `weft::Reply` at once, which is awaited, or waited for with `wait` or
/// `wait_within`.
///
/// Methods take `&self` and owned arguments; they may be `async`. Arguments and results are
/// serde's. A method that returns `Result<T, E>` gives its callers `Result<T, weft::CallError<E>>`,
/// others `weft::Result<T>`. `#[weft::service(name = "...")]` changes the name on the wire, which
/// is the trait's.
#[proc_macro_attribute]
pub fn service(options: TokenStream, item: TokenStream) -> TokenStream {
    let options = parse_macro_input!(options as service::Options);
    let item = parse_macro_input!(item as ItemTrait);
    let expanded = service::Service::read(options, item).map(|service| service::expand(&service));
    expanded.unwrap_or_else(syn::Error::into_compile_error).into()
}
