//! The parser: tokens to the syntax tree.
//!
//! Whatever cannot be parsed is reported and skipped, up to the end of the statement or
//! declaration, so that one run reports several errors. A missing semicolon or a missing end of a
//! block costs nothing else. The depth of a program is bounded before ([`nesting`]), so that
//! neither the parser nor what walks over the tree later runs out of stack.

use chumsky::input::MappedInput;
use chumsky::inspector::SimpleState;
use chumsky::prelude::*;

use crate::diagnostics::{Diagnostic, sorted};
use crate::lexer::{Token, lex};
use crate::source::{FileId, Sources, Span};
use crate::tree::{ExpressionId, File, Name};

mod declarations;
mod errors;
mod expressions;
mod nesting;
mod statements;
mod types;

/// Tree of a file, whole even if there are diagnostics, and its comments.
#[derive(Clone, Debug)]
pub struct Parsed {
    /// The tree; what was not understood is `Malformed` in it.
    pub file: File,
    /// The comments, which are no part of the tree.
    pub comments: Vec<Span>,
    /// Errors in the file, in the order of places.
    pub diagnostics: Vec<Diagnostic>,
}

/// The parser of trees whose expressions have consecutive numbers over several files.
#[derive(Clone, Debug, Default)]
pub struct FileParser {
    next: u32,
}

impl FileParser {
    /// The tree of one of the files.
    pub fn parse(&mut self, sources: &Sources, file: FileId) -> Parsed {
        self.parse_stretch(sources, sources.whole(file))
    }

    /// The tree of some of the declarations of a file, which are this stretch of it.
    pub fn parse_stretch(&mut self, sources: &Sources, whole: Span) -> Parsed {
        let file = whole.file;
        let lexed = lex(sources, whole);
        let mut diagnostics = lexed.diagnostics;
        let declarations = match nesting::check(&lexed.tokens) {
            Err(too_deep) => {
                diagnostics.push(too_deep);
                Vec::new()
            }
            Ok(()) => {
                let input = lexed.tokens.as_slice().split_token_span(whole.after());
                let mut numbers = SimpleState(self.next);
                let parsed = declarations::file().parse_with_state(input, &mut numbers);
                self.next = numbers.0;
                let (declarations, errors) = parsed.into_output_errors();
                let lexical: Vec<Span> = diagnostics.iter().map(|one| one.at.0).collect();
                let found = errors::diagnostics(&errors, &lexed.tokens);
                let text = &sources.file(file).text;
                let follows = |one: &Diagnostic| {
                    let after = |lexical: &Span| follows(text, *lexical, one.at.0, &lexed.tokens);
                    lexical.iter().any(after)
                };
                diagnostics.extend(found.into_iter().filter(|one| !follows(one)));
                declarations.unwrap_or_default()
            }
        };
        let file = File { file, declarations, span: whole };
        Parsed { file, comments: lexed.comments, diagnostics: sorted(diagnostics) }
    }

    /// One more than the largest number of an expression.
    pub fn expressions(&self) -> u32 {
        self.next
    }
}

/// True if what is wrong at a place may only be so because of what is no token: on the rest of its
/// line, and up to the first token of the next one.
fn follows(text: &str, lexical: Span, at: Span, tokens: &[(Token<'_>, Span)]) -> bool {
    let rest = text.get(lexical.end as usize..).unwrap_or("");
    let line = lexical.end + rest.find('\n').unwrap_or(rest.len()) as u32;
    let next = tokens.partition_point(|(_, span)| span.start < line);
    let end = tokens.get(next).map_or(u32::MAX, |(_, span)| span.end);
    (lexical.start..end).contains(&at.start)
}

/// Tokens as chumsky reads them.
type Tokens<'t> = MappedInput<'t, Token<'t>, Span, &'t [(Token<'t>, Span)]>;

/// An error of the parser, before [`errors`] puts it into words.
type Trouble<'t> = Rich<'t, Token<'t>, Span>;

/// Errors with expectations, and the next number of an expression as state.
type Extra<'t> = extra::Full<Trouble<'t>, SimpleState<u32>, ()>;

/// A rule of the grammar.
type Rule<'t, O> = Boxed<'t, 't, Tokens<'t>, O, Extra<'t>>;

/// The match of a rule: its place, and the state.
type Place<'t, 'p> = chumsky::input::MapExtra<'t, 'p, Tokens<'t>, Extra<'t>>;

/// A new number for an expression.
fn number(place: &mut Place<'_, '_>) -> ExpressionId {
    let state: &mut SimpleState<u32> = place.state();
    let id = ExpressionId(state.0);
    state.0 += 1;
    id
}

/// A name.
fn name<'t>() -> Rule<'t, Name> {
    select! { Token::Name(text) => text.to_owned() }
        .map_with(|text, place| Name { text, span: place.span() })
        .labelled("a name")
        .boxed()
}

/// Names between commas.
fn names<'t>() -> Rule<'t, Vec<Name>> {
    name().separated_by(just(Token::Comma)).at_least(1).collect().boxed()
}

/// The place of a word or sign.
fn word<'t>(token: Token<'t>) -> Rule<'t, Span> {
    just(token).map_with(|_, place| place.span()).boxed()
}

/// The place just before the next token, which stays.
fn here<'t>() -> Rule<'t, Span> {
    let before = any().map_with(|_, place: &mut Place<'t, '_>| place.span().before()).rewind();
    before.or(end().map_with(|(), place| place.span())).boxed()
}

/// The rule and its semicolon. If another statement or declaration follows, or the end
/// of a block, a missing semicolon is reported, and taken as if it were there.
fn ended<'t, O: 't>(rule: Rule<'t, O>) -> Rule<'t, O> {
    let there = just(Token::Semicolon).to(true);
    let follows = any().filter(|token| begins(*token) || ends(*token)).rewind().to(false);
    let at_end = end().to(false);
    rule.then(choice((there, follows, at_end)))
        .validate(|(matched, there), place, emitter| {
            if !there {
                emitter.emit(Rich::custom(place.span().after(), errors::SEMICOLON));
            }
            matched
        })
        .boxed()
}

/// The rule and its semicolon, which is taken as if it were there whatever follows: behind the end
/// of a routine, where nothing else can be meant.
fn ended_anyhow<'t, O: 't>(rule: Rule<'t, O>) -> Rule<'t, O> {
    rule.then(just(Token::Semicolon).or_not())
        .validate(|(matched, semicolon), place, emitter| {
            if semicolon.is_none() {
                emitter.emit(Rich::custom(place.span().after(), errors::SEMICOLON));
            }
            matched
        })
        .boxed()
}

/// True for words with which a statement or declaration begins.
fn begins(token: Token<'_>) -> bool {
    use Token::*;
    matches!(token, Name(_) | Begin | Do | Ellipsis | Exit | For | Fork | Guard | If | Repeat)
        || matches!(token, Return | While | Case | Const | Type | Import)
}

/// True for words that end a list of statements.
fn ends(token: Token<'_>) -> bool {
    use Token::*;
    matches!(token, End | Od | Fi | Else | Elsif | Until | Esac | Bar) || declares(token)
}

/// True for words with which no statement and no part of one begins.
fn declares(token: Token<'_>) -> bool {
    use Token::*;
    matches!(token, Operation | Process | Function | Object | Module | Generic | Nodes)
}

#[cfg(test)]
mod tests;
