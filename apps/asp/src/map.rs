//! A map of the world as SVG: the airports, whose density draws the continents, and routes as great
//! circles on it.
//!
//! The projection is equirectangular: a degree is as long everywhere and in both directions.

mod labels;

use std::fmt::Write;

use weft_app_common::svg::{Svg, num};
use weft_app_common::thousands;

use self::labels::{Area, Labels};
use crate::network::Network;
use crate::sphere::{Position, arc, split_at_date_line};
use crate::trip::{Trip, kilometres};

const WIDTH: f64 = 1600.0;
const MARGIN: f64 = 40.0;
const PANEL_TOP: f64 = 104.0;
const DEGREE: f64 = (WIDTH - 2.0 * MARGIN) / 360.0;
/// The latitudes shown: no scheduled flight lands farther south, hardly one farther north.
const NORTH: f64 = 84.0;
const SOUTH: f64 = -60.0;
const LEGEND_LINE: f64 = 26.0;
const LEGEND_TOP: f64 = 38.0;
const FOOT: f64 = 44.0;
/// Codes of one line of the legend; a longer route goes on in the next.
const CODES_A_LINE: usize = 22;
/// Points of an arc are this far apart, which looks round at this size.
const ARC_STEP_DEGREES: f64 = 1.5;

const PAPER: &str = "#fbfaf6";
const SEA: &str = "#eef2f4";
const GRID: &str = "#dbe2e6";
const EQUATOR: &str = "#c5d0d6";
const AIRPORT: &str = "#61707c";
const INK: &str = "#1f2a33";
const FADED: &str = "#6b7780";
const FONT: &str = "Inter, 'Helvetica Neue', Helvetica, Arial, 'DejaVu Sans', sans-serif";
const STOP_RADIUS: f64 = 4.2;
const LABEL_SIZE: f64 = 13.0;

/// A route to draw.
#[derive(Debug, Clone)]
pub struct Line<'a> {
    /// Text of the legend before its codes.
    pub title: &'a str,
    /// The route.
    pub trip: &'a Trip,
    /// Its colour, as SVG writes it.
    pub colour: &'a str,
}

/// Draws the network with routes on it, the first on top and in the title.
pub fn draw(network: &Network, lines: &[Line<'_>]) -> String {
    let legend: Vec<(&str, String)> = lines
        .iter()
        .flat_map(|line| {
            let texts = legend_texts(network, line);
            let first = std::iter::once(line.colour).chain(std::iter::repeat(""));
            first.zip(texts).collect::<Vec<_>>()
        })
        .collect();
    let panel_bottom = PANEL_TOP + (NORTH - SOUTH) * DEGREE;
    let height = panel_bottom + LEGEND_TOP + LEGEND_LINE * legend.len() as f64 + FOOT;
    Svg::document(WIDTH, height, |svg| {
        svg.element("rect", &[("width", "100%"), ("height", "100%"), ("fill", PAPER)]);
        title(svg, network, lines);
        svg.parent("g", &[("clip-path", "url(#panel)")], |svg| {
            panel(svg);
            graticule(svg);
            airports(svg, network);
            for line in lines.iter().rev() {
                draw_line(svg, network, line);
            }
        });
        stops(svg, network, lines);
        draw_legend(svg, &legend, panel_bottom + LEGEND_TOP);
        foot(svg, height - 22.0);
    })
}

fn x_of(longitude: f64) -> f64 {
    MARGIN + (longitude + 180.0) * DEGREE
}

fn y_of(latitude: f64) -> f64 {
    PANEL_TOP + (NORTH - latitude) * DEGREE
}

fn on_page(place: Position) -> (f64, f64) {
    (x_of(place.longitude), y_of(place.latitude))
}

fn frame() -> Area {
    Area { x: MARGIN, y: PANEL_TOP, width: 360.0 * DEGREE, height: (NORTH - SOUTH) * DEGREE }
}

fn text(svg: &mut Svg, (x, y): (f64, f64), size: f64, style: &[(&str, &str)], text: &str) {
    let (x, y, size) = (num(x), num(y), num(size));
    let mut attributes: Vec<(&str, &str)> =
        vec![("x", &x), ("y", &y), ("font-size", &size), ("font-family", FONT)];
    attributes.extend_from_slice(style);
    svg.text_element("text", &attributes, text);
}

fn title(svg: &mut Svg, network: &Network, lines: &[Line<'_>]) {
    let Some(Line { trip, .. }) = lines.first() else { return };
    let city = |node: Option<&usize>| {
        node.map_or("", |&node| network.airports[node].city.as_str()).to_owned()
    };
    let (from, to) = (city(trip.nodes.first()), city(trip.nodes.last()));
    let heading = format!("{from} to {to}: {}", kilometres(trip.length));
    text(svg, (MARGIN, 52.0), 30.0, &[("fill", INK), ("font-weight", "600")], &heading);
    let stops = trip.nodes.len().saturating_sub(2);
    let how = match stops {
        0 => "non-stop".to_owned(),
        1 => "with one stop".to_owned(),
        stops => format!("with {stops} stops"),
    };
    let network = format!(
        "The shortest way by scheduled flights, {how}, among {} airports and {} routes",
        thousands(network.airports.len() as u64),
        thousands(network.graph.edges() as u64)
    );
    text(svg, (MARGIN, 82.0), 16.0, &[("fill", FADED)], &network);
}

fn panel(svg: &mut Svg) {
    let Area { x, y, width, height } = frame();
    let place = [("x", num(x)), ("y", num(y)), ("width", num(width)), ("height", num(height))];
    let rounded = [("rx", "6".to_owned())];
    let clip: Vec<(&str, String)> = place.iter().chain(&rounded).cloned().collect();
    svg.parent("clipPath", &[("id", "panel")], |svg| svg.element("rect", &clip));
    let sea: Vec<(&str, String)> = clip.into_iter().chain([("fill", SEA.to_owned())]).collect();
    svg.element("rect", &sea);
}

fn graticule(svg: &mut Svg) {
    let Area { x, y, width, height } = frame();
    let mut path = String::new();
    for meridian in (-150..=150).step_by(30) {
        let _ = write!(path, "M{} {}v{}", num(x_of(meridian.into())), num(y), num(height));
    }
    for parallel in [-30, 30, 60] {
        let _ = write!(path, "M{} {}h{}", num(x), num(y_of(parallel.into())), num(width));
    }
    svg.element("path", &[("d", path.as_str()), ("stroke", GRID), ("fill", "none")]);
    let equator = format!("M{} {}h{}", num(x), num(y_of(0.0)), num(width));
    svg.element("path", &[("d", equator.as_str()), ("stroke", EQUATOR), ("fill", "none")]);
}

/// Dots in three sizes, by how many routes an airport has. One path a size: a dot is a line of no
/// length with round ends, which takes a third of the bytes of a circle.
fn airports(svg: &mut Svg, network: &Network) {
    let degrees = network.graph.degrees();
    for (width, routes) in [("1.9", 0..20), ("2.8", 20..120), ("4.2", 120..usize::MAX)] {
        let mut path = String::new();
        for (airport, degree) in network.airports.iter().zip(&degrees) {
            if routes.contains(degree) {
                let (x, y) = on_page(airport.position);
                let _ = write!(path, "M{} {}h.01", num(x), num(y));
            }
        }
        let look = [("stroke", AIRPORT), ("stroke-width", width), ("stroke-linecap", "round")];
        let attributes = [&[("d", path.as_str()), ("stroke-opacity", "0.7")], &look[..]].concat();
        svg.element("path", &attributes);
    }
}

/// The great circles of a route on the page, in pieces that do not leave it.
fn pieces(network: &Network, line: &Line<'_>) -> Vec<Vec<(f64, f64)>> {
    let places = line.trip.nodes.windows(2).flat_map(|ends| {
        let [from, to] = [ends[0], ends[1]].map(|node| network.airports[node].position);
        split_at_date_line(&arc(from, to, ARC_STEP_DEGREES))
    });
    places.map(|piece| piece.into_iter().map(on_page).collect()).collect()
}

fn draw_line(svg: &mut Svg, network: &Network, line: &Line<'_>) {
    let mut path = String::new();
    for piece in pieces(network, line) {
        for (index, &(x, y)) in piece.iter().enumerate() {
            let command = if index == 0 { 'M' } else { 'L' };
            let _ = write!(path, "{command}{} {}", num(x), num(y));
        }
    }
    let shape = [("d", path.as_str()), ("fill", "none"), ("stroke-linejoin", "round")];
    let halo = [("stroke", PAPER), ("stroke-width", "5.5"), ("stroke-opacity", "0.8")];
    svg.element("path", &[&shape[..], &halo].concat());
    let ink = [("stroke", line.colour), ("stroke-width", "2.4"), ("stroke-linecap", "round")];
    svg.element("path", &[&shape[..], &ink].concat());
}

/// The stops of all lines and their labels: the ends with their cities, and always; stops between
/// with their codes, where there is room.
fn stops(svg: &mut Svg, network: &Network, lines: &[Line<'_>]) {
    let place = |node: usize| on_page(network.airports[node].position);
    let every_stop = lines.iter().flat_map(|line| line.trip.nodes.iter().copied());
    let stops = every_stop.map(|node| Area::around(place(node), STOP_RADIUS + 1.0));
    let on_lines = lines.iter().flat_map(|line| pieces(network, line)).flatten();
    let line_areas = on_lines.map(|point| Area::around(point, 2.0));
    let mut labels = Labels::new(frame(), stops.chain(line_areas).collect());
    let mut named: Vec<usize> = Vec::new();
    for ends in [true, false] {
        for line in lines {
            let last = line.trip.nodes.len() - 1;
            for (index, &node) in line.trip.nodes.iter().enumerate() {
                let is_end = index == 0 || index == last;
                if is_end == ends && !named.contains(&node) {
                    named.push(node);
                    stop(svg, place(node), line.colour, is_end);
                    let airport = &network.airports[node];
                    let name = if ends {
                        format!("{} {}", airport.code(), airport.city)
                    } else {
                        airport.code().to_owned()
                    };
                    label(svg, &mut labels, place(node), &name, ends);
                }
            }
        }
    }
}

fn stop(svg: &mut Svg, (x, y): (f64, f64), colour: &str, is_end: bool) {
    let fill = if is_end { colour } else { PAPER };
    let radius = if is_end { STOP_RADIUS + 0.8 } else { STOP_RADIUS - 0.6 };
    let (x, y, radius) = (num(x), num(y), num(radius));
    let place = [("cx", x.as_str()), ("cy", &y), ("r", &radius)];
    let look = [("fill", fill), ("stroke", if is_end { PAPER } else { colour })];
    svg.element("circle", &[&place[..], &look, &[("stroke-width", "2")]].concat());
}

fn label(svg: &mut Svg, labels: &mut Labels, point: (f64, f64), name: &str, is_end: bool) {
    let size = if is_end { LABEL_SIZE + 1.0 } else { LABEL_SIZE - 1.0 };
    let width = name.chars().count() as f64 * size * if is_end { 0.66 } else { 0.72 };
    let Some(area) = labels.place(point, (width, size * 1.15), STOP_RADIUS + 4.0, is_end) else {
        return;
    };
    let weight = if is_end { "600" } else { "500" };
    // Widths are estimates: anchored at the side of its point, a label does not drift from it.
    let (anchor, x) = if area.x > point.0 {
        ("start", area.x)
    } else if area.x + width < point.0 {
        ("end", area.x + width)
    } else {
        ("middle", area.x + width / 2.0)
    };
    let look = [
        ("fill", INK),
        ("font-weight", weight),
        ("stroke", PAPER),
        ("stroke-width", "3.5"),
        ("stroke-linejoin", "round"),
        ("paint-order", "stroke"),
        ("text-anchor", anchor),
    ];
    text(svg, (x, area.y + size * 0.92), size, &look, name);
}

/// The legend of a line: its title and length, then its codes, over as many lines as they need.
fn legend_texts(network: &Network, line: &Line<'_>) -> Vec<String> {
    let codes: Vec<&str> =
        line.trip.nodes.iter().map(|&node| network.airports[node].code()).collect();
    let mut texts: Vec<String> =
        codes.chunks(CODES_A_LINE).map(|codes| codes.join(" \u{2192} ")).collect();
    let continued = texts.len().saturating_sub(1);
    for text in &mut texts[..continued] {
        text.push_str(" \u{2192}");
    }
    if let Some(first) = texts.first_mut() {
        *first = format!("{}, {}:  {first}", line.title, kilometres(line.trip.length));
    }
    texts
}

fn draw_legend(svg: &mut Svg, legend: &[(&str, String)], top: f64) {
    for (index, (colour, line)) in legend.iter().enumerate() {
        let y = top + LEGEND_LINE * index as f64;
        if !colour.is_empty() {
            let path = format!("M{} {}h26", num(MARGIN), num(y - 5.0));
            let look = [("stroke", *colour), ("stroke-width", "4"), ("stroke-linecap", "round")];
            svg.element("path", &[&[("d", path.as_str())], &look[..]].concat());
        }
        text(svg, (MARGIN + 40.0, y), 15.0, &[("fill", INK)], line);
    }
}

fn foot(svg: &mut Svg, y: f64) {
    let credit = "Airports and routes: OpenFlights (openflights.org), Open Database License. \
        Routes are great circles on a sphere of radius 6,371 km, drawn on an equirectangular map.";
    text(svg, (MARGIN, y), 12.0, &[("fill", FADED)], credit);
}

#[cfg(test)]
mod tests;
