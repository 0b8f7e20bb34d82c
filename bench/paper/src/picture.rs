//! Pictures of runs, drawn from their traces.

pub mod matrix;
pub mod spacetime;

use weft_app_common::svg::{Svg, num};

/// A picture of a run, and what is to be seen in it.
#[derive(Clone, PartialEq, Debug)]
pub struct Picture {
    /// Name of its file, without the ending.
    pub name: &'static str,
    /// Title; also what a reader who sees no picture is told.
    pub title: String,
    /// The picture, an SVG document.
    pub svg: String,
    /// Text below it, in Markdown.
    pub says: String,
}

impl Picture {
    /// Name of its file.
    pub fn file(&self) -> String {
        format!("{}.svg", self.name)
    }
}

const INK: &str = "#222222";
const SOFT: &str = "#667080";

/// A picture of this size with a title, on white.
fn document(title: &str, (width, height): (f64, f64), content: impl FnOnce(&mut Svg)) -> String {
    Svg::document(width, height, |svg| {
        svg.text_element::<&str>("title", &[], title);
        svg.element("rect", &[("width", "100%"), ("height", "100%"), ("fill", "white")]);
        svg.parent("g", &[("font-family", "sans-serif"), ("font-size", "12")], content);
    })
}

/// A text whose `anchor` is at this place.
fn text(svg: &mut Svg, (x, y): (f64, f64), anchor: &str, fill: &str, text: &str) {
    let (x, y) = (num(x), num(y));
    svg.text_element(
        "text",
        &[("x", x.as_str()), ("y", &y), ("text-anchor", anchor), ("fill", fill)],
        text,
    );
}

/// A rectangle of a class: its left upper corner, and its width and height.
fn rect(svg: &mut Svg, class: &str, (x, y): (f64, f64), (wide, high): (f64, f64), fill: &str) {
    let [x, y, wide, high] = [x, y, wide, high].map(num);
    svg.element(
        "rect",
        &[
            ("class", class),
            ("x", x.as_str()),
            ("y", &y),
            ("width", &wide),
            ("height", &high),
            ("fill", fill),
        ],
    );
}

/// A line of a class.
fn line(svg: &mut Svg, class: &str, from: (f64, f64), to: (f64, f64), stroke: (&str, &str)) {
    let [x1, y1, x2, y2] = [from.0, from.1, to.0, to.1].map(num);
    svg.element(
        "line",
        &[
            ("class", class),
            ("x1", x1.as_str()),
            ("y1", &y1),
            ("x2", &x2),
            ("y2", &y2),
            ("stroke", stroke.0),
            ("stroke-width", stroke.1),
        ],
    );
}

#[cfg(test)]
pub(crate) mod tests;
