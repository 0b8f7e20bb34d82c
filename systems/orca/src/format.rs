//! The formatter: a tree and its comments, printed in one style.
//!
//! One statement or declaration is one line, unless it is longer than a line: then it continues,
//! indented further, behind a comma or an operator. A comment on a line of its own stays on one,
//! before what it stood before; one behind code stays behind it. Of empty lines between statements
//! and declarations one is kept. Parentheses stay as they are.

use std::iter::Peekable;

use crate::source::{Sources, Span};
use crate::tree::File;

mod declarations;
mod expressions;
mod statements;

/// Longest line, in characters, if it can be broken.
const WIDTH: usize = 100;

/// Indentation of each level, in spaces.
const INDENT: usize = 2;

/// The text of a tree that was parsed without diagnostics, with its comments.
pub fn format(sources: &Sources, file: &File, comments: &[Span]) -> String {
    let text = &sources.file(file.file).text;
    let mut printer = Printer {
        text,
        comments: comments.iter().copied().peekable(),
        out: String::new(),
        level: 0,
        last: 0,
        fresh: true,
    };
    printer.declarations(&file.declarations);
    printer.comments_before(file.span.end);
    printer.out
}

/// The text so far, and what is still to come.
struct Printer<'p> {
    text: &'p str,
    comments: Peekable<std::iter::Copied<std::slice::Iter<'p, Span>>>,
    out: String,
    level: usize,
    /// Offset in the source up to which everything is printed.
    last: u32,
    /// True at the beginning of a block, where no empty line is kept.
    fresh: bool,
}

impl Printer<'_> {
    /// Prints what begins at a place: the comments and an empty line before it first.
    fn begin(&mut self, start: u32) {
        self.comments_before(start);
        self.gap(start);
    }

    /// Keeps one empty line, if there are some before a place.
    fn gap(&mut self, start: u32) {
        let between = self.text.get(self.last as usize..start as usize).unwrap_or("");
        let lines = between.bytes().filter(|byte| *byte == b'\n').count();
        if lines > 1 && !self.fresh {
            self.out.push('\n');
        }
        self.fresh = false;
    }

    /// Prints the comments before a place, each on a line of its own.
    fn comments_before(&mut self, end: u32) {
        while let Some(comment) = self.comments.next_if(|comment| comment.start < end) {
            self.gap(comment.start);
            self.indent();
            self.out.push_str(self.text[comment.range()].trim_end());
            self.out.push('\n');
            self.last = comment.end;
        }
    }

    /// Prints a line that stands for the source up to a place, and a comment that is behind it on
    /// the same line there. Comments within the source come before the line.
    fn line(&mut self, text: &str, end: u32) {
        self.comments_before(end);
        self.indent();
        self.out.push_str(text);
        self.last = self.last.max(end);
        let source = self.text;
        let behind = |comment: &Span| {
            let between = source.get(end as usize..comment.start as usize);
            between.is_some_and(|between| !between.contains('\n'))
        };
        if let Some(comment) = self.comments.next_if(behind) {
            self.out.push_str("  ");
            self.out.push_str(self.text[comment.range()].trim_end());
            self.last = comment.end;
        }
        self.out.push('\n');
    }

    fn indent(&mut self) {
        self.out.extend(std::iter::repeat_n(' ', self.level * INDENT));
    }

    /// Prints what is inside of a block that ends at a place.
    fn inside(&mut self, end: u32, print: impl FnOnce(&mut Self)) {
        self.level += 1;
        self.fresh = true;
        print(self);
        self.comments_before(end);
        self.level -= 1;
        self.fresh = false;
        self.last = self.last.max(end);
    }
}
