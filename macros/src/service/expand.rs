//! Writing the trait again, and its client and server after it.

use super::read::{Method, Service};
use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{Ident, ReturnType, Type, Visibility};

/// Expansion of the attribute's trait.
pub fn expand(service: &Service) -> TokenStream {
    let (item, client, server) = (rewritten(service), client(service), server(service));
    quote! { #item #client #server }
}

/// The trait, whose futures can go to other threads.
fn rewritten(service: &Service) -> TokenStream {
    let mut item = service.item.clone();
    for bound in [syn::parse_quote!(Send), syn::parse_quote!(Sync), syn::parse_quote!('static)] {
        item.supertraits.push(bound);
    }
    // A program may have the client alone, or the server.
    item.attrs.push(syn::parse_quote!(#[allow(dead_code)]));
    for member in &mut item.items {
        let syn::TraitItem::Fn(function) = member else { continue };
        if function.sig.asyncness.take().is_some() {
            let output = match &function.sig.output {
                ReturnType::Default => quote!(()),
                ReturnType::Type(_, output) => quote!(#output),
            };
            function.sig.output = syn::parse_quote! {
                -> impl ::core::future::Future<Output = #output> + ::core::marker::Send
            };
        }
    }
    quote!(#item)
}

/// `BankClient`, and `BankAt`: the service at one rank.
fn client(service: &Service) -> TokenStream {
    let Service { item, name, methods } = service;
    let (visibility, bank) = (&item.vis, &item.ident);
    let (client, at) = (format_ident!("{bank}Client"), format_ident!("{bank}At"));
    let about_client = format!("Calls [`{bank}`] at other ranks.");
    let about_at = format!(
        "[`{bank}`] at one rank. Each method makes a call and returns its result's [`Reply`](::weft::Reply)."
    );
    let calls = methods.iter().map(|method| call(visibility, method));
    quote! {
        #[doc = #about_client]
        #[derive(Clone)]
        #[allow(dead_code)]
        #visibility struct #client(::weft::service::Caller);

        #[allow(dead_code)]
        impl #client {
            /// A client, for any rank that has the service.
            ///
            /// # Errors
            /// The service's name collides with another.
            #visibility fn new(weft: &::weft::Weft) -> ::weft::Result<Self> {
                ::core::result::Result::Ok(#client(::weft::service::Caller::new(weft, #name)?))
            }

            /// The service at `rank`.
            #visibility fn at(&self, rank: impl ::core::convert::Into<::weft::Rank>) -> #at<'_> {
                #at { caller: &self.0, rank: rank.into() }
            }
        }

        #[doc = #about_at]
        #[derive(Clone, Copy)]
        #[allow(dead_code)]
        #visibility struct #at<'a> {
            caller: &'a ::weft::service::Caller,
            rank: ::weft::Rank,
        }

        #[allow(dead_code)]
        impl #at<'_> {
            #(#calls)*
        }
    }
}

fn call(visibility: &Visibility, method: &Method) -> TokenStream {
    let Method { arguments, hash, attributes, .. } = method;
    let function = &method.signature.ident;
    let text = function.to_string();
    let parameters = arguments.iter().map(|(name, kind)| quote!(#name: #kind));
    let value = &method.output.value;
    let (reply, call) = match &method.output.error {
        None => (quote!(::weft::Reply<#value>), quote!(call)),
        Some(error) => {
            (quote!(::weft::Reply<#value, ::weft::CallError<#error>>), quote!(call_fallible))
        }
    };
    let tuple = tuple(arguments);
    quote! {
        #(#attributes)*
        #visibility fn #function(&self #(, #parameters)*) -> #reply {
            const METHOD: ::weft::service::Method =
                ::weft::service::Method { hash: #hash, name: #text };
            self.caller.#call(self.rank, METHOD, &#tuple)
        }
    }
}

/// `BankServer`: reads requests, calls the trait, replies.
fn server(service: &Service) -> TokenStream {
    let Service { item, name, methods } = service;
    let (visibility, bank) = (&item.vis, &item.ident);
    let server = format_ident!("{bank}Server");
    let about = format!("Serves a [`{bank}`] to other ranks until it is dropped.");
    let waits = methods.iter().any(|method| method.signature.asyncness.is_some());
    let arms = methods.iter().map(|method| arm(bank, method, waits));
    let choice = quote! {
        match incoming.method() {
            #(#arms)*
            _ => incoming.no_such_method(),
        }
    };
    let (serve, run) = match waits {
        false => (quote!(new), choice),
        true => {
            let run = quote! {
                let bank = ::std::sync::Arc::clone(&bank);
                async move { #choice }
            };
            (quote!(concurrent), run)
        }
    };
    quote! {
        #[doc = #about]
        #[allow(dead_code)]
        #visibility struct #server {
            _server: ::weft::service::Server,
        }

        #[allow(dead_code)]
        impl #server {
            /// Serves `bank`.
            ///
            /// # Errors
            /// This rank has such a service already.
            #visibility fn new(weft: &::weft::Weft, bank: impl #bank) -> ::weft::Result<Self> {
                let bank = ::std::sync::Arc::new(bank);
                let dispatch = move |incoming: ::weft::service::Incoming| { #run };
                let _server = ::weft::service::Server::#serve(weft, #name, dispatch)?;
                ::core::result::Result::Ok(#server { _server })
            }
        }
    }
}

/// Match arm for a request for `method`, in a function that `waits` or not.
fn arm(bank: &Ident, method: &Method, waits: bool) -> TokenStream {
    let Method { arguments, hash, signature, .. } = method;
    let function = &signature.ident;
    let names = arguments.iter().map(|(name, _)| name);
    let types = arguments.iter().map(|(_, kind)| kind);
    let tuple = tuple(arguments);
    let waiting = signature.asyncness.map(|_| quote!(.await));
    let types = quote!((#(#types,)*));
    let read = match waits {
        true => quote!(arguments_async::<#types>().await),
        false => quote!(arguments::<#types>()),
    };
    quote! {
        #hash => {
            let (#tuple, answer) = incoming.#read?;
            let value = #bank::#function(&*bank #(, #names)*) #waiting;
            answer.reply(&value)
        }
    }
}

fn tuple(arguments: &[(Ident, Type)]) -> TokenStream {
    let names = arguments.iter().map(|(name, _)| name);
    quote!((#(#names,)*))
}
