//! Report of a comparison.

use crate::compare::figures::{Figure, What};
use crate::compare::testbed::Testbed;
use crate::compare::turns::Outcome;
use anyhow::Result;
use comfy_table::{CellAlignment, ContentArrangement, Table, presets::UTF8_FULL_CONDENSED};
use serde::Serialize;
use weft_endpoint::machine;

/// One figure of a peer at a place, or why it has none. The names of the fields are stable.
#[derive(Serialize, Debug)]
struct Line<'a> {
    place: &'a str,
    peer: &'a str,
    settings: &'a str,
    #[serde(flatten)]
    figure: Option<Measured>,
    #[serde(skip_serializing_if = "Option::is_none")]
    missing: Option<&'a str>,
}

#[derive(Serialize, Debug)]
struct Measured {
    figure: &'static str,
    size: usize,
    unit: &'static str,
    p50: f64,
    turns: Vec<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    processor_ns_per_message: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    processor_ns_per_megabyte: Option<f64>,
    /// Weft's figure divided by this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    weft_ratio: Option<f64>,
}

/// Weft's figure: that of the first peer, which is Weft.
fn weft(outcomes: &[Outcome], what: What) -> Option<f64> {
    outcomes.first()?.median(what).map(|figure| figure.value)
}

/// Costs of the machine, as they are now: figures of a few lines follow the line's.
#[derive(Serialize, Debug)]
struct Machine<'a> {
    place: &'a str,
    line_ns: Option<f64>,
    pause_ns: f64,
}

/// Prints the costs of the machine: before a comparison and after it, because the host may have
/// moved a core meanwhile.
///
/// # Errors
/// They cannot be written.
pub fn print_machine(place: &str, json: bool) -> Result<()> {
    let rounded = |time: f64| (10.0 * time).round() / 10.0;
    let line_ns = machine::two_cores().and_then(machine::line_ns).map(rounded);
    let machine = Machine { place, line_ns, pause_ns: rounded(machine::pause_ns()) };
    let text = if json { serde_json::to_string(&machine)? } else { machine.text() };
    Ok(weft_app_common::write_out(format_args!("{text}\n"))?)
}

impl Machine<'_> {
    fn text(&self) -> String {
        let line = match self.line_ns {
            Some(line) => format!("a line crosses in {line:.0} ns"),
            None => "the way of a line could not be measured".into(),
        };
        format!("this machine: {line}, a pause takes {:.0} ns", self.pause_ns)
    }
}

/// Prints one JSON object for each figure, and one for each peer without any.
///
/// # Errors
/// They cannot be written.
pub fn print_json(testbed: &str, outcomes: &[Outcome]) -> Result<()> {
    for line in json(testbed, outcomes)? {
        weft_app_common::write_out(format_args!("{line}\n"))?;
    }
    Ok(())
}

fn json(testbed: &str, outcomes: &[Outcome]) -> Result<Vec<String>> {
    let mut lines = Vec::new();
    for outcome in outcomes {
        let (peer, settings) = (outcome.name, outcome.settings.as_str());
        let line = |figure, missing| {
            serde_json::to_string(&Line { place: testbed, peer, settings, figure, missing })
        };
        let turns = match &outcome.turns {
            Ok(turns) => turns,
            Err(why) => {
                lines.push(line(None, Some(why.as_str()))?);
                continue;
            }
        };
        for what in What::ALL {
            let Some(median) = outcome.median(what) else { continue };
            let figure = Measured {
                figure: what.name(),
                size: what.size(),
                unit: what.unit(),
                p50: median.value,
                turns: turns
                    .iter()
                    .filter_map(|turn| turn.get(what))
                    .map(|one| one.value)
                    .collect(),
                processor_ns_per_message: median.processor_ns,
                processor_ns_per_megabyte: median.processor_ns.map(|ns| for_megabyte(what, ns)),
                weft_ratio: weft(outcomes, what).map(|weft| weft / median.value),
            };
            lines.push(line(Some(figure), None)?);
        }
    }
    Ok(lines)
}

/// Prints a table for a person, and what is missing.
///
/// # Errors
/// It cannot be written.
pub fn print_table(testbed: &Testbed, outcomes: &[Outcome]) -> Result<()> {
    Ok(weft_app_common::write_out(text(testbed.title(), outcomes))?)
}

fn text(title: &str, outcomes: &[Outcome]) -> String {
    let mut table = Table::new();
    table.load_preset(UTF8_FULL_CONDENSED).set_content_arrangement(ContentArrangement::Disabled);
    let mut header = vec![String::new()];
    header.extend(What::ALL.map(|what| what.title().to_owned()));
    header.push("processors, 8 B / 64 B / MB".into());
    table.set_header(header);
    let (mut missing, mut settings) = (String::new(), String::new());
    for outcome in outcomes {
        if let Err(why) = &outcome.turns {
            missing.push_str(&format!("{}: not measured: {why}\n", outcome.title));
            continue;
        }
        let mut row = vec![outcome.title.to_owned()];
        row.extend(What::ALL.map(|what| cell(what, outcome.median(what), weft(outcomes, what))));
        row.push(processors(outcome));
        table.add_row(row);
        settings.push_str(&format!("{}: {}\n", outcome.title, outcome.settings));
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    format!(
        "{title}; in brackets, Weft's figure as a multiple of this one:\n{table}\n{missing}{settings}\n"
    )
}

fn cell(what: What, figure: Option<Figure>, weft: Option<f64>) -> String {
    let Some(Figure { value, .. }) = figure else { return "-".into() };
    let ratio = weft.map(|weft| format!(" ({:.2} x)", weft / value));
    what.text(value) + &ratio.unwrap_or_default()
}

/// Microseconds of both processes' processors for a small message, and for a million bytes.
fn processors(outcome: &Outcome) -> String {
    let used = |what: What| {
        let used = outcome.median(what)?.processor_ns? / 1e3;
        Some(if what == What::Bandwidth { for_megabyte(what, used) } else { used })
    };
    let text = |what| used(what).map_or("-".to_owned(), |us| format!("{us:.2}"));
    if used(What::Latency).is_none() {
        return "-".into();
    }
    format!("{} us", What::ALL.map(text).join(" / "))
}

/// Time for a million bytes, if a message takes so long.
fn for_megabyte(what: What, a_message: f64) -> f64 {
    a_message * 1e6 / what.size() as f64
}

#[cfg(test)]
mod tests;
