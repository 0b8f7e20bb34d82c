//! Tokens of a text, taken one after the other.

use crate::diagnostics::{Diagnostic, Parse, Span};
use crate::lexer::Token;

/// Tokens of a text, up to the next one.
pub struct Tokens<'s> {
    all: Vec<(Token<'s>, Span)>,
    at: usize,
    /// Behind the text.
    end: Span,
}

impl<'s> Tokens<'s> {
    /// Tokens of a text of this length.
    pub fn new(all: Vec<(Token<'s>, Span)>, length: usize) -> Self {
        Tokens { all, at: 0, end: Span { start: length, end: length } }
    }

    /// Place of the first; behind the text if there is none.
    pub fn first(&self) -> Span {
        self.all.first().map_or(self.end, |(_, span)| *span)
    }

    /// True if none is left.
    pub fn is_over(&self) -> bool {
        self.at >= self.all.len()
    }

    /// Passes the next one.
    pub fn skip(&mut self) {
        self.at += 1;
    }

    pub fn peek(&self) -> Option<Token<'s>> {
        self.all.get(self.at).map(|(token, _)| *token)
    }

    pub fn peek_word(&self) -> Option<&'s str> {
        if let Some(Token::Word(word)) = self.peek() { Some(word) } else { None }
    }

    pub fn span(&self) -> Span {
        self.all.get(self.at).map_or(self.end, |(_, span)| *span)
    }

    /// Place of the token before.
    pub fn before(&self) -> Span {
        self.at.checked_sub(1).map_or(Span::default(), |at| self.all[at].1)
    }

    pub fn found(&self) -> String {
        self.peek().map_or_else(|| "the end of the text".into(), |token| token.to_string())
    }

    pub fn expected(&self, what: &str, help: &str) -> Box<Diagnostic> {
        Diagnostic::new(format!("expected {what}, found {}", self.found()), self.span(), help)
    }

    /// True if this word comes next, which is passed then.
    pub fn takes(&mut self, word: &str) -> bool {
        let takes = self.peek_word() == Some(word);
        self.at += usize::from(takes);
        takes
    }

    /// True if this sign comes next, which is passed then.
    pub fn takes_sign(&mut self, sign: &str) -> bool {
        let takes = self.peek() == Some(Token::Sign(sign));
        self.at += usize::from(takes);
        takes
    }

    pub fn word(&mut self, word: &str) -> Parse<()> {
        if self.takes(word) {
            return Ok(());
        }
        Err(self.expected(&format!("`{word}`"), "the guide's page on rules has the form"))
    }

    pub fn sign(&mut self, sign: &str) -> Parse<()> {
        if self.takes_sign(sign) {
            return Ok(());
        }
        Err(self.expected(&format!("`{sign}`"), "the guide's page on rules has the form"))
    }

    pub fn text(&mut self, what: &str) -> Parse<(&'s str, Span)> {
        let Some(Token::Text(text)) = self.peek() else {
            return Err(self.expected(what, "write it in quotes, like \"o\""));
        };
        self.at += 1;
        Ok((text, self.before()))
    }

    /// A number of the text, within limits.
    pub fn literal(&mut self, least: i32, most: i32) -> Parse<i32> {
        let wanted = format!("a number from {least} to {most}");
        let Some(Token::Number(digits)) = self.peek() else {
            return Err(self.expected(&wanted, "write one"));
        };
        let number = digits.parse().ok().filter(|number| (least..=most).contains(number));
        let number = number.ok_or_else(|| self.expected(&wanted, "write one within these"))?;
        self.at += 1;
        Ok(number)
    }
}
