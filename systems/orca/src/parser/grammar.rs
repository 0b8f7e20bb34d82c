//! Rules that all parts of the grammar are made of.

use chumsky::input::MappedInput;
use chumsky::inspector::SimpleState;
use chumsky::prelude::*;

use super::errors::{SEMICOLON, Trouble};
use crate::lexer::Token;
use crate::source::Span;
use crate::tree::{ExpressionId, Name};

/// Tokens as chumsky reads them.
type Tokens<'t> = MappedInput<'t, Token<'t>, Span, &'t [(Token<'t>, Span)]>;

/// Errors with expectations, and the next number of an expression as state.
type Extra<'t> = extra::Full<Trouble<'t>, SimpleState<u32>, ()>;

/// A rule of the grammar.
pub type Rule<'t, O> = Boxed<'t, 't, Tokens<'t>, O, Extra<'t>>;

/// The match of a rule: its place, and the state.
pub type Place<'t, 'p> = chumsky::input::MapExtra<'t, 'p, Tokens<'t>, Extra<'t>>;

/// A new number for an expression.
pub fn number(place: &mut Place<'_, '_>) -> ExpressionId {
    let state: &mut SimpleState<u32> = place.state();
    let id = ExpressionId(state.0);
    state.0 += 1;
    id
}

/// A name.
pub fn name<'t>() -> Rule<'t, Name> {
    select! { Token::Name(text) => text.to_owned() }
        .map_with(|text, place| Name { text, span: place.span() })
        .labelled("a name")
        .boxed()
}

/// Names between commas.
pub fn names<'t>() -> Rule<'t, Vec<Name>> {
    name().separated_by(just(Token::Comma)).at_least(1).collect().boxed()
}

/// The place of a word or sign.
pub fn word<'t>(token: Token<'t>) -> Rule<'t, Span> {
    just(token).map_with(|_, place| place.span()).boxed()
}

/// The place just before the next token, which stays.
pub fn here<'t>() -> Rule<'t, Span> {
    let before = any().map_with(|_, place: &mut Place<'t, '_>| place.span().before()).rewind();
    before.or(end().map_with(|(), place| place.span())).boxed()
}

/// The rule and its semicolon. If another statement or declaration follows, or the end
/// of a block, a missing semicolon is reported, and taken as if it were there.
pub fn ended<'t, O: 't>(rule: Rule<'t, O>) -> Rule<'t, O> {
    let there = just(Token::Semicolon).to(true);
    let follows = any().filter(|token| begins(*token) || ends(*token)).rewind().to(false);
    let at_end = end().to(false);
    rule.then(choice((there, follows, at_end)))
        .validate(|(matched, there), place, emitter| {
            if !there {
                emitter.emit(Rich::custom(place.span().after(), SEMICOLON));
            }
            matched
        })
        .boxed()
}

/// The rule and its semicolon, which is taken as if it were there whatever follows: behind the end
/// of a routine, where nothing else can be meant.
pub fn ended_anyhow<'t, O: 't>(rule: Rule<'t, O>) -> Rule<'t, O> {
    rule.then(just(Token::Semicolon).or_not())
        .validate(|(matched, semicolon), place, emitter| {
            if semicolon.is_none() {
                emitter.emit(Rich::custom(place.span().after(), SEMICOLON));
            }
            matched
        })
        .boxed()
}

/// True for words with which a statement or declaration begins.
pub fn begins(token: Token<'_>) -> bool {
    use Token::*;
    matches!(token, Name(_) | Begin | Do | Ellipsis | Exit | For | Fork | Guard | If | Repeat)
        || matches!(token, Return | While | Case | Const | Type | Import)
}

/// True for words that end a list of statements.
pub fn ends(token: Token<'_>) -> bool {
    use Token::*;
    matches!(token, End | Od | Fi | Else | Elsif | Until | Esac | Bar) || declares(token)
}

/// True for words with which no statement and no part of one begins.
pub fn declares(token: Token<'_>) -> bool {
    use Token::*;
    matches!(token, Operation | Process | Function | Object | Module | Generic | Nodes)
}
