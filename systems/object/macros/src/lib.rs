//! The attribute that makes an `impl` block a type of shared objects; `weft-object` exports it.

#![forbid(unsafe_code)]

mod expand;
mod read;

use proc_macro::TokenStream;
use syn::{ItemImpl, parse_macro_input};

/// Type of shared objects, from an `impl` block whose functions are operations.
///
/// Each function is marked `#[read]` (it takes `&self`) or `#[write]` (`&mut self`). From
/// `impl Jobs` come `weft_object::Object` for `Jobs`, and a trait `JobsOperations` for its handles,
/// whose functions have the same names, arguments, and results in `weft_object::Result`. The
/// functions themselves stay, for who has a `Jobs` that is not shared. For each, the trait also has
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
    let options = parse_macro_input!(options as read::Options);
    let item = parse_macro_input!(item as ItemImpl);
    let expanded = read::ObjectType::read(options, item).map(|read| expand::expand(&read));
    expanded.unwrap_or_else(syn::Error::into_compile_error).into()
}
