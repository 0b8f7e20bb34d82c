//! Text: names of presets and tree shapes, lists of hosts, and the tables of `asp`.

pub use weft_asp::fuzzing::{openflights, tables};
pub use weft_launch::fuzzing::hostfile;
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
