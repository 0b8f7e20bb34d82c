//! Expressions.

use super::{Name, TypeSyntax};
use crate::source::Span;

/// Number of an expression, unique in a program.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct ExpressionId(pub u32);

/// An expression.
#[derive(Clone, PartialEq, Debug)]
pub struct Expression {
    /// Its number.
    pub id: ExpressionId,
    /// Its form.
    pub kind: ExpressionKind,
    /// Its place.
    pub span: Span,
}

/// Form of an expression. Literals are kept as they are written.
#[derive(Clone, PartialEq, Debug)]
pub enum ExpressionKind {
    /// An integer.
    Integer(String),
    /// A real.
    Real(String),
    /// `true` or `false`.
    Boolean(bool),
    /// A character, with its quotes.
    Char(String),
    /// A string, with its quotes.
    Text(String),
    /// `nil`: no node.
    Nil,
    /// A variable, constant, function, process, module or enumeration value.
    Name(String),
    /// `of.field`; of a module, what it exports.
    Field {
        /// The record, union, graph, node or module.
        of: Box<Expression>,
        /// The field.
        field: Name,
    },
    /// `of[indices]`: an element of an array or string, or a node of a graph.
    Index {
        /// The array, string or graph.
        of: Box<Expression>,
        /// The indices, one for each dimension.
        indices: Vec<Expression>,
    },
    /// `callee(arguments)`.
    Call {
        /// The function.
        callee: Box<Expression>,
        /// The arguments.
        arguments: Vec<Expression>,
    },
    /// `object$operation(arguments)`.
    Operation {
        /// The object.
        object: Box<Expression>,
        /// The operation.
        operation: Name,
        /// The arguments.
        arguments: Vec<Expression>,
    },
    /// An operator and its operand.
    Unary {
        /// The operator.
        operator: UnaryOperator,
        /// The operand.
        operand: Box<Expression>,
    },
    /// An operator between two operands.
    Binary {
        /// The operator.
        operator: BinaryOperator,
        /// The left operand.
        left: Box<Expression>,
        /// The right operand.
        right: Box<Expression>,
    },
    /// `[...]`, `{...}`, or with their type `T: [...]`, `T: {...}`.
    Aggregate {
        /// Brackets or braces.
        form: Aggregate,
        /// The type, if it is written.
        of: Option<Box<TypeSyntax>>,
        /// The elements.
        elements: Vec<Expression>,
    },
    /// `(inner)`.
    Parenthesised(Box<Expression>),
    /// Tokens that could not be parsed, and were reported.
    Malformed,
}

/// Form of an aggregate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Aggregate {
    /// `[...]`: a record or an array.
    List,
    /// `{...}`: a set or a bag.
    Set,
}

/// An operator with one operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum UnaryOperator {
    /// `-`.
    Negate,
    /// `not`.
    Not,
}

/// An operator with two operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BinaryOperator {
    /// `or`, which does not look at its right operand if the left one holds.
    Or,
    /// `and`, which does not look at its right operand if the left one does not hold.
    And,
    /// `=`.
    Equal,
    /// `/=`.
    NotEqual,
    /// `<`.
    Less,
    /// `<=`.
    LessEqual,
    /// `>`.
    Greater,
    /// `>=`.
    GreaterEqual,
    /// `in`: whether a set or bag has an element.
    In,
    /// `+`: sum, union of sets, or strings joined.
    Add,
    /// `-`: difference.
    Subtract,
    /// `*`: product, or what two sets have in common.
    Multiply,
    /// `/`: quotient; of integers the whole part.
    Divide,
    /// `div`: the whole part of the quotient of integers.
    Quotient,
    /// `mod` or `%`: what the division of integers leaves.
    Remainder,
}

impl UnaryOperator {
    /// The sign or word.
    pub fn sign(self) -> &'static str {
        match self {
            UnaryOperator::Negate => "-",
            UnaryOperator::Not => "not",
        }
    }
}

impl BinaryOperator {
    /// The sign or word.
    pub fn sign(self) -> &'static str {
        match self {
            BinaryOperator::Or => "or",
            BinaryOperator::And => "and",
            BinaryOperator::Equal => "=",
            BinaryOperator::NotEqual => "/=",
            BinaryOperator::Less => "<",
            BinaryOperator::LessEqual => "<=",
            BinaryOperator::Greater => ">",
            BinaryOperator::GreaterEqual => ">=",
            BinaryOperator::In => "in",
            BinaryOperator::Add => "+",
            BinaryOperator::Subtract => "-",
            BinaryOperator::Multiply => "*",
            BinaryOperator::Divide => "/",
            BinaryOperator::Quotient => "div",
            BinaryOperator::Remainder => "mod",
        }
    }
}

/// The value of a string or character literal with its quotes; `None` if it has an unknown escape.
pub fn unquoted(literal: &str) -> Option<String> {
    let inner = literal.get(1..literal.len().checked_sub(1)?)?;
    let mut value = String::new();
    let mut letters = inner.chars();
    while let Some(letter) = letters.next() {
        value.push(match letter {
            '\\' => match letters.next()? {
                'n' => '\n',
                't' => '\t',
                '0' => '\0',
                same @ ('\\' | '\'' | '"') => same,
                _ => return None,
            },
            letter => letter,
        });
    }
    Some(value)
}

impl Expression {
    /// The expression without the parentheses around it.
    pub fn bare(&self) -> &Expression {
        let mut bare = self;
        while let ExpressionKind::Parenthesised(inner) = &bare.kind {
            bare = inner;
        }
        bare
    }
}
