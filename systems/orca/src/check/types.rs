//! Types. Arrays, sets and bags with the same parts are one type; every declaration of an
//! enumeration, record, union or graph is a type of its own.

use super::facts::ObjectId;
use crate::tree::{BinaryOperator, Expression};

/// Number of a type.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct TypeId(pub u32);

/// A type.
#[derive(Clone, PartialEq, Debug)]
pub enum Type {
    /// The type of what was reported as wrong; it agrees with every type.
    Unknown,
    /// No value: what a statement's call has.
    Nothing,
    /// Integers of 64 bits.
    Integer,
    /// Reals of 64 bits.
    Real,
    /// Truth values.
    Boolean,
    /// Characters.
    Char,
    /// Strings.
    Text,
    /// The type of `nil`, which agrees with every name of a node.
    Nil,
    /// An enumeration.
    Enumeration {
        /// Its name.
        name: String,
        /// Its values, in order.
        values: Vec<String>,
    },
    /// A record.
    Record {
        /// Its name.
        name: String,
        /// Its fields, in order.
        fields: Vec<FieldType>,
    },
    /// A union.
    Union {
        /// Its name.
        name: String,
        /// Name of the tag.
        tag: String,
        /// Type of the tag.
        of: TypeId,
        /// The fields, in order.
        variants: Vec<VariantType>,
    },
    /// An array: its bounds belong to each value.
    Array {
        /// Types of the indices.
        indices: Vec<TypeId>,
        /// Type of an element.
        of: TypeId,
    },
    /// A set.
    Set(TypeId),
    /// A bag: a set that counts.
    Bag(TypeId),
    /// A graph.
    Graph {
        /// Its name.
        name: String,
        /// Fields of the graph as a whole.
        fields: Vec<FieldType>,
        /// Fields of each node.
        nodes: Vec<FieldType>,
    },
    /// A node of a graph, as `graph[name]` selects it; variables have no such type.
    Node(TypeId),
    /// A name of a node of a graph.
    NodeName(TypeId),
    /// An object.
    Object(ObjectId),
}

/// A field of a record, graph or node.
#[derive(Clone, PartialEq, Debug)]
pub struct FieldType {
    /// Its name.
    pub name: String,
    /// Its type.
    pub of: TypeId,
    /// Its bounds, if it is an array that begins with some.
    pub shape: Shape,
}

/// A field of a union.
#[derive(Clone, PartialEq, Debug)]
pub struct VariantType {
    /// Value of the tag for which the field is there: of enumerations and characters the number.
    pub choice: i64,
    /// Its name.
    pub name: String,
    /// Its type.
    pub of: TypeId,
    /// Its bounds, if it is an array that begins with some.
    pub shape: Shape,
}

/// Bounds with which arrays begin. They are evaluated when the variable is declared.
#[derive(Clone, PartialEq, Debug, Default)]
pub enum Shape {
    /// No array, or an array without elements; a record's arrays have the shapes of its fields.
    #[default]
    Plain,
    /// An array with bounds for each dimension, if it has some, and the shape of its elements.
    Array {
        /// First and last index of each dimension.
        bounds: Vec<(Expression, Expression)>,
        /// The shape of each element.
        of: Box<Shape>,
    },
}

/// All types of a program.
#[derive(Clone, Debug)]
pub struct Types {
    types: Vec<Type>,
    /// Number of arrays, sets and bags within each other, for each type.
    depths: Vec<u32>,
}

impl Types {
    /// [`Type::Unknown`].
    pub const UNKNOWN: TypeId = TypeId(0);
    /// [`Type::Nothing`].
    pub const NOTHING: TypeId = TypeId(1);
    /// [`Type::Integer`].
    pub const INTEGER: TypeId = TypeId(2);
    /// [`Type::Real`].
    pub const REAL: TypeId = TypeId(3);
    /// [`Type::Boolean`].
    pub const BOOLEAN: TypeId = TypeId(4);
    /// [`Type::Char`].
    pub const CHAR: TypeId = TypeId(5);
    /// [`Type::Text`].
    pub const TEXT: TypeId = TypeId(6);
    /// [`Type::Nil`].
    pub const NIL: TypeId = TypeId(7);

    /// The type with a number.
    pub fn get(&self, id: TypeId) -> &Type {
        &self.types[id.0 as usize]
    }

    /// Number of types; their own numbers are below.
    pub fn count(&self) -> u32 {
        self.types.len() as u32
    }

    /// A type's name, or how it is written.
    pub fn describe(&self, id: TypeId, objects: &[String]) -> String {
        let describe = |id: &TypeId| self.describe(*id, objects);
        match self.get(id) {
            Type::Unknown => "something unknown".to_owned(),
            Type::Nothing => "no value".to_owned(),
            Type::Integer => "integer".to_owned(),
            Type::Real => "real".to_owned(),
            Type::Boolean => "boolean".to_owned(),
            Type::Char => "char".to_owned(),
            Type::Text => "string".to_owned(),
            Type::Nil => "nil".to_owned(),
            Type::Enumeration { name, .. }
            | Type::Record { name, .. }
            | Type::Union { name, .. }
            | Type::Graph { name, .. } => name.clone(),
            Type::Array { indices, of } => {
                let indices: Vec<String> = indices.iter().map(describe).collect();
                format!("array[{}] of {}", indices.join(", "), describe(of))
            }
            Type::Set(of) => format!("set of {}", describe(of)),
            Type::Bag(of) => format!("bag of {}", describe(of)),
            Type::Node(of) => format!("node of {}", describe(of)),
            Type::NodeName(of) => format!("nodename of {}", describe(of)),
            Type::Object(object) => objects[object.0 as usize].clone(),
        }
    }

    /// True for types with an order and numbers: integers, characters, truth values, enumerations.
    pub fn is_discrete(&self, id: TypeId) -> bool {
        let of = self.get(id);
        matches!(of, Type::Integer | Type::Char | Type::Boolean | Type::Enumeration { .. })
            || *of == Type::Unknown
    }

    /// True for objects, and for what has objects in it.
    pub fn holds_objects(&self, id: TypeId) -> bool {
        let mut seen = vec![false; self.types.len()];
        let mut waiting = vec![id];
        while let Some(id) = waiting.pop() {
            if std::mem::replace(&mut seen[id.0 as usize], true) {
                continue;
            }
            if matches!(self.get(id), Type::Object(_)) {
                return true;
            }
            waiting.extend(self.parts(id));
        }
        false
    }

    /// The types of what a value contains.
    pub fn parts(&self, id: TypeId) -> Vec<TypeId> {
        match self.get(id) {
            Type::Array { of, .. } | Type::Set(of) | Type::Bag(of) => vec![*of],
            Type::Record { fields, .. } => fields.iter().map(|field| field.of).collect(),
            Type::Union { variants, .. } => variants.iter().map(|variant| variant.of).collect(),
            Type::Graph { fields, nodes, .. } => {
                fields.iter().chain(nodes).map(|field| field.of).collect()
            }
            _ => Vec::new(),
        }
    }

    pub(super) fn new() -> Self {
        use Type::*;
        let types = vec![Unknown, Nothing, Integer, Real, Boolean, Char, Text, Nil];
        Types { depths: vec![0; types.len()], types }
    }

    /// The number of an array, set, bag, name of a node or object: the same for the same parts.
    pub(super) fn intern(&mut self, of: Type) -> TypeId {
        match self.types.iter().position(|known| *known == of) {
            Some(place) => TypeId(place as u32),
            None => self.declare(of),
        }
    }

    /// A number for a type that is another one than all that are like it.
    pub(super) fn declare(&mut self, of: Type) -> TypeId {
        let depth = match &of {
            Type::Array { of, .. } | Type::Set(of) | Type::Bag(of) => self.depth(*of) + 1,
            _ => 0,
        };
        self.depths.push(depth);
        self.types.push(of);
        TypeId(self.types.len() as u32 - 1)
    }

    /// Number of arrays, sets and bags within each other.
    pub(super) fn depth(&self, id: TypeId) -> u32 {
        self.depths[id.0 as usize]
    }

    pub(super) fn define(&mut self, id: TypeId, of: Type) {
        self.types[id.0 as usize] = of;
    }

    /// True if a value of one type may stand where another is expected.
    pub fn agree(&self, expected: TypeId, found: TypeId) -> bool {
        let unknown = |id| *self.get(id) == Type::Unknown;
        let nil = |id, other| id == Types::NIL && matches!(self.get(other), Type::NodeName(_));
        expected == found
            || unknown(expected)
            || unknown(found)
            || nil(expected, found)
            || nil(found, expected)
            || self.has_unknown(expected)
            || self.has_unknown(found)
    }

    /// True for types with a part that was reported.
    fn has_unknown(&self, id: TypeId) -> bool {
        match self.get(id) {
            Type::Array { of, indices } => {
                self.has_unknown(*of) || indices.iter().any(|index| self.has_unknown(*index))
            }
            Type::Set(of) | Type::Bag(of) => self.has_unknown(*of),
            of => *of == Type::Unknown,
        }
    }

    /// True for numbers.
    pub fn is_number(&self, of: TypeId) -> bool {
        matches!(of, Types::INTEGER | Types::REAL | Types::UNKNOWN)
    }

    /// The type of an array's elements, or of anything else itself.
    pub fn element_of(&self, mut id: TypeId) -> TypeId {
        while let Type::Array { of, .. } = self.get(id) {
            id = *of;
        }
        id
    }

    /// True if an operator is defined for a type.
    pub fn is_defined(&self, operator: BinaryOperator, of: TypeId) -> bool {
        use BinaryOperator as Op;
        let number = matches!(of, Types::INTEGER | Types::REAL);
        let collection = matches!(self.get(of), Type::Set(_) | Type::Bag(_));
        match operator {
            Op::Equal | Op::NotEqual => {
                let graph = matches!(self.get(of), Type::Graph { .. } | Type::Node(_));
                !graph && of != Types::NOTHING && !self.holds_objects(of)
            }
            Op::Less | Op::LessEqual | Op::Greater | Op::GreaterEqual => {
                number || of == Types::TEXT || self.is_discrete(of)
            }
            Op::Add => number || collection || of == Types::TEXT,
            Op::Subtract | Op::Multiply => number || collection,
            Op::Divide => number,
            Op::Quotient | Op::Remainder => of == Types::INTEGER,
            Op::And | Op::Or => of == Types::BOOLEAN,
            Op::In => false,
        }
    }
}
