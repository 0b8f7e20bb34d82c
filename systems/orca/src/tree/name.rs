//! Names.

use crate::source::Span;

/// A name where it is written.
#[derive(Clone, PartialEq, Debug)]
pub struct Name {
    /// The name.
    pub text: String,
    /// Its place.
    pub span: Span,
}
