//! Reading the trait: what may stand in it, and errors where something else does.

use syn::parse::{Parse, ParseStream};
use syn::spanned::Spanned;
use syn::{
    Error, FnArg, GenericArgument, Ident, ItemTrait, LitStr, Pat, PathArguments, Result,
    ReturnType, Signature, Token, TraitItem, Type, parse_quote,
};

/// Options in the attribute's parentheses.
#[derive(Default)]
pub struct Options {
    /// The service's name on the wire, if it is not the trait's.
    name: Option<String>,
}

impl Parse for Options {
    fn parse(input: ParseStream) -> Result<Self> {
        if input.is_empty() {
            return Ok(Options::default());
        }
        let key: Ident = input.parse()?;
        if key != "name" {
            return Err(Error::new(key.span(), "the only option is `name = \"...\"`"));
        }
        input.parse::<Token![=]>()?;
        let name: LitStr = input.parse()?;
        if name.value().is_empty() {
            return Err(Error::new(name.span(), "a service has a name"));
        }
        Ok(Options { name: Some(name.value()) })
    }
}

/// A trait that can be a service.
pub struct Service {
    pub item: ItemTrait,
    /// The name on the wire.
    pub name: String,
    pub methods: Vec<Method>,
}

/// One of its methods.
pub struct Method {
    pub signature: Signature,
    pub arguments: Vec<(Ident, Type)>,
    pub output: Output,
    pub hash: u32,
    pub attributes: Vec<syn::Attribute>,
}

/// Result type of a method: a value, or `Result<value, error>`.
pub struct Output {
    pub value: Type,
    pub error: Option<Type>,
}

impl Output {
    fn of(value: Type) -> Self {
        Output { value, error: None }
    }
}

impl Service {
    pub fn read(options: Options, item: ItemTrait) -> Result<Self> {
        if !item.generics.params.is_empty() {
            return Err(Error::new(item.generics.span(), "a service is not generic"));
        }
        let mut methods: Vec<Method> = Vec::new();
        for member in &item.items {
            let TraitItem::Fn(function) = member else {
                return Err(Error::new(member.span(), "a service has methods and nothing else"));
            };
            if let Some(body) = &function.default {
                return Err(Error::new(body.span(), "a method of a service has no body here"));
            }
            let method = Method::read(&function.sig, &function.attrs)?;
            if methods.iter().any(|other| other.hash == method.hash) {
                let what = "the hashes of two signatures collide; rename this method";
                return Err(Error::new(function.sig.ident.span(), what));
            }
            methods.push(method);
        }
        let name = options.name.unwrap_or_else(|| item.ident.to_string());
        Ok(Service { item, name, methods })
    }
}

impl Method {
    fn read(signature: &Signature, attributes: &[syn::Attribute]) -> Result<Self> {
        if !signature.generics.params.is_empty() {
            return Err(Error::new(
                signature.generics.span(),
                "a method of a service is not generic",
            ));
        }
        let arguments = arguments(signature)?;
        let output = output(&signature.output)?;
        Ok(Method {
            hash: hash(signature, &arguments),
            signature: signature.clone(),
            arguments,
            output,
            attributes: attributes.iter().filter(|a| a.path().is_ident("doc")).cloned().collect(),
        })
    }
}

fn arguments(signature: &Signature) -> Result<Vec<(Ident, Type)>> {
    let mut inputs = signature.inputs.iter();
    match inputs.next() {
        Some(FnArg::Receiver(this)) if this.reference.is_some() && this.mutability.is_none() => {}
        other => {
            let span = other.map_or(signature.ident.span(), Spanned::span);
            return Err(Error::new(span, "a method of a service takes `&self`: calls may overlap"));
        }
    }
    let mut arguments = Vec::new();
    for input in inputs {
        let FnArg::Typed(input) = input else { continue };
        let Pat::Ident(name) = &*input.pat else {
            return Err(Error::new(input.pat.span(), "an argument of a service has a plain name"));
        };
        if let Type::Reference(reference) = &*input.ty {
            let what =
                "an argument travels to another rank, so it is owned: `String`, `Vec<T>`, ...";
            return Err(Error::new(reference.span(), what));
        }
        arguments.push((name.ident.clone(), (*input.ty).clone()));
    }
    Ok(arguments)
}

fn output(output: &ReturnType) -> Result<Output> {
    let ReturnType::Type(_, output) = output else { return Ok(Output::of(parse_quote!(()))) };
    let Type::Path(path) = &**output else {
        return match &**output {
            Type::Reference(_) | Type::ImplTrait(_) => {
                Err(Error::new(output.span(), "a result travels to another rank, so it is owned"))
            }
            _ => Ok(Output::of((**output).clone())),
        };
    };
    let last = path.path.segments.last().filter(|last| last.ident == "Result");
    let Some(last) = last else { return Ok(Output::of((**output).clone())) };
    if let PathArguments::AngleBracketed(arguments) = &last.arguments {
        let mut types = arguments.args.iter().filter_map(|argument| match argument {
            GenericArgument::Type(argument) => Some(argument.clone()),
            _ => None,
        });
        if let (Some(value), Some(error), None) = (types.next(), types.next(), types.next()) {
            return Ok(Output { value, error: Some(error) });
        }
    }
    Err(Error::new(output.span(), "write both types: `Result<T, E>`, where `E` travels too"))
}

/// FNV-1a of name, types of arguments and result, as they are written.
fn hash(signature: &Signature, arguments: &[(Ident, Type)]) -> u32 {
    let types: Vec<String> = arguments.iter().map(|(_, argument)| written(argument)).collect();
    let output = written(&signature.output);
    let text = format!("{}({}){}", signature.ident, types.join(","), output);
    text.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

/// The tokens without the spaces, which are the compiler's to choose.
fn written(tokens: &impl quote::ToTokens) -> String {
    tokens.to_token_stream().to_string().split_whitespace().collect()
}
