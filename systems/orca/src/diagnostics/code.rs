//! The kinds of diagnostics, and their numbers.

use std::fmt;

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $number:literal,)*) => {
        /// The kind of a diagnostic. Its number, such as `O101`, stays what it is.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
        pub enum Code { $($(#[$doc])* $name = $number,)* }

        impl Code {
            /// All kinds.
            pub const ALL: &[Code] = &[$(Code::$name,)*];
        }
    };
}

codes! {
    /// A character that is no part of the language.
    Character = 1,
    /// A string or character that does not end on its line.
    Unterminated = 2,
    /// A word where another is expected.
    Syntax = 3,
    /// No semicolon behind a statement or declaration.
    Semicolon = 4,
    /// A block whose end is missing.
    Unclosed = 5,
    /// Blocks, parentheses or operators nested too deeply.
    Nesting = 6,
    /// A construct of Orca that is not compiled yet.
    Unsupported = 7,
    /// A name that is declared nowhere.
    Unknown = 101,
    /// A name that is declared twice in one scope.
    Twice = 102,
    /// A name of the wrong kind: a variable for a type, a type for a value.
    Kind = 103,
    /// A type that contains itself.
    Endless = 104,
    /// An import of what is not there.
    Import = 105,
    /// A specification and an implementation that do not agree.
    Specification = 106,
    /// A declaration at a place where there is none of its kind.
    Misplaced = 107,
    /// A value of one type where another is expected.
    Mismatch = 201,
    /// An operator that is not defined for its operands.
    Operator = 202,
    /// Too many or too few arguments, bounds or elements.
    Count = 203,
    /// A field or an operation that a type does not have.
    Member = 204,
    /// Something that is called, indexed or iterated over, and cannot be.
    Use = 205,
    /// A literal that means no value.
    Literal = 206,
    /// An expression whose type cannot be told.
    Untyped = 207,
    /// A constant that is none.
    Constant = 208,
    /// An assignment to what does not change.
    Assign = 301,
    /// An argument that is no variable, for a parameter that is assigned.
    Out = 302,
    /// A shared parameter that is no object, or an object that would be copied.
    Shared = 303,
    /// A process that returns values.
    Process = 304,
    /// A `return` with or without a value, against what the heading says.
    Return = 305,
    /// A guard that is not at the beginning of an operation.
    Guard = 306,
    /// A guard whose condition changes the object.
    GuardEffect = 307,
    /// An `exit` outside of loops.
    Exit = 308,
    /// An ellipsis, as it stands in printed programs.
    Placeholder = 309,
    /// A `fork` of what is no process, or a process that is called.
    Fork = 310,
    /// Two alternatives of a `case` with the same choice.
    Choice = 311,
}

impl fmt::Display for Code {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "O{:03}", *self as u16)
    }
}
