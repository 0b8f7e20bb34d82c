//! The parser's errors in words.

use std::collections::{BTreeMap, BTreeSet};

use chumsky::error::{Rich, RichPattern, RichReason};

use crate::diagnostics::{Code, Diagnostic};
use crate::lexer::Token;
use crate::source::Span;
use crate::suggestion::did_you_mean;

/// An error of the parser, before [`diagnostics`] puts it into words.
pub type Trouble<'t> = Rich<'t, Token<'t>, Span>;

/// A semicolon is missing.
pub const SEMICOLON: &str = ";";
/// A block that `end` closes is not closed.
pub const END: &str = "end";
/// A generic half that `end generic` closes is not closed.
pub const END_GENERIC: &str = "end generic";
/// A block that `od` closes is not closed.
pub const OD: &str = "od";
/// An `if` is not closed.
pub const FI: &str = "fi";
/// A `case` is not closed.
pub const ESAC: &str = "esac";
/// A `repeat` is not closed.
pub const UNTIL: &str = "until";

/// The diagnostics for the errors of a file: one at each place at most.
pub fn diagnostics(errors: &[Trouble<'_>], tokens: &[(Token<'_>, Span)]) -> Vec<Diagnostic> {
    let mut at_places = BTreeMap::new();
    let unclosed: BTreeSet<u32> = errors.iter().filter_map(unclosed_at).collect();
    let unexpected: BTreeSet<u32> = errors.iter().filter_map(unexpected_at).collect();
    for error in errors {
        // A statement that is not closed has no semicolon either, and what stands in the place of
        // one is reported by itself.
        let next = || token_from(tokens, error.span().end);
        let reported = || next().is_some_and(|(_, place)| unexpected.contains(&place.start));
        if is_semicolon(error) && (unclosed.contains(&error.span().end) || reported()) {
            continue;
        }
        let diagnostic = diagnostic(error, tokens);
        at_places.entry(diagnostic.at.0).or_insert(diagnostic);
    }
    at_places.into_values().collect()
}

fn is_semicolon(error: &Trouble<'_>) -> bool {
    matches!(error.reason(), RichReason::Custom(missing) if missing == SEMICOLON)
}

/// The place where a block should have been closed.
fn unclosed_at(error: &Trouble<'_>) -> Option<u32> {
    let custom = matches!(error.reason(), RichReason::Custom(_));
    (custom && !is_semicolon(error)).then(|| error.span().end)
}

/// The place of a token that was not expected.
fn unexpected_at(error: &Trouble<'_>) -> Option<u32> {
    let unexpected = matches!(error.reason(), RichReason::ExpectedFound { .. });
    unexpected.then(|| error.span().start)
}

fn diagnostic(error: &Trouble<'_>, tokens: &[(Token<'_>, Span)]) -> Diagnostic {
    match error.reason() {
        RichReason::Custom(missing) if missing == SEMICOLON => semicolon(*error.span()),
        RichReason::Custom(missing) => unclosed(*error.span(), missing, tokens),
        RichReason::ExpectedFound { expected, found } => {
            let found = found.as_deref().copied();
            let next = token_from(tokens, error.span().end).map(|(token, _)| *token);
            unexpected(expected, (found, next), *error.span())
        }
    }
}

/// The first token at an offset or behind it.
fn token_from<'a, 't>(
    tokens: &'a [(Token<'t>, Span)],
    offset: u32,
) -> Option<&'a (Token<'t>, Span)> {
    tokens.get(tokens.partition_point(|(_, place)| place.start < offset))
}

fn semicolon(span: Span) -> Diagnostic {
    Diagnostic::new(Code::Semicolon, "expected `;`", span, "`;` is missing here")
        .help("every statement and every declaration ends with `;`, also before `od` and `end`")
}

fn unclosed(span: Span, missing: &str, tokens: &[(Token<'_>, Span)]) -> Diagnostic {
    let opening = token_from(tokens, span.start);
    let next = token_from(tokens, span.end);
    let message = match next {
        Some((found, _)) => format!("expected `{missing}`, found {found}"),
        None => format!("expected `{missing}`, found the end of the file"),
    };
    let at = next.map_or(span.after(), |(_, place)| *place);
    let label = format!("`{missing}` is missing before this");
    let semicolon = if missing == UNTIL { " ...;" } else { ";" };
    let diagnostic = Diagnostic::new(Code::Unclosed, message, at, label)
        .help(format!("write `{missing}{semicolon}` where it ends"));
    match opening {
        Some((token, place)) => diagnostic.also(*place, format!("this {token} is not closed")),
        None => diagnostic,
    }
}

fn unexpected(
    expected: &[RichPattern<'_, Token<'_>>],
    (found, next): (Option<Token<'_>>, Option<Token<'_>>),
    span: Span,
) -> Diagnostic {
    let found_text = found.map_or("the end of the file".to_owned(), |token| token.to_string());
    let expected: BTreeSet<String> = expected.iter().filter_map(wording).collect();
    let message = match listed(&expected) {
        Some(expected) => format!("expected {expected}, found {found_text}"),
        None => format!("unexpected {found_text}"),
    };
    let is_parameter = matches!(found, Some(Token::Const | Token::Function));
    let is_unsupported = is_parameter && expected.contains("`type`");
    let code = if is_unsupported { Code::Unsupported } else { Code::Syntax };
    let help = advice(&expected, found, next);
    let help = help.unwrap_or_else(|| "remove it, or write before it what is missing".to_owned());
    Diagnostic::new(code, message, span, "not expected here").help(help)
}

fn wording(pattern: &RichPattern<'_, Token<'_>>) -> Option<String> {
    match pattern {
        RichPattern::Token(token) => Some(token.to_string()),
        RichPattern::Label(label) => Some(label.to_string()),
        RichPattern::EndOfInput => Some("the end of the file".to_owned()),
        _ => None,
    }
}

/// `a, b or c`. Operators and the end of the file are left out where something else is expected.
fn listed(expected: &BTreeSet<String>) -> Option<String> {
    let all: Vec<&str> = expected.iter().map(String::as_str).collect();
    let vague = |text: &&str| matches!(*text, "an operator" | "`...`" | "the end of the file");
    let mut telling: Vec<&str> = all.iter().copied().filter(|text| !vague(text)).collect();
    if telling.is_empty() {
        telling = all;
    }
    let (last, others) = telling.split_last()?;
    Some(match others {
        [] => (*last).to_owned(),
        others => format!("{} or {last}", others.join(", ")),
    })
}

/// Advice for what people often write who know other languages; `next` is the token after it.
fn advice(
    expected: &BTreeSet<String>,
    found: Option<Token<'_>>,
    next: Option<Token<'_>>,
) -> Option<String> {
    let expects = |text: &str| expected.contains(text);
    if expects("`:=`") && matches!(next, Some(Token::Equal | Token::Plus | Token::Minus)) {
        let sign = match found? {
            Token::Plus => "+:=",
            Token::Minus => "-:=",
            Token::Star => "*:=",
            _ => return None,
        };
        return Some(format!("a variable is changed by `{sign}`: `n {sign} 1;`"));
    }
    Some(
        match found? {
            Token::Const | Token::Function if expects("`type`") => {
                "only types are parameters of what is generic"
            }
            Token::Equal if expects("`in`") => "a `for` runs over a range: `for i in 1..10 do`",
            Token::Assign if expects("`in`") => "a `for` runs over a range: `for i in 1..10 do`",
            Token::Semicolon if expects("`(`") => {
                "an operation is called with parentheses, also without arguments: `x$f();`"
            }
            Token::Equal if expects("an expression") => "equality is written with one `=`",
            Token::Equal if expects("`:=`") => "assignment is written `:=`",
            Token::Assign if expects("`then`") || expects("`do`") => "equality is written `=`",
            Token::Colon if expects("an expression") => "a type stands behind names alone",
            Token::Begin if expects("`then`") => "write `then ... fi` around the statements",
            Token::Begin if expects("`do`") => "write `do ... od` around the statements",
            Token::Name("to") => "a range is written `first..last`",
            Token::Name("endif") => "an `if` ends with `fi`",
            Token::Dot if expects("a declaration") => "the last `end` has a `;`, too",
            Token::Name(name) => {
                let meant = did_you_mean(name, Token::WORDS.iter().copied());
                let declaration = "declarations begin with `object`, `module`, `process`, \
                                   `function`, `type`, `const` or `import`, and end with `end;`";
                let otherwise = expects("a declaration").then(|| declaration.to_owned());
                return meant.or(otherwise);
            }
            _ => return None,
        }
        .to_owned(),
    )
}
