//! The parser: tokens to the syntax tree.
//!
//! Text that cannot be parsed is reported and skipped, up to the end of the statement or
//! declaration, so that one run reports several errors. A missing semicolon or a missing end of a
//! block costs nothing else. The depth of a program is bounded before ([`nesting`]), so that
//! neither the parser nor what walks over the tree later runs out of stack.

use chumsky::inspector::SimpleState;
use chumsky::prelude::*;

use crate::diagnostics::{Diagnostic, sorted};
use crate::lexer::{Token, lex};
use crate::source::{FileId, Sources, Span};
use crate::tree::File;

mod declarations;
mod errors;
mod expressions;
mod grammar;
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
