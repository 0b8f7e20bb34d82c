//! The figures as bars: a row of panels for each place, a panel for each thing that is compared.

use crate::compare::figures::What;
use crate::compare::turns::Outcome;
use weft_app_common::svg::{Svg, num};

const PANEL: (f64, f64) = (300.0, 24.0);
const LEFT: f64 = 100.0;
const GAP: f64 = 90.0;
const HEAD: f64 = 56.0;
/// The longest bar, as a multiple of the one in the middle.
const LONGEST: f64 = 4.0;
const WEFT: &str = "#0072b2";
const OTHERS: &str = "#999999";
const INK: &str = "#222222";

/// Draws the comparisons, each with its title.
pub fn svg(compared: &[(&str, Vec<Outcome>)]) -> String {
    let shown: Vec<(&str, Vec<&Outcome>)> = compared
        .iter()
        .map(|(title, all)| (*title, all.iter().filter(|one| one.turns.is_ok()).collect()))
        .collect();
    let height = |peers: usize| HEAD + peers as f64 * PANEL.1 + 20.0;
    let all: f64 = shown.iter().map(|(_, peers)| height(peers.len())).sum();
    let width = LEFT + What::ALL.len() as f64 * (PANEL.0 + GAP);
    Svg::document(width, all, |svg| {
        svg.text_element::<&str>("title", &[], "Weft beside others");
        svg.element("rect", &[("width", "100%"), ("height", "100%"), ("fill", "white")]);
        svg.parent("g", &[("font-family", "sans-serif"), ("font-size", "12")], |svg| {
            let mut top = 0.0;
            for (title, peers) in &shown {
                text(svg, (8.0, top + 20.0), "start", title);
                for (index, what) in What::ALL.into_iter().enumerate() {
                    let left = LEFT + index as f64 * (PANEL.0 + GAP);
                    panel(svg, (left, top + HEAD), what, peers, index == 0);
                }
                top += height(peers.len());
            }
        });
    })
}

fn panel(svg: &mut Svg, (left, top): (f64, f64), what: What, peers: &[&Outcome], named: bool) {
    let better = if what == What::Latency { "less is better" } else { "more is better" };
    text(svg, (left, top - 10.0), "start", &format!("{} ({better})", what.title()));
    let values = peers.iter().map(|peer| peer.median(what).map(|figure| figure.value));
    let most = longest(values.clone().flatten());
    for (index, (peer, value)) in peers.iter().zip(values).enumerate() {
        let y = top + index as f64 * PANEL.1;
        if named {
            text(svg, (left - 8.0, y + 15.0), "end", peer.title);
        }
        let Some(value) = value else { continue };
        let length = (value / most * PANEL.0).clamp(1.0, PANEL.0);
        let colour = if peer.name.starts_with("weft") { WEFT } else { OTHERS };
        let testbed = [("x", num(left)), ("y", num(y + 3.0))];
        let [x, y_top] = testbed;
        let size = [("width", num(length)), ("height", num(PANEL.1 - 6.0))];
        let [width, height] = size;
        svg.element("rect", &[x, y_top, width, height, ("fill", colour.to_owned())]);
        let cut = if value > most { "» " } else { "" };
        text(svg, (left + length + 6.0, y + 15.0), "start", &format!("{cut}{}", what.text(value)));
    }
}

/// The value of the longest bar. Bars of more are cut off, so that one peer does not make all
/// others look alike.
fn longest(values: impl Iterator<Item = f64>) -> f64 {
    let mut sorted: Vec<f64> = values.collect();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.get(sorted.len() / 2).copied().unwrap_or(1.0);
    sorted.last().copied().unwrap_or(1.0).min(LONGEST * middle).max(f64::MIN_POSITIVE)
}

fn text(svg: &mut Svg, (x, y): (f64, f64), anchor: &str, text: &str) {
    let attributes = [("x", num(x)), ("y", num(y)), ("text-anchor", anchor.to_owned())];
    let [x, y, anchor] = attributes;
    svg.text_element("text", &[x, y, anchor, ("fill", INK.to_owned())], text);
}

#[cfg(test)]
mod tests;
