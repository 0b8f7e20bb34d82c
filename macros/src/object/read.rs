//! Reading the block: what may stand in it, and errors where something else does.

use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{
    Attribute, Error, Expr, FnArg, GenericArgument, Ident, ImplItem, ImplItemFn, ItemImpl, LitStr,
    Meta, Pat, PathArguments, Result, ReturnType, Signature, Token, Type, Visibility, parse_quote,
};

/// Types of which an array travels as its bytes.
const NUMBERS: [&str; 14] = [
    "u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32", "i64", "i128", "isize", "f32",
    "f64",
];

/// Options in the attribute's parentheses.
#[derive(Default)]
pub struct Options {
    /// The type's name among ranks, if it is not its own.
    name: Option<String>,
}

impl Parse for Options {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        if input.is_empty() {
            return Ok(Options::default());
        }
        let key: Ident = input.parse()?;
        if key != "name" {
            return Err(Error::new(key.span(), "the only option is `name = \"...\"`"));
        }
        input.parse::<Token![=]>()?;
        let name: LitStr = input.parse()?;
        match name.value().len() {
            1..=255 => Ok(Options { name: Some(name.value()) }),
            _ => Err(Error::new(name.span(), "the name of a type has 1 to 255 bytes")),
        }
    }
}

/// A block that is a type of objects.
pub struct ObjectType {
    /// The block without the marks.
    pub item: ItemImpl,
    /// The type.
    pub own: Ident,
    /// Its name among ranks.
    pub name: String,
    pub operations: Vec<Operation>,
}

/// One operation.
pub struct Operation {
    pub name: Ident,
    pub visibility: Visibility,
    pub documentation: Vec<Attribute>,
    pub arguments: Vec<Argument>,
    pub output: Output,
    /// Alternatives that read, and that write.
    pub reads: Vec<Alternative>,
    pub writes: Vec<Alternative>,
}

/// One function, and its guard.
pub struct Alternative {
    pub function: Ident,
    pub guard: Option<Expr>,
}

/// An argument.
pub struct Argument {
    pub name: Ident,
    pub is: Type,
    pub way: Way,
}

/// Way in which an argument travels.
pub enum Way {
    /// A value of its own.
    Value,
    /// Text that is borrowed.
    Text,
    /// An array of these numbers, which is borrowed, or owned.
    Array { of: Box<Type>, is_owned: bool },
}

/// A result.
pub struct Output {
    pub is: Type,
    /// Its elements, if it is an array of numbers.
    pub array: Option<Type>,
}

/// Mark of a function.
struct Mark {
    writes: bool,
    guard: Option<Expr>,
    or: Option<Ident>,
}

impl ObjectType {
    pub fn read(options: Options, mut item: ItemImpl) -> Result<Self> {
        if let Some((_, of, _)) = &item.trait_ {
            return Err(Error::new(of.span(), "operations stand in a block of the type itself"));
        }
        if !item.generics.params.is_empty() {
            return Err(Error::new(item.generics.span(), "a type of objects is not generic"));
        }
        let own = match &*item.self_ty {
            Type::Path(path) => path.path.get_ident().cloned(),
            _ => None,
        };
        let own = own.ok_or_else(|| Error::new(item.self_ty.span(), "a type has a plain name"))?;
        let mut operations = Vec::new();
        for member in &mut item.items {
            let ImplItem::Fn(function) = member else {
                return Err(Error::new(member.span(), "operations, and nothing else, stand here"));
            };
            add(function, &mut operations)?;
        }
        if operations.len() > usize::from(u16::MAX) {
            return Err(Error::new(own.span(), "a type has fewer than 65,536 operations"));
        }
        let name = options.name.unwrap_or_else(|| own.to_string());
        Ok(ObjectType { item, own, name, operations })
    }
}

/// Adds a function to the operations, and takes its mark away.
fn add(function: &mut ImplItemFn, operations: &mut Vec<Operation>) -> Result<()> {
    let mark = mark(function)?;
    let signature = &function.sig;
    check(signature, mark.writes)?;
    if mark.guard.is_some() {
        // Some arguments are there for the guard alone.
        function.attrs.push(parse_quote!(#[allow(unused_variables)]));
    }
    let alternative = Alternative { function: signature.ident.clone(), guard: mark.guard };
    let operation = match &mark.or {
        Some(of) => {
            let known = operations.iter_mut().find(|operation| operation.name == *of);
            let known =
                known.ok_or_else(|| Error::new(of.span(), "no operation above has this name"))?;
            if known.arguments.len() != signature.inputs.len() - 1 {
                let what = format!("an alternative of `{of}` has the same arguments");
                return Err(Error::new(signature.inputs.span(), what));
            }
            known
        }
        None => {
            operations.push(Operation {
                name: signature.ident.clone(),
                visibility: function.vis.clone(),
                documentation: documentation(&function.attrs),
                arguments: arguments(signature)?,
                output: output(&signature.output)?,
                reads: Vec::new(),
                writes: Vec::new(),
            });
            let Some(last) = operations.last_mut() else { unreachable!("it was pushed") };
            last
        }
    };
    let kind = if mark.writes { &mut operation.writes } else { &mut operation.reads };
    kind.push(alternative);
    Ok(())
}

/// The mark of a function, which is taken away.
fn mark(function: &mut ImplItemFn) -> Result<Mark> {
    let is_mark = |a: &Attribute| a.path().is_ident("read") || a.path().is_ident("write");
    let at = function.attrs.iter().position(is_mark);
    let Some(at) = at else {
        let what = "say whether this operation may write: `#[read]` or `#[write]`";
        return Err(Error::new(function.sig.ident.span(), what));
    };
    let attribute = function.attrs.remove(at);
    if let Some(second) = function.attrs.iter().find(|attribute| is_mark(attribute)) {
        return Err(Error::new(second.span(), "an operation has one of `#[read]` and `#[write]`"));
    }
    let mut mark = Mark { writes: attribute.path().is_ident("write"), guard: None, or: None };
    if let Meta::Path(_) = attribute.meta {
        return Ok(mark);
    }
    let clauses = attribute.parse_args_with(Punctuated::<Clause, Token![,]>::parse_terminated)?;
    for clause in clauses {
        match clause {
            Clause::When(guard) => mark.guard = Some(guard),
            Clause::Or(of) => mark.or = Some(of),
        }
    }
    Ok(mark)
}

enum Clause {
    When(Expr),
    Or(Ident),
}

impl Parse for Clause {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let key: Ident = input.parse()?;
        input.parse::<Token![=]>()?;
        match key.to_string().as_str() {
            "when" => Ok(Clause::When(input.parse()?)),
            "or" => Ok(Clause::Or(input.parse()?)),
            _ => Err(Error::new(key.span(), "`when = guard` and `or = operation` may stand here")),
        }
    }
}

/// Checks that a function can be an operation.
fn check(signature: &Signature, writes: bool) -> Result<()> {
    if !signature.generics.params.is_empty() {
        return Err(Error::new(signature.generics.span(), "an operation is not generic"));
    }
    if let Some(asyncness) = signature.asyncness {
        let what = "an operation does not wait inside; it waits for its guard: `when = ...`";
        return Err(Error::new(asyncness.span(), what));
    }
    let (span, what) = match signature.inputs.first() {
        Some(FnArg::Receiver(this)) if this.reference.is_some() => match writes {
            true if this.mutability.is_none() => (this.span(), "one that writes takes `&mut self`"),
            false if this.mutability.is_some() => (this.span(), "one that reads takes `&self`"),
            _ => return Ok(()),
        },
        other => {
            let span = other.map_or(signature.ident.span(), Spanned::span);
            (span, "an operation takes `&self` or `&mut self`")
        }
    };
    Err(Error::new(span, what))
}

fn arguments(signature: &Signature) -> Result<Vec<Argument>> {
    let mut arguments = Vec::new();
    for input in signature.inputs.iter().skip(1) {
        let FnArg::Typed(input) = input else { continue };
        let Pat::Ident(name) = &*input.pat else {
            return Err(Error::new(
                input.pat.span(),
                "an argument of an operation has a plain name",
            ));
        };
        let way = way(&input.ty)?;
        let (name, is) = (name.ident.clone(), (*input.ty).clone());
        arguments.push(Argument { name, is, way });
    }
    Ok(arguments)
}

fn way(is: &Type) -> Result<Way> {
    let Type::Reference(reference) = is else {
        return Ok(match array(is) {
            Some(of) => Way::Array { of: Box::new(of), is_owned: true },
            None => Way::Value,
        });
    };
    match &*reference.elem {
        _ if reference.mutability.is_some() => {}
        Type::Slice(slice) if is_number(&slice.elem) => {
            return Ok(Way::Array { of: slice.elem.clone(), is_owned: false });
        }
        Type::Path(path) if path.path.is_ident("str") => return Ok(Way::Text),
        _ => {}
    }
    let what = "an argument may travel to another rank: it is owned, or `&str`, or an array of numbers such as `&[f64]`";
    Err(Error::new(is.span(), what))
}

fn output(output: &ReturnType) -> Result<Output> {
    let ReturnType::Type(_, is) = output else {
        return Ok(Output { is: parse_quote!(()), array: None });
    };
    match &**is {
        Type::Reference(_) | Type::ImplTrait(_) => {
            Err(Error::new(is.span(), "a result may travel to another rank, so it is owned"))
        }
        _ => Ok(Output { is: (**is).clone(), array: array(is) }),
    }
}

/// Elements of an owned array of numbers.
fn array(is: &Type) -> Option<Type> {
    let Type::Path(path) = is else { return None };
    let last = path.path.segments.last().filter(|last| last.ident == "Vec")?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else { return None };
    match arguments.args.first() {
        Some(GenericArgument::Type(of)) if is_number(of) => Some(of.clone()),
        _ => None,
    }
}

fn is_number(is: &Type) -> bool {
    let Type::Path(path) = is else { return false };
    NUMBERS.iter().any(|number| path.path.is_ident(number))
}

fn documentation(attributes: &[Attribute]) -> Vec<Attribute> {
    attributes.iter().filter(|attribute| attribute.path().is_ident("doc")).cloned().collect()
}

#[cfg(test)]
mod tests;
