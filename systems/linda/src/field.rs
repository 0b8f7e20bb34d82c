//! Fields of tuples, parts of templates, and the rule by which they match.

/// Value in a tuple. Two are equal if they are of one kind and their values are, by `==`: a float
/// that is not a number equals nothing, and both zeros are equal.
#[derive(Clone, PartialEq, Debug)]
pub enum Field {
    /// An integer with a sign.
    I64(i64),
    /// An integer without.
    U64(u64),
    /// A floating-point number.
    F64(f64),
    /// A truth value.
    Bool(bool),
    /// A character of Unicode.
    Char(char),
    /// A text.
    Text(String),
    /// Bytes.
    Bytes(Vec<u8>),
}

/// Type of a field.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(u8)]
pub enum FieldKind {
    /// `i64`.
    I64 = 1,
    /// `u64`.
    U64,
    /// `f64`.
    F64,
    /// `bool`.
    Bool,
    /// `char`.
    Char,
    /// `String`, `&str`.
    Text,
    /// `Vec<u8>`, `&[u8]`.
    Bytes,
}

impl FieldKind {
    /// All of them.
    pub const ALL: [FieldKind; 7] = [
        FieldKind::I64,
        FieldKind::U64,
        FieldKind::F64,
        FieldKind::Bool,
        FieldKind::Char,
        FieldKind::Text,
        FieldKind::Bytes,
    ];
}

impl Field {
    /// Type of this value.
    pub fn kind(&self) -> FieldKind {
        match self {
            Field::I64(_) => FieldKind::I64,
            Field::U64(_) => FieldKind::U64,
            Field::F64(_) => FieldKind::F64,
            Field::Bool(_) => FieldKind::Bool,
            Field::Char(_) => FieldKind::Char,
            Field::Text(_) => FieldKind::Text,
            Field::Bytes(_) => FieldKind::Bytes,
        }
    }
}

/// Part of a template, in the place of a field.
#[derive(Clone, PartialEq, Debug)]
pub enum Pattern {
    /// A value, which matches an equal one.
    Actual(Field),
    /// A type, any of whose values match.
    Formal(FieldKind),
}

impl Pattern {
    /// Type of the fields that match.
    pub fn kind(&self) -> FieldKind {
        match self {
            Pattern::Actual(field) => field.kind(),
            Pattern::Formal(kind) => *kind,
        }
    }

    /// True if a tuple may have this field here.
    pub fn matches(&self, field: &Field) -> bool {
        match self {
            Pattern::Actual(actual) => actual == field,
            Pattern::Formal(kind) => *kind == field.kind(),
        }
    }
}

/// True if a tuple of these fields matches the template: it has as many, and each matches.
pub fn matches(template: &[Pattern], tuple: &[Field]) -> bool {
    template.len() == tuple.len()
        && template.iter().zip(tuple).all(|(pattern, field)| pattern.matches(field))
}

#[cfg(test)]
mod tests;
