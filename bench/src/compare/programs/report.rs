//! Report of a comparison of whole programs.

use super::{Outcome, Setting, ways::Way};
use anyhow::Result;
use comfy_table::{CellAlignment, ContentArrangement, Table, presets::UTF8_FULL_CONDENSED};
use serde::Serialize;

/// Times of a program by one way, or why there are none. The names of the fields are stable.
#[derive(Serialize, Debug)]
struct Line<'a> {
    place: &'static str,
    program: &'a str,
    ranks: u32,
    peer: &'static str,
    settings: String,
    #[serde(flatten)]
    times: Option<Times<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    missing: Option<&'a str>,
}

#[derive(Serialize, Debug)]
struct Times<'a> {
    unit: &'static str,
    p50: f64,
    mean: f64,
    turns: &'a [f64],
    /// This median and mean divided by those over TCP.
    #[serde(skip_serializing_if = "Option::is_none")]
    tcp_ratio: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tcp_mean_ratio: Option<f64>,
}

/// The outcome of the same program in the same setting by a way.
fn like<'a>(outcomes: &'a [Outcome], one: &Outcome, way: Way) -> Option<&'a Outcome> {
    outcomes.iter().find(|other| {
        other.way == way && other.setting == one.setting && other.program == one.program
    })
}

/// A figure of an outcome as a multiple of that over TCP.
fn ratio(outcomes: &[Outcome], one: &Outcome, figure: fn(&Outcome) -> Option<f64>) -> Option<f64> {
    Some(figure(one)? / figure(like(outcomes, one, Way::Tcp)?)?)
}

/// Prints one JSON object for each program, setting and way.
///
/// # Errors
/// They cannot be written.
pub fn print_json(outcomes: &[Outcome]) -> Result<()> {
    for line in json(outcomes)? {
        weft_app_common::write_out(format_args!("{line}\n"))?;
    }
    Ok(())
}

fn json(outcomes: &[Outcome]) -> Result<Vec<String>> {
    let line = |one: &Outcome| {
        let times = |turns| {
            Some(Times {
                unit: "s",
                p50: one.median()?,
                mean: one.mean()?,
                turns,
                tcp_ratio: ratio(outcomes, one, Outcome::median),
                tcp_mean_ratio: ratio(outcomes, one, Outcome::mean),
            })
        };
        let (times, missing) = match &one.turns {
            Ok(turns) => (times(turns.as_slice()), None),
            Err(why) => (None, Some(why.as_str())),
        };
        let (program, ranks) = (one.program.as_str(), one.setting.ranks());
        let (peer, settings) = (one.way.name(), one.way.settings(one.setting));
        let line = Line { place: "programs", program, ranks, peer, settings, times, missing };
        Ok(serde_json::to_string(&line)?)
    };
    outcomes.iter().map(line).collect()
}

/// Prints a table for each setting, and who is missing.
///
/// # Errors
/// They cannot be written.
pub fn print_tables(outcomes: &[Outcome]) -> Result<()> {
    for setting in Setting::ALL {
        weft_app_common::write_out(text(setting, outcomes))?;
    }
    Ok(())
}

fn text(setting: Setting, outcomes: &[Outcome]) -> String {
    let here: Vec<&Outcome> = outcomes.iter().filter(|one| one.setting == setting).collect();
    let mut ways: Vec<Way> = Vec::new();
    for one in &here {
        if !ways.contains(&one.way) {
            ways.push(one.way);
        }
    }
    let mut table = Table::new();
    table.load_preset(UTF8_FULL_CONDENSED).set_content_arrangement(ContentArrangement::Disabled);
    let titles = ways.iter().map(|way| way.title().to_owned());
    table.set_header(std::iter::once(String::new()).chain(titles));
    for first in here.iter().filter(|one| Some(&one.way) == ways.first()) {
        let cells = ways.iter().map(|&way| cell(outcomes, like(outcomes, first, way)));
        table.add_row(std::iter::once(first.program.clone()).chain(cells));
    }
    let medians = ways.iter().map(|&way| median_ratio(outcomes, &here, way));
    table.add_row(std::iter::once("median of the ratios".to_owned()).chain(medians));
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    let mut notes = String::new();
    for one in &here {
        if let Err(why) = &one.turns {
            let (way, program) = (one.way.title(), &one.program);
            notes.push_str(&format!("{program} {way}: not measured: {why}\n"));
        }
    }
    for way in &ways {
        notes.push_str(&format!("{}: {}\n", way.title(), way.settings(setting)));
    }
    let title = setting.title();
    format!(
        "{title}; medians / means in seconds, in brackets as multiples of those over TCP:\n{table}\n{notes}\n"
    )
}

fn cell(outcomes: &[Outcome], one: Option<&Outcome>) -> String {
    let times = one.and_then(|one| Some((one, one.median()?, one.mean()?)));
    let Some((one, median, mean)) = times else { return "-".into() };
    let times = format!("{median:.3} / {mean:.3}");
    let medians = ratio(outcomes, one, Outcome::median);
    match (one.way, medians.zip(ratio(outcomes, one, Outcome::mean))) {
        (Way::Udp | Way::Xdp, Some((p50, mean))) => format!("{times} ({p50:.2} / {mean:.2} x)"),
        (Way::Tcp, _) | (_, None) => times,
    }
}

/// The median of the programs' ratios by a way.
fn median_ratio(outcomes: &[Outcome], here: &[&Outcome], way: Way) -> String {
    let ratios = here.iter().filter(|one| one.way == way && way != Way::Tcp);
    let ratios = ratios.filter_map(|one| ratio(outcomes, one, Outcome::median));
    crate::compare::turns::median(ratios).map_or(String::new(), |ratio| format!("{ratio:.2} x"))
}

#[cfg(test)]
mod tests;
