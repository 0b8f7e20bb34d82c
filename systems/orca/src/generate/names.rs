//! Names in C. Numbers make them unique, and what follows is for people who read it.

use super::Generator;
use crate::check::{ObjectId, RoutineId, Type, TypeId, Types, VariableId};
use crate::source::Span;

impl Generator<'_> {
    /// The C type of a value.
    pub fn type_name(&self, id: TypeId) -> String {
        match self.facts.types.get(id) {
            Type::Nothing | Type::Unknown => "void".into(),
            Type::Integer | Type::Enumeration { .. } => "orca_integer".into(),
            Type::Real => "orca_real".into(),
            Type::Boolean => "orca_boolean".into(),
            Type::Char => "orca_char".into(),
            Type::Text => "orca_text".into(),
            Type::Nil | Type::NodeName(_) => "orca_node".into(),
            Type::Object(object) => object_name(*object),
            Type::Node(graph) => format!("t{}_nodes", graph.0),
            _ => format!("t{}", id.0),
        }
    }

    /// The C type of what a routine returns, in its frame too: nothing is a byte there.
    pub fn result_name(&self, id: TypeId) -> String {
        if id == Types::NOTHING { "char".into() } else { self.type_name(id) }
    }

    pub fn variable_name(&self, id: VariableId) -> String {
        format!("v{}_{}", id.0, self.facts.variable(id).name)
    }

    pub fn routine_name(&self, id: RoutineId) -> String {
        format!("r{}_{}", id.0, self.facts.routine(id).name)
    }

    /// A place as a C string, for errors of running programs.
    pub fn place(&self, span: Span) -> String {
        let source = self.sources.file(span.file);
        let before = &source.text[..span.start as usize];
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        quoted(&format!("{}:{line}:{column}", source.name))
    }

    /// True for values that hold nothing, which C copies by assignment.
    pub fn is_flat(&self, id: TypeId) -> bool {
        match self.facts.types.get(id) {
            Type::Record { .. } | Type::Union { .. } => {
                self.facts.types.parts(id).into_iter().all(|part| self.is_flat(part))
            }
            Type::Text | Type::Array { .. } | Type::Set(_) | Type::Bag(_) => false,
            Type::Graph { .. } | Type::Node(_) | Type::Object(_) => false,
            _ => true,
        }
    }

    /// True for numbers and what C compares like them.
    pub fn is_scalar(&self, id: TypeId) -> bool {
        self.is_flat(id)
            && !matches!(self.facts.types.get(id), Type::Record { .. } | Type::Union { .. })
    }
}

/// The C type of an object.
pub fn object_name(id: ObjectId) -> String {
    format!("o{}", id.0)
}

/// A C string.
pub fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for byte in text.bytes() {
        match byte {
            b'"' | b'\\' => quoted.extend(['\\', byte.into()]),
            b' '..=b'~' if byte != b'?' => quoted.push(byte.into()),
            _ => quoted += &format!("\\{byte:03o}"),
        }
    }
    quoted + "\""
}
