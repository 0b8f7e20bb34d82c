//! Writing the block again, and after it the type of objects and the operations of its handles.

use super::read::{Alternative, Argument, ObjectType, Operation, Way};
use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::Ident;

/// Expansion of the attribute's block.
pub fn expand(object: &ObjectType) -> TokenStream {
    let (item, bodies) = (&object.item, bodies(object));
    let (type_of_objects, operations) = (type_of_objects(object), operations(object));
    quote! { #item #bodies #type_of_objects #operations }
}

/// `Object` for the type.
fn type_of_objects(object: &ObjectType) -> TokenStream {
    let ObjectType { own, name, operations, .. } = object;
    let operations = operations.iter().map(|operation| {
        let name = operation.name.to_string();
        let (read, write) = (reading(operation), writing(operation));
        let body = match (operation.reads.is_empty(), operation.writes.is_empty()) {
            (false, true) => quote!(Read(Self::#read)),
            (true, _) => quote!(Write(Self::#write)),
            (false, false) => quote!(Either(Self::#read, Self::#write)),
        };
        quote! {
            ::weft_object::Operation { name: #name, body: ::weft_object::Body::#body }
        }
    });
    quote! {
        impl ::weft_object::Object for #own {
            const NAME: &'static str = #name;
            const OPERATIONS: &'static [::weft_object::Operation<Self>] = &[#(#operations,)*];

            fn capture(&self) -> ::std::vec::Vec<u8> {
                ::weft_object::marshal::capture(self)
            }

            fn restore(state: &[u8]) -> ::core::option::Option<Self> {
                ::weft_object::marshal::restore(state)
            }
        }
    }
}

/// Guards, and the functions that execute operations, on arguments in bytes and on those that are
/// there.
fn bodies(object: &ObjectType) -> TokenStream {
    let own = &object.own;
    let bodies = object.operations.iter().map(|operation| {
        let alternatives = operation.reads.iter().chain(&operation.writes);
        let guards = alternatives.filter_map(|alternative| guard(operation, alternative));
        let reads = (!operation.reads.is_empty()).then(|| {
            let (this, reads) = (quote!(&self), &operation.reads);
            let shipped = body(operation, &reading(operation), &this, reads);
            let here = body_here(operation, &reading_here(operation), &this, reads);
            quote! { #shipped #here }
        });
        let writes = (!operation.writes.is_empty()).then(|| {
            let (this, writes) = (quote!(&mut self), &operation.writes);
            let shipped = body(operation, &writing(operation), &this, writes);
            let here = body_here(operation, &writing_here(operation), &this, writes);
            quote! { #shipped #here }
        });
        quote! { #(#guards)* #reads #writes }
    });
    quote! {
        #[doc(hidden)]
        #[allow(clippy::ptr_arg, clippy::trivially_copy_pass_by_ref)]
        impl #own {
            #(#bodies)*
        }
    }
}

/// The guard of a function, which has the arguments by reference.
fn guard(operation: &Operation, alternative: &Alternative) -> Option<TokenStream> {
    let guard = alternative.guard.as_ref()?;
    let name = guarding(&alternative.function);
    let arguments = operation.arguments.iter().map(|Argument { name, is, way }| match way {
        Way::Value => quote!(#name: &#is),
        Way::Text => quote!(#name: &str),
        Way::Array { of, .. } => quote!(#name: &[#of]),
    });
    Some(quote! {
        #[allow(unused_variables)]
        fn #name(&self #(, #arguments)*) -> bool {
            #guard
        }
    })
}

/// A function that executes alternatives of an operation whose arguments are bytes.
fn body(
    operation: &Operation,
    name: &Ident,
    this: &TokenStream,
    alternatives: &[Alternative],
) -> TokenStream {
    let values = operation.arguments.iter().map(|Argument { name, is, way }| match way {
        Way::Value => (quote!(#name), quote!(#is)),
        Way::Text => (quote!(#name), quote!(&str)),
        Way::Array { .. } => (quote!(#name), quote!(u32)),
    });
    let (names, types): (Vec<_>, Vec<_>) = values.unzip();
    let arrays = operation.arguments.iter().filter_map(|Argument { name, way, .. }| match way {
        Way::Array { of, .. } => Some(quote! {
            let ::core::option::Option::Some(#name) = __arguments.array::<#of>(#name) else {
                return ::weft_object::Outcome::Malformed;
            };
        }),
        _ => None,
    });
    let put = match &operation.output.array {
        Some(_) => quote!(::weft_object::marshal::put_array(__done, __result)),
        None => quote!(::weft_object::marshal::put(&__done, __result)),
    };
    let tries = alternatives.iter().map(|alternative| {
        let (condition, function) = (condition(operation, alternative), &alternative.function);
        let arguments = operation.arguments.iter().map(|Argument { name, way, .. }| match way {
            Way::Array { is_owned: true, .. } => quote!(#name.into_owned()),
            Way::Array { is_owned: false, .. } => quote!(&#name),
            _ => quote!(#name),
        });
        quote! {
            if #condition {
                let __done = self.#function(#(#arguments),*);
                #put;
                return ::weft_object::Outcome::Done;
            }
        }
    });
    quote! {
        #[allow(unreachable_code, unused_mut)]
        fn #name(
            #this,
            __bytes: &[u8],
            __result: &mut ::std::vec::Vec<u8>,
        ) -> ::weft_object::Outcome {
            let ::core::option::Option::Some(mut __arguments) =
                ::weft_object::marshal::Arguments::parse(__bytes)
            else {
                return ::weft_object::Outcome::Malformed;
            };
            let ::core::option::Option::Some((#(#names,)*)) =
                __arguments.values::<(#(#types,)*)>()
            else {
                return ::weft_object::Outcome::Malformed;
            };
            #(#arrays)*
            if !__arguments.is_read() {
                return ::weft_object::Outcome::Malformed;
            }
            #(#tries)*
            ::weft_object::Outcome::Blocked
        }
    }
}

/// A function that executes alternatives of an operation whose arguments are there. It gives them
/// back if all guards are false.
fn body_here(
    operation: &Operation,
    name: &Ident,
    this: &TokenStream,
    alternatives: &[Alternative],
) -> TokenStream {
    let (names, types): (Vec<_>, Vec<_>) =
        operation.arguments.iter().map(|Argument { name, is, .. }| (name, is)).unzip();
    let output = &operation.output.is;
    let tries = alternatives.iter().map(|alternative| {
        let (condition, function) = (condition(operation, alternative), &alternative.function);
        quote! {
            if #condition {
                return ::core::option::Option::Some(self.#function(#(#names),*));
            }
        }
    });
    quote! {
        #[inline]
        fn #name(
            #this,
            __arguments: &mut ::core::option::Option<(#(#types,)*)>,
        ) -> ::core::option::Option<#output> {
            let (#(#names,)*) = __arguments.take()?;
            #(#tries)*
            *__arguments = ::core::option::Option::Some((#(#names,)*));
            ::core::option::Option::None
        }
    }
}

/// The guard of an alternative, evaluated on `self`.
fn condition(operation: &Operation, alternative: &Alternative) -> TokenStream {
    if alternative.guard.is_none() {
        return quote!(true);
    }
    let name = guarding(&alternative.function);
    let arguments = operation.arguments.iter().map(|Argument { name, way, .. }| match way {
        Way::Text => quote!(#name),
        _ => quote!(&#name),
    });
    quote!(self.#name(#(#arguments),*))
}

/// The trait with the operations of a handle.
fn operations(object: &ObjectType) -> TokenStream {
    let own = &object.own;
    let name = format_ident!("{own}Operations");
    let visibility = object.operations.first().map(|operation| &operation.visibility);
    let about = format!("Operations on a shared [`{own}`].");
    let heads = object.operations.iter().map(|operation| {
        let (documentation, head) = (&operation.documentation, head(operation));
        let begins = format!("Begins [`{own}::{}`], to be waited for later.", operation.name);
        let beginning = beginning(own, operation);
        quote! { #(#documentation)* #head; #[doc = #begins] #beginning; }
    });
    let functions = object.operations.iter().zip(0u16..).map(|(operation, number)| {
        let (head, steps) = (head(operation), steps(own, operation, number));
        let (beginning, ships) = (beginning(own, operation), begins(operation, number));
        quote! { #[inline] #head { #steps } #beginning { #ships } }
    });
    quote! {
        #[doc = #about]
        #[allow(dead_code)]
        #visibility trait #name {
            #(#heads)*
        }

        impl #name for ::weft_object::Handle<#own> {
            #(#functions)*
        }
    }
}

fn head(operation: &Operation) -> TokenStream {
    let (name, output) = (&operation.name, &operation.output.is);
    heading(operation, name, &quote!(#output))
}

/// Head of the function that begins an operation.
fn beginning(own: &Ident, operation: &Operation) -> TokenStream {
    let (name, output) = (format_ident!("begin_{}", operation.name), &operation.output.is);
    heading(operation, &name, &quote!(::weft_object::Pending<#own, #output>))
}

fn heading(operation: &Operation, name: &Ident, output: &TokenStream) -> TokenStream {
    let arguments = operation.arguments.iter().map(|Argument { name, is, .. }| quote!(#name: #is));
    quote!(fn #name(&self #(, #arguments)*) -> ::weft_object::Result<#output>)
}

/// Steps of a handle that begins an operation: it ships it.
fn begins(operation: &Operation, number: u16) -> TokenStream {
    let (marshalled, take) = (marshalled(operation), take(operation));
    quote! {
        #marshalled
        let __pending = self.begin(#number, &__parts)?;
        ::core::result::Result::Ok(__pending.reading(|__result| #take))
    }
}

/// Steps of a handle: it tries the copy here, and ships the operation if that did not execute it.
fn steps(own: &Ident, operation: &Operation, number: u16) -> TokenStream {
    let names: Vec<&Ident> = operation.arguments.iter().map(|argument| &argument.name).collect();
    let here = [
        (&operation.reads, quote!(read_here), quote!(&#own), reading_here(operation)),
        (&operation.writes, quote!(write_here), quote!(&mut #own), writing_here(operation)),
    ];
    let here = here.iter().filter(|(alternatives, ..)| !alternatives.is_empty());
    let here = here.map(|(_, call, this, function)| {
        quote! {
            let __here = self.#call(#number, |__object: #this| {
                #own::#function(__object, &mut __arguments)
            })?;
            if let ::core::option::Option::Some(__done) = __here {
                return ::core::result::Result::Ok(__done);
            }
        }
    });
    let (marshalled, take) = (marshalled(operation), take(operation));
    quote! {
        let mut __arguments = ::core::option::Option::Some((#(#names,)*));
        #(#here)*
        let ::core::option::Option::Some((#(#names,)*)) = __arguments else {
            unreachable!("what was not executed gives its arguments back")
        };
        #marshalled
        let __result = self.invoke(#number, &__parts)?;
        #take
    }
}

/// The arguments of an operation, which become pieces.
fn marshalled(operation: &Operation) -> TokenStream {
    let arrays = operation.arguments.iter().filter_map(|Argument { name, way, .. }| match way {
        Way::Array { .. } => Some(quote!(::weft_object::marshal::array(&#name[..]))),
        _ => None,
    });
    let values = operation.arguments.iter().map(|Argument { name, way, .. }| match way {
        Way::Array { .. } => quote!(::weft_object::marshal::count(&#name[..])?),
        _ => quote!(#name),
    });
    quote! {
        let __values = ::weft_object::marshal::values(&(#(#values,)*))?;
        let __parts = [#(#arrays,)* &__values[..]];
    }
}

/// The result of an operation, from its bytes.
fn take(operation: &Operation) -> TokenStream {
    match &operation.output.array {
        Some(_) => quote!(::weft_object::marshal::take_array(__result)),
        None => quote!(::weft_object::marshal::take(&__result)),
    }
}

fn guarding(function: &Ident) -> Ident {
    format_ident!("__guard_{function}")
}

fn reading(operation: &Operation) -> Ident {
    format_ident!("__read_{}", operation.name)
}

fn writing(operation: &Operation) -> Ident {
    format_ident!("__write_{}", operation.name)
}

fn reading_here(operation: &Operation) -> Ident {
    format_ident!("__read_here_{}", operation.name)
}

fn writing_here(operation: &Operation) -> Ident {
    format_ident!("__write_here_{}", operation.name)
}
