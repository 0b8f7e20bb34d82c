//! Expressions and types as documents, which are broken into lines where they are too long.

use pretty::RcDoc;

use super::{INDENT, Printer, WIDTH};
use crate::tree::{
    Aggregate, Expression, ExpressionKind, Index, Mode, Name, Parameter, TypeKind, TypeSyntax,
    UnaryOperator,
};

/// A text that may be broken.
pub type Document<'d> = RcDoc<'d>;

impl Printer<'_> {
    /// The lines of a document at the present level, all but the first indented further.
    pub fn laid_out(&self, document: Document<'_>) -> String {
        let padding = " ".repeat(self.level * INDENT);
        let deeper = (padding.len() + 2 * INDENT) as isize;
        let padded = self::text(padding.clone()).append(document.nest(deeper));
        let width = WIDTH.max(padding.len() + WIDTH / 2);
        let laid_out = padded.pretty(width).to_string();
        let lines: Vec<&str> = laid_out.trim_start().lines().map(str::trim_end).collect();
        lines.join("\n")
    }
}

pub fn text<'d>(text: impl Into<std::borrow::Cow<'d, str>>) -> Document<'d> {
    RcDoc::text(text)
}

/// Names between commas.
pub fn names(names: &[Name]) -> String {
    let names: Vec<&str> = names.iter().map(|name| name.text.as_str()).collect();
    names.join(", ")
}

/// Documents between commas, filled into as few lines as need be.
fn list<'d>(documents: impl Iterator<Item = Document<'d>>) -> Document<'d> {
    RcDoc::intersperse(documents, text(",").append(RcDoc::softline()))
}

fn expressions(all: &[Expression]) -> Document<'_> {
    list(all.iter().map(expression))
}

/// Arguments in parentheses.
pub fn arguments(all: &[Expression]) -> Document<'_> {
    text("(").append(expressions(all)).append(")")
}

/// Types in parentheses.
pub fn types(all: &[TypeSyntax]) -> Document<'_> {
    text("(").append(list(all.iter().map(written))).append(")")
}

/// An expression.
pub fn expression(expression: &Expression) -> Document<'_> {
    match &expression.kind {
        ExpressionKind::Integer(literal)
        | ExpressionKind::Real(literal)
        | ExpressionKind::Char(literal)
        | ExpressionKind::Text(literal)
        | ExpressionKind::Name(literal) => text(literal.as_str()),
        ExpressionKind::Boolean(value) => text(if *value { "true" } else { "false" }),
        ExpressionKind::Nil => text("nil"),
        ExpressionKind::Field { of, field } => {
            self::expression(of).append(".").append(text(field.text.as_str()))
        }
        ExpressionKind::Index { of, indices } => {
            self::expression(of).append("[").append(expressions(indices)).append("]")
        }
        ExpressionKind::Call { callee, arguments } => {
            self::expression(callee).append(self::arguments(arguments))
        }
        ExpressionKind::Operation { object, operation, arguments } => self::expression(object)
            .append("$")
            .append(text(operation.text.as_str()))
            .append(self::arguments(arguments)),
        ExpressionKind::Unary { operator, operand } => {
            let space = if *operator == UnaryOperator::Not { " " } else { "" };
            text(operator.sign()).append(space).append(self::expression(operand))
        }
        ExpressionKind::Binary { operator, left, right } => self::expression(left)
            .append(" ")
            .append(operator.sign())
            .append(RcDoc::softline())
            .append(self::expression(right)),
        ExpressionKind::Aggregate { form, of, elements } => {
            let (open, close) = match form {
                Aggregate::List => ("[", "]"),
                Aggregate::Set => ("{", "}"),
            };
            let of = match of {
                Some(of) => written(of).append(": "),
                None => RcDoc::nil(),
            };
            of.append(open).append(expressions(elements)).append(close)
        }
        ExpressionKind::Parenthesised(inner) => {
            text("(").append(self::expression(inner)).append(")")
        }
        ExpressionKind::Malformed => RcDoc::nil(),
    }
}

/// `first..last`.
pub fn range<'d>(first: &'d Expression, last: &'d Expression) -> Document<'d> {
    expression(first).append("..").append(expression(last))
}

/// A type that fits on a line: all but records, unions and graphs.
pub fn written(syntax: &TypeSyntax) -> Document<'_> {
    match &syntax.kind {
        TypeKind::Named { module, name, bounds } => {
            let module = module.as_ref().map(|module| text(module.text.as_str()).append("."));
            let named = module.unwrap_or(RcDoc::nil()).append(text(name.text.as_str()));
            if bounds.is_empty() {
                return named;
            }
            let bounds = bounds.iter().map(|(first, last)| range(first, last));
            named.append("[").append(list(bounds)).append("]")
        }
        TypeKind::Enumeration(values) => {
            let values = values.iter().map(|value| text(value.text.as_str()));
            text("(").append(list(values)).append(")")
        }
        TypeKind::Array { of, .. }
        | TypeKind::Set(of)
        | TypeKind::Bag(of)
        | TypeKind::NodeName(of) => before_element(syntax).append(written(of)),
        TypeKind::Record(_) => text("record"),
        TypeKind::Union { tag, of, .. } => text("union (")
            .append(text(tag.text.as_str()))
            .append(": ")
            .append(written(of))
            .append(")"),
        TypeKind::Graph { .. } => text("graph"),
    }
}

/// The words before the type of an array's, set's or bag's elements, or of a graph.
pub fn before_element(syntax: &TypeSyntax) -> Document<'_> {
    match &syntax.kind {
        TypeKind::Array { indices, .. } => {
            let indices = indices.iter().map(|index| match index {
                Index::Type(of) => written(of),
                Index::Bounds(first, last) => range(first, last),
            });
            text("array[").append(list(indices)).append("] of ")
        }
        TypeKind::Set(_) => text("set of "),
        TypeKind::Bag(_) => text("bag of "),
        _ => text("nodename of "),
    }
}

/// Parameters in parentheses.
pub fn parameters(parameters: &[Parameter]) -> Document<'_> {
    let groups = parameters.iter().map(|parameter| {
        let mode = match parameter.mode {
            Mode::In => "".to_owned(),
            mode => format!("{} ", mode.word()),
        };
        text(format!("{}: {mode}", names(&parameter.names))).append(written(&parameter.of))
    });
    let groups = RcDoc::intersperse(groups, text(";").append(RcDoc::softline()));
    text("(").append(groups).append(")")
}
