//! The syntax tree. Every node has its place; every expression has a number, by which what the
//! checker found is looked up ([`crate::check::Facts`]).

use crate::source::{FileId, Span};

mod expression;
mod name;
mod statement;
mod types;
pub mod walk;

pub use expression::{Aggregate, BinaryOperator, Expression, ExpressionId, ExpressionKind};
pub use expression::{UnaryOperator, unquoted};
pub use name::Name;
pub use statement::{Alternative, Arm, AssignOperator, Block, Choice, Range, Statement};
pub use statement::{StatementKind, Variable};
pub use types::{Field, Index, TypeKind, TypeSyntax, Variant};

/// One source file.
#[derive(Clone, PartialEq, Debug)]
pub struct File {
    /// The file.
    pub file: FileId,
    /// Its declarations, in order.
    pub declarations: Vec<Declaration>,
    /// The whole text.
    pub span: Span,
}

/// A declaration, at the level of a file or within something.
#[derive(Clone, PartialEq, Debug)]
pub struct Declaration {
    /// The declared thing.
    pub kind: DeclarationKind,
    /// Its place, the semicolon included.
    pub span: Span,
}

/// Kind and parts of a declaration.
#[derive(Clone, PartialEq, Debug)]
pub enum DeclarationKind {
    /// `import M;` or `from M import a, b;`.
    Import {
        /// The module or object type.
        module: Name,
        /// The names that are used without the module's; none in the first form.
        names: Vec<Name>,
    },
    /// `const name = value;`.
    Constant {
        /// The constant.
        name: Name,
        /// Its value, an expression of constants.
        value: Expression,
    },
    /// `type name = definition;`.
    Type {
        /// The type's name.
        name: Name,
        /// Its definition.
        definition: TypeSyntax,
    },
    /// `a, b: T;`.
    Variable(Variable),
    /// A function, process or operation.
    Routine(Routine),
    /// One half of an object type.
    Object(Unit),
    /// One half of a module.
    Module(Unit),
    /// `object A = new B(T);` or `module A = new B(T);`.
    Instance(Instance),
    /// Tokens that could not be parsed, and were reported.
    Malformed,
}

/// Half of an object type or module.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Half {
    /// The half that others see.
    Specification,
    /// The half that does the work.
    Implementation,
}

/// One half of an object type or module.
#[derive(Clone, PartialEq, Debug)]
pub struct Unit {
    /// Its half.
    pub half: Half,
    /// Its parameters, if it is generic.
    pub generic: Option<Generic>,
    /// Its name.
    pub name: Name,
    /// Its declarations: headings alone in a specification.
    pub declarations: Vec<Declaration>,
    /// The initialisation of an object type.
    pub initialisation: Option<Block>,
    /// The heading without `generic` and the parameters, up to and with its semicolon.
    pub heading: Span,
    /// The stretch between heading and the final `end`.
    pub inside: Span,
}

/// `generic (type T, U)`: what stands before a half of a generic object type or module.
#[derive(Clone, PartialEq, Debug)]
pub struct Generic {
    /// The types that instances name. An implementation leaves them out where the specification has
    /// them.
    pub parameters: Vec<Name>,
    /// Its place.
    pub span: Span,
}

/// An instance of a generic object type or module.
#[derive(Clone, PartialEq, Debug)]
pub struct Instance {
    /// True if it is an object type.
    pub is_object: bool,
    /// Its name.
    pub name: Name,
    /// Name of what it is an instance of.
    pub of: Name,
    /// The types that stand for the parameters.
    pub arguments: Vec<TypeSyntax>,
}

/// Kind of a routine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RoutineKind {
    /// A function, of a file, a module or within an object.
    Function,
    /// An operation of an object type.
    Operation,
    /// A process.
    Process,
}

/// A function, operation or process.
#[derive(Clone, PartialEq, Debug)]
pub struct Routine {
    /// Its kind.
    pub kind: RoutineKind,
    /// Its name.
    pub name: Name,
    /// Its parameters, in groups as they were written.
    pub parameters: Vec<Parameter>,
    /// The type of what it returns.
    pub result: Option<TypeSyntax>,
    /// Its local declarations and statements; none in a specification.
    pub body: Option<Body>,
    /// The heading, up to and with its semicolon.
    pub heading: Span,
}

/// Mode of a parameter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// A value for the routine.
    In,
    /// A value from the routine.
    Out,
    /// A variable that the routine reads and changes.
    InOut,
    /// An object that caller and routine share.
    Shared,
}

/// Parameters of one mode and type: `a, b: in T`.
#[derive(Clone, PartialEq, Debug)]
pub struct Parameter {
    /// Their names.
    pub names: Vec<Name>,
    /// Their mode.
    pub mode: Mode,
    /// Their type.
    pub of: TypeSyntax,
    /// The place of the group.
    pub span: Span,
}

/// Local declarations and statements of a routine.
#[derive(Clone, PartialEq, Debug)]
pub struct Body {
    /// Declarations before `begin`.
    pub declarations: Vec<Declaration>,
    /// The statements.
    pub block: Block,
    /// The stretch of the declarations.
    pub before: Span,
}

impl RoutineKind {
    /// The keyword.
    pub fn word(self) -> &'static str {
        match self {
            RoutineKind::Function => "function",
            RoutineKind::Operation => "operation",
            RoutineKind::Process => "process",
        }
    }
}

impl Mode {
    /// The words as the formatter writes them.
    pub fn word(self) -> &'static str {
        match self {
            Mode::In => "in",
            Mode::Out => "out",
            Mode::InOut => "in out",
            Mode::Shared => "shared",
        }
    }
}
