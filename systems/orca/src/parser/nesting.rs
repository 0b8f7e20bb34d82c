//! A bound on the depth of the tree, found by counting tokens before they are parsed.

use crate::diagnostics::{Code, Diagnostic};
use crate::lexer::Token;
use crate::source::Span;

/// Blocks, brackets and parentheses within each other.
const DEEPEST: usize = 100;

/// Operators of one expression: each is a node above the last.
const LONGEST: usize = 400;

/// An open block, or open brackets or parentheses.
#[derive(Clone, Copy, Default)]
struct Level {
    /// Operators since the last comma or semicolon.
    operators: usize,
    /// The most operators between two commas so far.
    most: usize,
    /// True for brackets and parentheses, whose operators are below those around them.
    part: bool,
}

/// Refuses tokens whose tree would be too deep. Operators in brackets count for what is around
/// them, too: so the depth of an expression is at most [`LONGEST`], and that of all a multiple.
pub fn check(tokens: &[(Token<'_>, Span)]) -> Result<(), Diagnostic> {
    let mut levels = vec![Level::default()];
    for (token, span) in tokens {
        if opens(*token) {
            levels.push(Level { part: brackets(*token), ..Level::default() });
            if levels.len() > DEEPEST + 1 {
                return Err(too_deep(*span));
            }
        } else if closes(*token) && levels.len() > 1 {
            let closed = levels.pop().unwrap_or_default();
            if let (true, Some(level)) = (closed.part, levels.last_mut()) {
                level.operators += closed.most.max(closed.operators);
            }
        }
        let Some(level) = levels.last_mut() else { continue };
        match token {
            Token::Semicolon => (level.operators, level.most) = (0, 0),
            Token::Comma => {
                level.most = level.most.max(level.operators);
                level.operators = 0;
            }
            token if chains(*token) => level.operators += 1,
            _ => {}
        }
        if level.operators > LONGEST {
            return Err(too_long(*span));
        }
    }
    Ok(())
}

fn too_deep(span: Span) -> Diagnostic {
    let message = format!("more than {DEEPEST} blocks or parentheses within each other");
    Diagnostic::new(Code::Nesting, message, span, "one too many begins here")
        .help("move the inner part into a function, or its value into a variable")
}

fn too_long(span: Span) -> Diagnostic {
    let message = format!("more than {LONGEST} operators in one expression");
    Diagnostic::new(Code::Nesting, message, span, "this is one too many")
        .help("compute the value in several statements")
}

/// True for tokens that begin something that may contain its own kind.
fn opens(token: Token<'_>) -> bool {
    use Token::*;
    brackets(token)
        || matches!(token, Begin | Do | If | Case | Repeat | Record | Union | Graph)
        || matches!(token, Object | Module)
}

fn brackets(token: Token<'_>) -> bool {
    matches!(token, Token::ParenthesisOpen | Token::BracketOpen | Token::BraceOpen)
}

/// True for tokens that end it.
fn closes(token: Token<'_>) -> bool {
    use Token::*;
    // `object A = new B(T);` has no end.
    matches!(token, ParenthesisClose | BracketClose | BraceClose | End | Od | Fi | Esac | Until)
        || token == New
}

/// True for tokens that put a node above the one before, or above the next.
fn chains(token: Token<'_>) -> bool {
    use Token::*;
    matches!(token, And | Or | Not | In | Equal | NotEqual | Less | LessEqual | Greater | Plus)
        || matches!(token, GreaterEqual | Minus | Star | Slash | Percent | Div | Mod | Dot | Dollar)
        || matches!(token, ParenthesisClose | BracketClose | Array | Set | Bag | Nodename)
}
