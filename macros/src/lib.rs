//! The attribute macros of Weft: `weft` re-exports `main` and `service`, `weft-object` `object`.

#![forbid(unsafe_code)]

mod object;
mod program;
mod service;

use proc_macro::TokenStream;
use quote::quote;
use syn::{ItemFn, ItemImpl, ItemTrait, parse_macro_input};

/// Makes a function of a rank's `Weft` the program: it joins the job, runs the function, and leaves
/// the job when it returns. An error it returns is printed, and ends the job with status 1.
///
/// `#[weft::main(on_loss = "continue")]` asks that the job go on after the loss of a rank; all
/// programs of a job ask for the same. `"end"` is the default.
#[proc_macro_attribute]
pub fn main(options: TokenStream, function: TokenStream) -> TokenStream {
    let options = parse_macro_input!(options as program::Options);
    let function = parse_macro_input!(function as ItemFn);
    let name = &function.sig.ident;
    if function.sig.inputs.len() != 1 {
        let message = "#[weft::main] takes a function of one argument, the rank's `Weft`";
        return syn::Error::new_spanned(&function.sig, message).to_compile_error().into();
    }
    let run = options.run(name);
    quote! {
        fn main() -> ::std::process::ExitCode {
            #function
            #run
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

/// Type of shared objects, from an `impl` block whose functions are operations.
///
/// Each function is marked `#[read]` (it takes `&self`) or `#[write]` (`&mut self`). From
/// `impl Jobs` come `weft_object::Object` for `Jobs`, and a trait `JobsOperations` for its handles,
/// whose functions have the same names, arguments, and results in `weft_object::Result`. The
/// functions themselves stay, for a `Jobs` that is not shared. For each, the trait also has
/// one that begins the operation, `begin_take` for `take`, and returns a `weft_object::Pending` to
/// be waited for, or awaited, later: so one thread has several operations under way.
///
/// - `#[write(when = !self.waiting.is_empty())]`: the guard, an expression of `self` and the
///   arguments, which it has by reference. The operation waits while it is false.
/// - `#[read(when = ..., or = take)]`: this function is an alternative of the operation `take`,
///   with the same arguments and result. Alternatives that read are tried first, then those that
///   write, each kind in the order in which they stand here.
/// - Arguments are owned and serde's, or `&str`, or arrays of numbers, `&[f64]` and `Vec<f64>`,
///   which are gathered where they lie. Results are owned; arrays of numbers are copied as bytes.
/// - The type is serde's (`Serialize` and `Deserialize`), because ranks send each other its state.
/// - `#[weft_object::object(name = "...")]` changes the name of the type by which ranks agree on
///   it.
#[proc_macro_attribute]
pub fn object(options: TokenStream, item: TokenStream) -> TokenStream {
    let options = parse_macro_input!(options as object::Options);
    let item = parse_macro_input!(item as ItemImpl);
    let expanded = object::ObjectType::read(options, item).map(|read| object::expand(&read));
    expanded.unwrap_or_else(syn::Error::into_compile_error).into()
}
