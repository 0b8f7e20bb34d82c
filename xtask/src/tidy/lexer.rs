//! Tells code from comments from text, as roughly as the rules need it.

/// A source, twice: lines and columns stay where they are, what is left out is blank.
pub struct Split {
    /// Without comments and without what is between quotes.
    pub code: String,
    /// Only the comments.
    pub comments: String,
}

/// Splits Rust source.
pub fn split(source: &str) -> Split {
    let mut lexer = Lexer {
        chars: source.chars().collect(),
        at: 0,
        split: Split { code: String::new(), comments: String::new() },
    };
    while lexer.at < lexer.chars.len() {
        lexer.next();
    }
    lexer.split
}

struct Lexer {
    chars: Vec<char>,
    at: usize,
    split: Split,
}

/// Part of a source that a character belongs to.
#[derive(Clone, Copy, PartialEq)]
enum Part {
    Code,
    Comment,
    Text,
}

impl Lexer {
    fn next(&mut self) {
        match (self.peek(0), self.peek(1)) {
            (Some('/'), Some('/')) => self.line_comment(),
            (Some('/'), Some('*')) => self.block_comment(),
            (Some('"'), _) => self.string(),
            (Some('r'), Some('"' | '#')) if self.raw_hashes().is_some() => self.raw_string(),
            (Some('\''), _) if self.is_char_literal() => self.char_literal(),
            _ => self.take(Part::Code),
        }
    }

    fn peek(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }

    fn take(&mut self, part: Part) {
        let Some(char) = self.peek(0) else { return };
        self.at += 1;
        let blank = if char == '\n' { '\n' } else { ' ' };
        self.split.code.push(if part == Part::Code { char } else { blank });
        self.split.comments.push(if part == Part::Comment { char } else { blank });
    }

    fn take_many(&mut self, count: usize, part: Part) {
        for _ in 0..count {
            self.take(part);
        }
    }

    fn line_comment(&mut self) {
        while self.peek(0).is_some_and(|char| char != '\n') {
            self.take(Part::Comment);
        }
    }

    /// Block comments nest.
    fn block_comment(&mut self) {
        let mut depth = 0;
        while self.at < self.chars.len() {
            match (self.peek(0), self.peek(1)) {
                (Some('/'), Some('*')) => depth += 1,
                (Some('*'), Some('/')) => depth -= 1,
                _ => {
                    self.take(Part::Comment);
                    continue;
                }
            }
            self.take_many(2, Part::Comment);
            if depth == 0 {
                return;
            }
        }
    }

    fn string(&mut self) {
        self.take(Part::Code);
        while let Some(char) = self.peek(0) {
            match char {
                '"' => return self.take(Part::Code),
                '\\' => self.take_many(2, Part::Text),
                _ => self.take(Part::Text),
            }
        }
    }

    /// Number of `#` that a raw string here opens with; `None` if here is none, but an `r` in a
    /// word or a raw identifier.
    fn raw_hashes(&self) -> Option<usize> {
        let before = self.at.checked_sub(1).map(|at| self.chars[at]);
        let starts_word = before.is_none_or(|char| !is_word(char) || "bc".contains(char));
        let hashes = self.chars[self.at + 1..].iter().take_while(|&&char| char == '#').count();
        (starts_word && self.peek(1 + hashes) == Some('"')).then_some(hashes)
    }

    fn raw_string(&mut self) {
        let hashes = self.raw_hashes().unwrap_or(0);
        self.take_many(2 + hashes, Part::Code);
        while let Some(char) = self.peek(0) {
            let closes = char == '"' && (1..=hashes).all(|ahead| self.peek(ahead) == Some('#'));
            if closes {
                return self.take_many(1 + hashes, Part::Code);
            }
            self.take(Part::Text);
        }
    }

    /// `'a'` and `'\n'` are characters, `'a` is a lifetime.
    fn is_char_literal(&self) -> bool {
        self.peek(1) == Some('\\') || self.peek(2) == Some('\'')
    }

    fn char_literal(&mut self) {
        self.take(Part::Code);
        // The first character may be a quote itself, after a backslash.
        self.take_many(if self.peek(0) == Some('\\') { 2 } else { 1 }, Part::Text);
        while self.peek(0).is_some_and(|char| char != '\'') {
            self.take(Part::Text);
        }
        self.take(Part::Code);
    }
}

/// True if `char` can be part of a name.
pub fn is_word(char: char) -> bool {
    char.is_alphanumeric() || char == '_'
}

/// The places in `code` where `word` stands alone, as byte offsets.
pub fn words<'a>(code: &'a str, word: &'a str) -> impl Iterator<Item = usize> + 'a {
    code.match_indices(word).map(|(at, _)| at).filter(move |&at| {
        !code[..at].ends_with(is_word) && !code[at + word.len()..].starts_with(is_word)
    })
}

/// The line, counted from 1, of the byte at `offset`.
pub fn line_of(text: &str, offset: usize) -> usize {
    1 + text[..offset].matches('\n').count()
}

/// The name that `code` begins with, after blanks; empty if with something else.
pub fn leading_name(code: &str) -> &str {
    let code = code.trim_start();
    &code[..code.find(|char| !is_word(char)).unwrap_or(code.len())]
}

/// Names of the modules that `code` says are in files of their own.
pub fn declared_modules(code: &str) -> impl Iterator<Item = &str> {
    words(code, "mod").filter_map(|at| {
        let name = leading_name(&code[at + 3..]);
        let after = code[at + 3..].trim_start().strip_prefix(name)?;
        (!name.is_empty() && after.trim_start().starts_with(';')).then_some(name)
    })
}

/// The byte after the item that starts at `from`: after its block, or after its semicolon. Code
/// between brackets and parentheses does not end it.
pub fn end_of_item(code: &str, from: usize) -> usize {
    let mut depth = 0usize;
    for (at, char) in code[from..].char_indices() {
        match char {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => {
                depth = depth.saturating_sub(1);
                if depth == 0 && char == '}' {
                    return from + at + 1;
                }
            }
            ';' if depth == 0 => return from + at + 1,
            _ => {}
        }
    }
    code.len()
}

#[cfg(test)]
mod tests;
