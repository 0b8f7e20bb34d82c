//! Types as they are written.

use super::{Expression, Name};
use crate::source::Span;

/// A type as it is written.
#[derive(Clone, PartialEq, Debug)]
pub struct TypeSyntax {
    /// Its form.
    pub kind: TypeKind,
    /// Its place.
    pub span: Span,
}

/// Form of a written type.
#[derive(Clone, PartialEq, Debug)]
pub enum TypeKind {
    /// `T`, `M.T`, or with the bounds of an array, `T[1..n, 1..m]`.
    Named {
        /// The module, if it is named.
        module: Option<Name>,
        /// The type.
        name: Name,
        /// Bounds of a variable of an array type, one pair for each dimension.
        bounds: Vec<(Expression, Expression)>,
    },
    /// `(red, green, blue)`.
    Enumeration(Vec<Name>),
    /// `record ... end`.
    Record(Vec<Field>),
    /// `union (tag: T) choice => field: type; ... end`.
    Union {
        /// Name of the tag.
        tag: Name,
        /// Type of the tag.
        of: Box<TypeSyntax>,
        /// The fields, each with the value of the tag for which it is there.
        variants: Vec<Variant>,
    },
    /// `array[I] of T`.
    Array {
        /// The dimensions.
        indices: Vec<Index>,
        /// Type of an element.
        of: Box<TypeSyntax>,
    },
    /// `set of T`.
    Set(Box<TypeSyntax>),
    /// `bag of T`.
    Bag(Box<TypeSyntax>),
    /// `graph ... nodes ... end`.
    Graph {
        /// Fields of the graph as a whole.
        fields: Vec<Field>,
        /// Fields of each node.
        nodes: Vec<Field>,
    },
    /// `nodename of G`.
    NodeName(Box<TypeSyntax>),
}

/// Fields of one type in a record or graph.
#[derive(Clone, PartialEq, Debug)]
pub struct Field {
    /// Their names.
    pub names: Vec<Name>,
    /// Their type.
    pub of: TypeSyntax,
    /// The place of the declaration, the semicolon included.
    pub span: Span,
}

/// A field of a union.
#[derive(Clone, PartialEq, Debug)]
pub struct Variant {
    /// Value of the tag for which the field is there.
    pub choice: Expression,
    /// The field.
    pub name: Name,
    /// Its type.
    pub of: TypeSyntax,
    /// The place of the declaration, the semicolon included.
    pub span: Span,
}

/// One dimension of a written array type.
#[derive(Clone, PartialEq, Debug)]
pub enum Index {
    /// The type of the index: the bounds come with each value.
    Type(TypeSyntax),
    /// Bounds, from which the type of the index follows.
    Bounds(Expression, Expression),
}
