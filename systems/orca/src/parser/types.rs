//! Types as they are written.

use chumsky::prelude::*;

use super::grammar::{Rule, ended, name, names};
use crate::lexer::Token;
use crate::tree::{Expression, Field, Index, TypeKind, TypeSyntax, Variant};

/// Any type.
pub fn types<'t>(expression: Rule<'t, Expression>) -> Rule<'t, TypeSyntax> {
    recursive(|of| {
        let of: Rule<'t, TypeSyntax> = of.boxed();
        let field = ended(names().then_ignore(just(Token::Colon)).then(of.clone()).boxed())
            .map_with(|(names, of), place| Field { names, of, span: place.span() });
        let fields: Rule<'t, Vec<Field>> = field.repeated().collect().boxed();
        let record = just(Token::Record)
            .ignore_then(fields.clone())
            .then_ignore(just(Token::End))
            .map(TypeKind::Record);
        let graph = just(Token::Graph)
            .ignore_then(fields.clone())
            .then_ignore(just(Token::Nodes))
            .then(fields)
            .then_ignore(just(Token::End))
            .map(|(fields, nodes)| TypeKind::Graph { fields, nodes });
        let of_element = just(Token::Of).ignore_then(of.clone().map(Box::new)).boxed();
        choice((
            named(expression.clone()),
            enumeration(),
            record,
            union(expression.clone(), of.clone()),
            array(expression, of),
            just(Token::Set).ignore_then(of_element.clone()).map(TypeKind::Set),
            just(Token::Bag).ignore_then(of_element.clone()).map(TypeKind::Bag),
            graph,
            just(Token::Nodename).ignore_then(of_element).map(TypeKind::NodeName),
        ))
        .map_with(|kind, place| TypeSyntax { kind, span: place.span() })
        .labelled("a type")
    })
    .boxed()
}

/// `first..last`.
fn bounds<'t>(expression: Rule<'t, Expression>) -> Rule<'t, (Expression, Expression)> {
    expression.clone().then_ignore(just(Token::Dots)).then(expression).boxed()
}

fn named<'t>(expression: Rule<'t, Expression>) -> Rule<'t, TypeKind> {
    let bounds = bounds(expression)
        .separated_by(just(Token::Comma))
        .at_least(1)
        .collect()
        .delimited_by(just(Token::BracketOpen), just(Token::BracketClose));
    name()
        .then(just(Token::Dot).ignore_then(name()).or_not())
        .then(bounds.or_not())
        .map(|((first, second), bounds)| {
            let bounds = bounds.unwrap_or_default();
            match second {
                Some(name) => TypeKind::Named { module: Some(first), name, bounds },
                None => TypeKind::Named { module: None, name: first, bounds },
            }
        })
        .boxed()
}

fn enumeration<'t>() -> Rule<'t, TypeKind> {
    names()
        .delimited_by(just(Token::ParenthesisOpen), just(Token::ParenthesisClose))
        .map(TypeKind::Enumeration)
        .boxed()
}

fn union<'t>(expression: Rule<'t, Expression>, of: Rule<'t, TypeSyntax>) -> Rule<'t, TypeKind> {
    let variant = expression
        .then_ignore(just(Token::Arrow))
        .then(name())
        .then_ignore(just(Token::Colon))
        .then(of.clone())
        .boxed();
    let variant = ended(variant).map_with(|((choice, name), of), place| Variant {
        choice,
        name,
        of,
        span: place.span(),
    });
    just(Token::Union)
        .ignore_then(just(Token::ParenthesisOpen))
        .ignore_then(name())
        .then_ignore(just(Token::Colon))
        .then(of.map(Box::new))
        .then_ignore(just(Token::ParenthesisClose))
        .then(variant.repeated().collect())
        .then_ignore(just(Token::End))
        .map(|((tag, of), variants)| TypeKind::Union { tag, of, variants })
        .boxed()
}

fn array<'t>(expression: Rule<'t, Expression>, of: Rule<'t, TypeSyntax>) -> Rule<'t, TypeKind> {
    let bounds = bounds(expression).map(|(first, last)| Index::Bounds(first, last));
    let index = bounds.or(of.clone().map(Index::Type));
    let indices = index
        .separated_by(just(Token::Comma))
        .at_least(1)
        .collect()
        .delimited_by(just(Token::BracketOpen), just(Token::BracketClose));
    just(Token::Array)
        .ignore_then(indices)
        .then_ignore(just(Token::Of))
        .then(of.map(Box::new))
        .map(|(indices, of)| TypeKind::Array { indices, of })
        .boxed()
}
