//! `#[weft_object::object]`: from an `impl` block to a type of shared objects.

mod expand;
mod read;

pub use expand::expand;
pub use read::{ObjectType, Options};
