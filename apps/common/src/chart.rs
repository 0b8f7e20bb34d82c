//! Charts as SVG: points and lines on linear or logarithmic axes, with a legend.

use crate::svg::{Svg, num};

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 420.0;
const LEFT: f64 = 72.0;
const RIGHT: f64 = 520.0;
const TOP: f64 = 48.0;
const BOTTOM: f64 = 364.0;
const INK: &str = "#222222";
const GRID: &str = "#dddddd";
/// Colours that people of all kinds of sight tell apart (Okabe and Ito).
const COLOURS: [&str; 7] =
    ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#222222"];

/// Scale of an axis.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scale {
    /// Evenly, from zero.
    Linear,
    /// By powers of two; all values must be positive.
    Logarithmic,
}

/// An axis: what it shows, in which unit, how divided.
#[derive(Clone, PartialEq, Debug)]
pub struct Axis {
    /// Its name and unit.
    pub label: String,
    /// Its division.
    pub scale: Scale,
}

/// Points that belong together.
#[derive(Clone, PartialEq, Debug)]
pub struct Series {
    /// Name in the legend.
    pub name: String,
    /// (x, y), by x.
    pub points: Vec<(f64, f64)>,
    /// Rings without a line, for points of others.
    pub rings: bool,
}

/// A chart.
#[derive(Clone, PartialEq, Debug)]
pub struct Chart {
    /// Its title; also what a reader who sees no picture is told.
    pub title: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// Series that it shows.
    pub series: Vec<Series>,
}

impl Chart {
    /// An empty chart.
    pub fn new(title: &str, (x, x_scale): (&str, Scale), (y, y_scale): (&str, Scale)) -> Self {
        let axis = |label: &str, scale| Axis { label: label.into(), scale };
        let (x, y) = (axis(x, x_scale), axis(y, y_scale));
        Chart { title: title.into(), x, y, series: Vec::new() }
    }

    /// Adds a line.
    pub fn line(&mut self, name: impl Into<String>, points: Vec<(f64, f64)>) {
        self.series.push(Series { name: name.into(), points, rings: false });
    }

    /// The chart as an SVG document.
    pub fn svg(&self) -> String {
        let points = || self.series.iter().flat_map(|series| &series.points);
        let x = Range::new(self.x.scale, points().map(|point| point.0), LEFT, RIGHT);
        let y = Range::new(self.y.scale, points().map(|point| point.1), BOTTOM, TOP);
        Svg::document(WIDTH, HEIGHT, |svg| {
            svg.text_element::<&str>("title", &[], &self.title);
            svg.element("rect", &[("width", "100%"), ("height", "100%"), ("fill", "white")]);
            svg.parent("g", &[("font-family", "sans-serif"), ("font-size", "12")], |svg| {
                text(svg, (LEFT, 26.0), "start", &self.title);
                self.frame(svg, &x, &y);
                for (index, series) in self.series.iter().enumerate() {
                    series.draw(svg, index, &x, &y);
                }
            });
        })
    }

    fn frame(&self, svg: &mut Svg, x: &Range, y: &Range) {
        for tick in x.ticks() {
            let at = x.place(tick);
            line(svg, (at, TOP), (at, BOTTOM), GRID);
            text(svg, (at, BOTTOM + 18.0), "middle", &tick.to_string());
        }
        for tick in y.ticks() {
            let at = y.place(tick);
            line(svg, (LEFT, at), (RIGHT, at), GRID);
            text(svg, (LEFT - 8.0, at + 4.0), "end", &tick.to_string());
        }
        line(svg, (LEFT, BOTTOM), (RIGHT, BOTTOM), INK);
        line(svg, (LEFT, TOP), (LEFT, BOTTOM), INK);
        text(svg, ((LEFT + RIGHT) / 2.0, BOTTOM + 40.0), "middle", &self.x.label);
        text(svg, (LEFT - 56.0, TOP - 6.0), "start", &self.y.label);
    }
}

impl Series {
    fn draw(&self, svg: &mut Svg, index: usize, x: &Range, y: &Range) {
        let colour = COLOURS[index % COLOURS.len()];
        let places: Vec<(f64, f64)> =
            self.points.iter().map(|point| (x.place(point.0), y.place(point.1))).collect();
        if !self.rings {
            let corners: Vec<String> =
                places.iter().map(|at| format!("{},{}", num(at.0), num(at.1))).collect();
            let path = [("points", corners.join(" ")), ("stroke", colour.into())];
            let [points, stroke] = path;
            let style = [("fill", "none".to_owned()), ("stroke-width", "1.8".to_owned())];
            let [fill, width] = style;
            svg.element("polyline", &[points, stroke, fill, width]);
        }
        let legend = (RIGHT + 20.0, TOP + 10.0 + 20.0 * index as f64);
        for place in places.into_iter().chain([legend]) {
            self.mark(svg, place, colour);
        }
        text(svg, (legend.0 + 12.0, legend.1 + 4.0), "start", &self.name);
    }

    fn mark(&self, svg: &mut Svg, (x, y): (f64, f64), colour: &str) {
        let (radius, fill) = if self.rings { ("5", "none") } else { ("3", colour) };
        let (x, y) = (num(x), num(y));
        let place = [("cx", x.as_str()), ("cy", y.as_str()), ("r", radius)];
        let [cx, cy, r] = place;
        svg.element("circle", &[cx, cy, r, ("fill", fill), ("stroke", colour)]);
    }
}

/// From values to pixels.
struct Range {
    scale: Scale,
    values: (f64, f64),
    pixels: (f64, f64),
}

impl Range {
    fn new(scale: Scale, values: impl Iterator<Item = f64>, start: f64, end: f64) -> Self {
        let (low, high) = values
            .filter(|value| value.is_finite())
            .fold((f64::MAX, f64::MIN), |(low, high), value| (low.min(value), high.max(value)));
        let values = match scale {
            _ if low > high => (1.0, 2.0),
            Scale::Linear => (low.min(0.0), if high > low.min(0.0) { high * 1.05 } else { 1.0 }),
            Scale::Logarithmic => {
                let (low, high) = (low.max(f64::MIN_POSITIVE), high.max(f64::MIN_POSITIVE));
                let (first, last) = (low.log2().floor(), high.log2().ceil());
                (first.exp2(), last.max(first + 1.0).exp2())
            }
        };
        Range { scale, values, pixels: (start, end) }
    }

    fn place(&self, value: f64) -> f64 {
        let (low, high) = self.values;
        let part = match self.scale {
            Scale::Linear => (value - low) / (high - low),
            Scale::Logarithmic => (value.max(low) / low).log2() / (high / low).log2(),
        };
        self.pixels.0 + part * (self.pixels.1 - self.pixels.0)
    }

    /// Values of the ticks: at most ten, round ones.
    fn ticks(&self) -> Vec<f64> {
        let (low, high) = self.values;
        match self.scale {
            Scale::Linear => {
                let rough = (high - low) / 6.0;
                let power = 10f64.powf(rough.log10().floor());
                let nice = [1.0, 2.0, 5.0, 10.0].into_iter().find(|nice| nice * power >= rough);
                let step = nice.unwrap_or(10.0) * power;
                let first = (low / step).ceil() as i64;
                let last = (high / step).floor() as i64;
                // As decimals that print short: 0.3, not 0.30000000000000004.
                (first..=last).map(|n| (n as f64 * step * 1e6).round() / 1e6).collect()
            }
            Scale::Logarithmic => {
                let powers = (high / low).log2().round() as i32;
                let stride = (powers / 10 + 1) as usize;
                (0..=powers).step_by(stride).map(|power| low * f64::from(power).exp2()).collect()
            }
        }
    }
}

fn line(svg: &mut Svg, from: (f64, f64), to: (f64, f64), colour: &str) {
    let ends = [("x1", from.0), ("y1", from.1), ("x2", to.0), ("y2", to.1)];
    let [a, b, c, d] = ends.map(|(key, value)| (key, num(value)));
    svg.element("line", &[a, b, c, d, ("stroke", colour.to_owned())]);
}

fn text(svg: &mut Svg, at: (f64, f64), anchor: &str, text: &str) {
    let place = [("x", num(at.0)), ("y", num(at.1)), ("text-anchor", anchor.to_owned())];
    svg.text_element(
        "text",
        &[place[0].clone(), place[1].clone(), place[2].clone(), ("fill", INK.to_owned())],
        text,
    );
}

#[cfg(test)]
mod tests;
