//! The lexer: text to tokens with places.

use crate::diagnostics::{Diagnostic, Span};
use logos::Logos;
use std::fmt;

/// A token. Comments go from `#` to the end of their line.
#[derive(Logos, Clone, Copy, PartialEq, Debug)]
#[logos(skip r"[ \t\r\n\f]+")]
#[logos(skip(r"#[^\n]*", allow_greedy = true))]
pub enum Token<'s> {
    /// A word: names and the words of the language. Parts of it may be joined by hyphens.
    #[regex(r"[A-Za-z_][A-Za-z0-9_]*(-[A-Za-z_][A-Za-z0-9_]*)*", |lexer| lexer.slice())]
    Word(&'s str),
    /// A number.
    #[regex(r"[0-9]+", |lexer| lexer.slice())]
    Number(&'s str),
    /// A picture or a sign, without its quotes.
    #[regex(r#""[^"]*""#, |lexer| lexer.slice().trim_matches('"'))]
    Text(&'s str),
    /// The beginning of a text that does not end.
    #[regex(r#""[^"]*"#)]
    Open,
    /// A sign of one or two characters.
    #[regex(r"->|/=|<=|>=|[:,\[\]()|+*/=<>@-]", |lexer| lexer.slice())]
    Sign(&'s str),
}

impl fmt::Display for Token<'_> {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Token::Word(text) | Token::Number(text) | Token::Sign(text) => write!(to, "`{text}`"),
            Token::Text(_) | Token::Open => to.write_str("a text in quotes"),
        }
    }
}

/// Tokens of a text, and errors: characters that make no token.
pub fn lex(text: &str) -> (Vec<(Token<'_>, Span)>, Vec<Diagnostic>) {
    let (mut tokens, mut errors) = (Vec::new(), Vec::new());
    for (token, range) in Token::lexer(text).spanned() {
        let span = Span { start: range.start, end: range.end };
        match token {
            Ok(Token::Open) => errors.push(unterminated(span)),
            Ok(token) => tokens.push((token, span)),
            Err(()) => {
                let message = format!("unexpected character `{}`", &text[range]);
                let help = "the language has no such character: remove it";
                errors.push(*Diagnostic::new(message, span, help));
            }
        }
    }
    (tokens, errors)
}

fn unterminated(span: Span) -> Diagnostic {
    let at = Span { end: span.start + 1, ..span };
    *Diagnostic::new("unterminated text", at, "close it with `\"`")
}
