//! The lexer: text to tokens with places, and the comments, which the formatter keeps.

use std::fmt;

use logos::Logos;

use crate::diagnostics::{Code, Diagnostic};
use crate::source::{Sources, Span};

/// Tokens, comments and errors of a stretch of a file.
#[derive(Clone, Debug, Default)]
pub struct Lexed<'s> {
    /// The tokens, each with its place.
    pub tokens: Vec<(Token<'s>, Span)>,
    /// The comments, from `#` to before the end of the line.
    pub comments: Vec<Span>,
    /// Errors: characters that make no token.
    pub diagnostics: Vec<Diagnostic>,
}

/// The tokens of a stretch of a file, which begins and ends between tokens.
pub fn lex(sources: &Sources, stretch: Span) -> Lexed<'_> {
    let mut lexed = Lexed::default();
    for (token, range) in Token::lexer(sources.text(stretch)).spanned() {
        // Files have at most LARGEST_FILE bytes, so offsets fit.
        let [start, end] = [range.start, range.end].map(|offset| stretch.start + offset as u32);
        let span = Span { start, end, ..stretch };
        match token {
            Ok(Token::Comment) => lexed.comments.push(span),
            Ok(Token::OpenString | Token::OpenChar) => lexed.diagnostics.push(unterminated(span)),
            Ok(Token::LongChar) => lexed.diagnostics.push(long_char(sources, span)),
            Ok(token) => lexed.tokens.push((token, span)),
            Err(()) => lexed.diagnostics.push(unknown(sources, span)),
        }
    }
    lexed
}

fn unterminated(span: Span) -> Diagnostic {
    let what = "this text has no closing quote on its line";
    Diagnostic::new(Code::Unterminated, "unterminated text", span, what)
        .help("close it with the quote it began with: \"...\" for a string, 'c' for one character")
}

fn long_char(sources: &Sources, span: Span) -> Diagnostic {
    let text = sources.text(span).trim_matches('\'');
    let what = "single quotes are around one character";
    Diagnostic::new(Code::Unterminated, "several characters between single quotes", span, what)
        .help(format!("write a string between double quotes: \"{text}\""))
}

fn unknown(sources: &Sources, span: Span) -> Diagnostic {
    let text = sources.text(span);
    let message = format!("unexpected character `{text}`");
    let help = match text {
        "!" => "inequality is written `/=`, negation `not`",
        "@" | "^" | "~" | "?" | "\\" => "Orca has no such operator",
        _ => "remove it, or write it inside of a string or a comment (`# ...`)",
    };
    Diagnostic::new(Code::Character, message, span, "no part of the language").help(help)
}

macro_rules! tokens {
    (
        words { $($word:ident = $lower:literal $upper:literal,)* }
        signs { $($sign:ident = $text:literal $(or $other:literal)*,)* }
    ) => {
        /// A token. Keywords are written in lower or in upper case.
        #[derive(Logos, Clone, Copy, PartialEq, Debug)]
        #[logos(skip r"[ \t\r\n\f]+")]
        pub enum Token<'s> {
            $(#[doc = concat!("`", $lower, "`")] #[token($lower)] #[token($upper)] $word,)*
            $(
                #[doc = concat!("`", $text, "`")]
                #[token($text)] $(#[token($other)])*
                $sign,
            )*
            /// A name.
            #[regex(r"[A-Za-z_][A-Za-z0-9_]*", |lexer| lexer.slice())]
            Name(&'s str),
            /// An integer literal.
            #[regex(r"[0-9]+", |lexer| lexer.slice())]
            Integer(&'s str),
            /// A real literal.
            #[regex(r"[0-9]+\.[0-9]+([eE][+-]?[0-9]+)?", |lexer| lexer.slice())]
            Real(&'s str),
            /// A string literal with its quotes.
            #[regex(r#""([^"\\\n]|\\[^\n])*""#, |lexer| lexer.slice())]
            Text(&'s str),
            /// A character literal with its quotes.
            #[regex(r"'([^'\\\n]|\\[^\n])'", |lexer| lexer.slice())]
            Char(&'s str),
            /// The beginning of a string that does not end; the lexer reports it.
            #[regex(r#""([^"\\\n]|\\[^\n])*\\?"#)]
            OpenString,
            /// The beginning of a character that does not end; the lexer reports it.
            #[regex(r"'([^'\\\n]|\\[^\n])?")]
            OpenChar,
            /// Several characters between single quotes; the lexer reports them.
            #[regex(r"'([^'\\\n]|\\[^\n])([^'\\\n]|\\[^\n])+'")]
            LongChar,
            /// A comment; the lexer sets it apart.
            #[regex(r"#[^\n]*", allow_greedy = true)]
            Comment,
        }

        impl Token<'_> {
            /// The keywords.
            pub const WORDS: &'static [&'static str] = &[$($lower,)*];
        }

        impl fmt::Display for Token<'_> {
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    $(Token::$word => write!(out, "`{}`", $lower),)*
                    $(Token::$sign => write!(out, "`{}`", $text),)*
                    Token::Name(text) | Token::Integer(text) | Token::Real(text)
                    | Token::Text(text) | Token::Char(text) => write!(out, "`{text}`"),
                    Token::OpenString | Token::OpenChar | Token::LongChar => write!(out, "text"),
                    Token::Comment => write!(out, "a comment"),
                }
            }
        }
    };
}

tokens! {
    words {
        And = "and" "AND",
        Array = "array" "ARRAY",
        Bag = "bag" "BAG",
        Begin = "begin" "BEGIN",
        Case = "case" "CASE",
        Const = "const" "CONST",
        Div = "div" "DIV",
        Do = "do" "DO",
        Else = "else" "ELSE",
        Elsif = "elsif" "ELSIF",
        End = "end" "END",
        Esac = "esac" "ESAC",
        Exit = "exit" "EXIT",
        False = "false" "FALSE",
        Fi = "fi" "FI",
        For = "for" "FOR",
        Fork = "fork" "FORK",
        From = "from" "FROM",
        Function = "function" "FUNCTION",
        Generic = "generic" "GENERIC",
        Graph = "graph" "GRAPH",
        Guard = "guard" "GUARD",
        If = "if" "IF",
        Implementation = "implementation" "IMPLEMENTATION",
        Import = "import" "IMPORT",
        In = "in" "IN",
        InOut = "inout" "INOUT",
        Mod = "mod" "MOD",
        Module = "module" "MODULE",
        New = "new" "NEW",
        Nil = "nil" "NIL",
        Nodename = "nodename" "NODENAME",
        Nodes = "nodes" "NODES",
        Not = "not" "NOT",
        Object = "object" "OBJECT",
        Od = "od" "OD",
        Of = "of" "OF",
        On = "on" "ON",
        Operation = "operation" "OPERATION",
        Or = "or" "OR",
        Out = "out" "OUT",
        Process = "process" "PROCESS",
        Record = "record" "RECORD",
        Repeat = "repeat" "REPEAT",
        Return = "return" "RETURN",
        Set = "set" "SET",
        Shared = "shared" "SHARED",
        Specification = "specification" "SPECIFICATION",
        Then = "then" "THEN",
        True = "true" "TRUE",
        Type = "type" "TYPE",
        Union = "union" "UNION",
        Until = "until" "UNTIL",
        While = "while" "WHILE",
    }
    signs {
        Assign = ":=",
        AddAssign = "+:=",
        SubtractAssign = "-:=",
        MultiplyAssign = "*:=",
        Arrow = "=>",
        Bar = "|",
        BraceClose = "}",
        BraceOpen = "{",
        BracketClose = "]",
        BracketOpen = "[",
        Colon = ":",
        Comma = ",",
        Dollar = "$",
        Dot = ".",
        Dots = "..",
        Ellipsis = "..." or "…",
        Equal = "=",
        Greater = ">",
        GreaterEqual = ">=" or "≥",
        Less = "<",
        LessEqual = "<=" or "≤",
        Minus = "-",
        NotEqual = "/=" or "≠",
        ParenthesisClose = ")",
        ParenthesisOpen = "(",
        Percent = "%",
        Plus = "+",
        Semicolon = ";",
        Slash = "/",
        Star = "*",
    }
}
