//! Text: names of presets and tree shapes, and the tables of `asp`.

pub use weft_asp::fuzzing::{openflights, tables};
use weft_protocol::Preset;
use weft_protocol::tree::Shape;

/// The name of a preset, of a tree shape, or of neither.
pub fn names(data: &[u8]) {
    let Ok(name) = str::from_utf8(data) else { return };
    match name.parse::<Preset>() {
        Ok(preset) => assert_eq!(preset.to_string(), name),
        Err(unknown) => assert!(unknown.to_string().contains(name)),
    }
    match name.parse::<Shape>() {
        Ok(shape) => assert_eq!(shape.to_string(), name),
        Err(unknown) => assert!(unknown.to_string().contains(name)),
    }
}
