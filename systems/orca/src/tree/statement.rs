//! Statements.

use super::{Expression, Name, TypeSyntax};
use crate::source::Span;

/// A statement.
#[derive(Clone, PartialEq, Debug)]
pub struct Statement {
    /// Its kind and parts.
    pub kind: StatementKind,
    /// Its place, the semicolon included.
    pub span: Span,
}

/// Statements between two words, such as `do` and `od`.
#[derive(Clone, PartialEq, Debug)]
pub struct Block {
    /// The statements.
    pub statements: Vec<Statement>,
    /// The stretch from behind the opening word to before the closing one.
    pub span: Span,
}

/// Variables of one type: `a, b: T;`.
#[derive(Clone, PartialEq, Debug)]
pub struct Variable {
    /// Their names.
    pub names: Vec<Name>,
    /// Their type, for arrays perhaps with bounds.
    pub of: TypeSyntax,
}

/// Kind and parts of a statement.
#[derive(Clone, PartialEq, Debug)]
pub enum StatementKind {
    /// `target := value`.
    Assign {
        /// The assigned variable, or part of one.
        target: Expression,
        /// Kind of assignment.
        operator: AssignOperator,
        /// The value.
        value: Expression,
    },
    /// A call of a function or operation.
    Call(Expression),
    /// `if ... then ... elsif ... else ... fi`.
    If {
        /// The conditions and their statements, in order.
        arms: Vec<Arm>,
        /// The statements behind `else`.
        otherwise: Option<Block>,
    },
    /// `while condition do ... od`.
    While {
        /// The condition and the statements.
        arm: Box<Arm>,
    },
    /// `repeat ... until condition`.
    Repeat {
        /// The statements.
        body: Block,
        /// The condition that ends the loop.
        until: Expression,
    },
    /// `do ... od`, until an `exit` or `return`.
    Loop(Block),
    /// `for variable in range do ... od`.
    For {
        /// The variable, declared by the statement.
        variable: Name,
        /// Its values.
        range: Range,
        /// The statements.
        body: Block,
    },
    /// `case subject of | choices => ... else ... esac`.
    Case {
        /// The value that decides.
        subject: Expression,
        /// The alternatives.
        alternatives: Vec<Alternative>,
        /// The statements behind `else`.
        otherwise: Option<Block>,
    },
    /// `exit`: leaves the innermost loop.
    Exit,
    /// `return` with or without a value.
    Return(Option<Expression>),
    /// `fork process(arguments) on processor`.
    Fork {
        /// The process: a name, or a module's.
        process: Expression,
        /// The arguments.
        arguments: Vec<Expression>,
        /// The processor's number; the caller's own if there is none.
        on: Option<Expression>,
    },
    /// `guard condition do ... od`.
    Guard(Box<Arm>),
    /// Variables declared behind `begin`, as in thesis fig. 7.2.
    Declare(Variable),
    /// `begin ... end`.
    Block(Block),
    /// `...`, as in thesis fig. 7.2.
    Placeholder,
    /// Tokens that could not be parsed, and were reported.
    Malformed,
}

/// Kind of assignment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AssignOperator {
    /// `:=`.
    Set,
    /// `+:=`.
    Add,
    /// `-:=`.
    Subtract,
    /// `*:=`.
    Multiply,
}

/// A condition and the statements that are executed if it holds.
#[derive(Clone, PartialEq, Debug)]
pub struct Arm {
    /// The condition.
    pub condition: Expression,
    /// The statements.
    pub body: Block,
}

/// The values over which a `for` runs.
#[derive(Clone, PartialEq, Debug)]
pub enum Range {
    /// `first..last`, both included.
    Bounds(Expression, Expression),
    /// The elements of a set, bag or array.
    Elements(Expression),
}

/// An alternative of a `case`.
#[derive(Clone, PartialEq, Debug)]
pub struct Alternative {
    /// The values for which it is taken.
    pub choices: Vec<Choice>,
    /// The statements.
    pub body: Block,
    /// The place from the bar to behind the arrow.
    pub heading: Span,
}

/// Values for which an alternative is taken.
#[derive(Clone, PartialEq, Debug)]
pub struct Choice {
    /// The only value, or the first.
    pub first: Expression,
    /// The last value.
    pub last: Option<Expression>,
}

impl AssignOperator {
    /// The sign.
    pub fn sign(self) -> &'static str {
        match self {
            AssignOperator::Set => ":=",
            AssignOperator::Add => "+:=",
            AssignOperator::Subtract => "-:=",
            AssignOperator::Multiply => "*:=",
        }
    }
}
