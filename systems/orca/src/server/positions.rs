//! Places in texts: bytes here, lines and UTF-16 units there.

use lsp_types::{Position, Range};

use crate::source::Span;

/// The stretch of a text.
pub fn range(text: &str, span: Span) -> Range {
    let [start, end] = [span.start, span.end].map(|offset| position(text, offset as usize));
    Range { start, end }
}

/// The place of a byte.
fn position(text: &str, offset: usize) -> Position {
    let before = text.get(..offset).unwrap_or(text);
    let line = before.matches('\n').count();
    let begins = before.rfind('\n').map_or(0, |end| end + 1);
    let character = before[begins..].encode_utf16().count();
    Position { line: line as u32, character: character as u32 }
}

/// The byte at a place; the end of its line, if that is shorter.
pub fn offset(text: &str, position: Position) -> u32 {
    let mut begins = 0;
    for line in text.split_inclusive('\n').take(position.line as usize) {
        begins += line.len();
    }
    let line = text[begins..].lines().next().unwrap_or_default();
    let mut units = 0;
    for (place, letter) in line.char_indices() {
        if units >= position.character as usize {
            return (begins + place) as u32;
        }
        units += letter.len_utf16();
    }
    (begins + line.len()) as u32
}
