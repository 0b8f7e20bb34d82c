//! Writing SVG: elements that always close, and text that is always escaped.

use std::fmt::{Display, Write};

/// An SVG document being written.
#[derive(Debug, Default)]
pub struct Svg {
    text: String,
}

impl Svg {
    /// A document of one `svg` element of this size, with what `content` writes into it.
    pub fn document(width: f64, height: f64, content: impl FnOnce(&mut Self)) -> String {
        let mut svg = Self::default();
        let size = [("width", num(width)), ("height", num(height))];
        let view = ("viewBox", format!("0 0 {} {}", num(width), num(height)));
        let name = ("xmlns", "http://www.w3.org/2000/svg".to_owned());
        let [wide, high] = size;
        svg.parent("svg", &[name, wide, high, view], content);
        svg.text
    }

    /// An element with others in it.
    pub fn parent<V: Display>(
        &mut self,
        name: &str,
        attributes: &[(&str, V)],
        content: impl FnOnce(&mut Self),
    ) {
        self.open(name, attributes);
        self.text.push_str(">\n");
        content(self);
        let _ = writeln!(self.text, "</{name}>");
    }

    /// An element with nothing in it.
    pub fn element<V: Display>(&mut self, name: &str, attributes: &[(&str, V)]) {
        self.open(name, attributes);
        self.text.push_str("/>\n");
    }

    /// An element with text in it.
    pub fn text_element<V: Display>(&mut self, name: &str, attributes: &[(&str, V)], text: &str) {
        self.open(name, attributes);
        let _ = writeln!(self.text, ">{}</{name}>", escaped(text));
    }

    fn open<V: Display>(&mut self, name: &str, attributes: &[(&str, V)]) {
        let _ = write!(self.text, "<{name}");
        for (key, value) in attributes {
            let _ = write!(self.text, " {key}=\"{}\"", escaped(&value.to_string()));
        }
    }
}

/// A coordinate: a tenth of a pixel is finer than anyone sees.
pub fn num(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").unwrap_or(&text).to_owned()
}

fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            // XML has no place for these, not even escaped.
            control if control.is_control() => escaped.push(' '),
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests;
