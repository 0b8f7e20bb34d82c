//! Space-time diagrams: a line for each node, on which it is thick where the node works, and an
//! arrow for each packet.

use super::{INK, SOFT, document, line, rect, text};
use std::ops::Range;
use weft_app_common::svg::{Svg, num};
use weft_report::analysis::arrows::Arrow;
use weft_report::analysis::states::{Life, RankState};
use weft_report::units;

const WIDTH: f64 = 960.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = WIDTH - 24.0;
const TOP: f64 = 40.0;
/// Distance between the lines of two nodes.
const LANE: f64 = 46.0;
/// Height of a line where a node works.
const BAR: f64 = 11.0;
/// Height of a panel beside its lines: its heading.
const HEADING: f64 = 34.0;
/// Height of the axis and the legend.
const FOOT: f64 = 66.0;

/// Class of packets that are drawn alike.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Class {
    /// Name, for the legend.
    pub name: &'static str,
    /// Colour.
    pub colour: &'static str,
}

/// A run, or what is to be seen of it.
pub struct Panel<'a> {
    /// Heading.
    pub heading: String,
    /// Nodes over time.
    pub lives: &'a [Life],
    /// Packets, and their classes.
    pub arrows: Vec<(&'a Arrow, Class)>,
    /// Time at its left edge.
    pub begin: u64,
}

/// The diagram of some runs, one below the other, of which each is shown for so many nanoseconds.
pub fn draw(title: &str, panels: &[Panel<'_>], length: u64) -> String {
    let mut classes: Vec<Class> = Vec::new();
    for (_, class) in panels.iter().flat_map(|panel| panel.seen(length)) {
        if !classes.contains(&class) {
            classes.push(class);
        }
    }
    let heights: Vec<f64> = panels.iter().map(Panel::height).collect();
    let bottom = TOP + heights.iter().sum::<f64>();
    document(title, (WIDTH, bottom + FOOT), |svg| {
        text(svg, (LEFT, 24.0), "start", INK, title);
        clip(svg, bottom);
        let mut top = TOP;
        for (panel, height) in panels.iter().zip(heights) {
            panel.draw(svg, top, length);
            top += height;
        }
        axis(svg, bottom, length);
        legend(svg, bottom + 48.0, &classes);
    })
}

/// Nothing is drawn left and right of the lines.
fn clip(svg: &mut Svg, bottom: f64) {
    svg.parent("clipPath", &[("id", "time")], |svg| {
        rect(svg, "clip", (LEFT, 0.0), (RIGHT - LEFT, bottom), INK);
    });
}

impl Panel<'_> {
    fn height(&self) -> f64 {
        HEADING + LANE * self.lives.len() as f64
    }

    /// Packets that are under way while it is shown.
    fn seen(&self, length: u64) -> impl Iterator<Item = (&Arrow, Class)> {
        let is_seen =
            move |arrow: &Arrow| arrow.left < self.begin + length && arrow.arrived >= self.begin;
        self.arrows.iter().copied().filter(move |(arrow, _)| is_seen(arrow))
    }

    fn draw(&self, svg: &mut Svg, top: f64, length: u64) {
        text(svg, (LEFT, top + 18.0), "start", INK, &self.heading);
        let lanes = Lanes { top: top + HEADING, times: self.begin..self.begin + length };
        for (node, life) in self.lives.iter().enumerate() {
            text(svg, (LEFT - 10.0, lanes.y(node) + 4.0), "end", SOFT, &format!("node {node}"));
            lanes.life(svg, node, life);
        }
        svg.parent("g", &[("clip-path", "url(#time)")], |svg| {
            for (arrow, class) in self.seen(length) {
                lanes.arrow(svg, arrow, class);
            }
        });
    }
}

/// Places of the nodes and times of a panel.
struct Lanes {
    top: f64,
    times: Range<u64>,
}

impl Lanes {
    fn x(&self, time: u64) -> f64 {
        let passed = time as f64 - self.times.start as f64;
        LEFT + (RIGHT - LEFT) * passed / (self.times.end - self.times.start) as f64
    }

    fn y(&self, node: usize) -> f64 {
        self.top + LANE * (node as f64 + 0.4)
    }

    /// A thin line, and on it what the node does but wait, where there is anything to see of it.
    fn life(&self, svg: &mut Svg, node: usize, life: &Life) {
        let Range { start, end } = self.times;
        let mut part = |class, state, from: u64, until: u64| {
            let (high, fill) = look(state);
            let corner = (self.x(from), self.y(node) - high / 2.0);
            let wide = self.x(until) - corner.0;
            if wide >= 0.1 {
                rect(svg, class, corner, (wide, high), fill);
            }
        };
        part("life", RankState::Waiting, life.begin.max(start), life.end.clamp(start, end));
        for (piece, time) in life.within(start, end).filter(|(piece, _)| !piece.state.is_idle()) {
            let from = piece.start.max(start);
            part("state", piece.state, from, from + time);
        }
    }

    fn arrow(&self, svg: &mut Svg, arrow: &Arrow, class: Class) {
        let (from, to) = (self.y(arrow.from as usize), self.y(arrow.to as usize));
        let down = if to > from { 1.0 } else { -1.0 };
        let start = (self.x(arrow.left), from + down * BAR / 2.0);
        let end = (self.x(arrow.arrived), to - down * BAR / 2.0);
        line(svg, "packet", start, end, (class.colour, "1.2"));
        head(svg, start, end, class.colour);
    }
}

/// Height and colour of a line in this state.
fn look(state: RankState) -> (f64, &'static str) {
    match state {
        RankState::Computing => (BAR, "#2f74b5"),
        RankState::Handler => (BAR, "#1f9e7a"),
        RankState::Waiting | RankState::Asleep => (3.0, "#eda62c"),
        RankState::Lost => (BAR, "#d6452b"),
    }
}

/// The head of an arrow: a triangle.
fn head(svg: &mut Svg, from: (f64, f64), to: (f64, f64), colour: &str) {
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let length = dx.hypot(dy).max(1.0);
    let (dx, dy) = (dx / length, dy / length);
    let side = |by: f64| (to.0 - 7.0 * dx - by * dy, to.1 - 7.0 * dy + by * dx);
    let corners = [to, side(2.6), side(-2.6)].map(|(x, y)| format!("{},{}", num(x), num(y)));
    svg.element("polygon", &[("points", corners.join(" ").as_str()), ("fill", colour)]);
}

/// Time from the left edge on.
fn axis(svg: &mut Svg, y: f64, length: u64) {
    line(svg, "axis", (LEFT, y), (RIGHT, y), (SOFT, "1"));
    let rough = length as f64 / 8.0;
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|nice| nice * power);
    let step = step.into_iter().find(|step| *step >= rough).unwrap_or(rough);
    for tick in 0..=(length as f64 / step) as u64 {
        let time = tick as f64 * step;
        let x = LEFT + (RIGHT - LEFT) * time / length as f64;
        line(svg, "axis", (x, y), (x, y + 4.0), (SOFT, "1"));
        let says = if tick == 0 { "0".to_owned() } else { units::time(time as u64) };
        text(svg, (x, y + 18.0), "middle", SOFT, &says);
    }
}

fn legend(svg: &mut Svg, y: f64, classes: &[Class]) {
    let mut x = LEFT;
    for (name, state) in [
        ("works", RankState::Computing),
        ("handles a packet", RankState::Handler),
        ("waits", RankState::Waiting),
    ] {
        let (high, colour) = look(state);
        rect(svg, "legend", (x, y - 4.0 - high / 2.0), (18.0, high), colour);
        text(svg, (x + 24.0, y), "start", INK, name);
        x += 46.0 + 6.6 * name.len() as f64;
    }
    for class in classes {
        line(svg, "legend", (x, y - 4.0), (x + 18.0, y - 4.0), (class.colour, "1.6"));
        head(svg, (x, y - 4.0), (x + 20.0, y - 4.0), class.colour);
        text(svg, (x + 26.0, y), "start", INK, class.name);
        x += 48.0 + 6.6 * class.name.len() as f64;
    }
}
