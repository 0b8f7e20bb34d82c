//! Tables, for terminals and pages.

use super::judge::{Measured, Row};
use super::{Chapter, Report};
use crate::counter::Outcome;
use crate::results::short;
use crate::targets::{Paper, Role};
use comfy_table::{CellAlignment, ContentArrangement, Table, presets};

/// Word before what a counter-experiment turned.
pub const TURNED: &str = "Turned";

/// Everything, for a terminal.
pub fn report(report: &Report<'_>) -> String {
    let mut text = String::new();
    for chapter in &report.chapters {
        text += &format!("\n{}\n", chapter.title);
        for (heading, table) in tables(chapter, None) {
            let mut table = table;
            table.load_preset(presets::UTF8_FULL_CONDENSED);
            table.set_content_arrangement(ContentArrangement::Dynamic);
            text += &format!("{heading}:\n{table}\n");
        }
        for (id, why) in misses(chapter, None) {
            text += &format!("  {id}: {why}\n");
        }
        for (turned, mut table) in turned(chapter, None) {
            table.load_preset(presets::UTF8_FULL_CONDENSED);
            table.set_content_arrangement(ContentArrangement::Dynamic);
            text += &format!("{TURNED}: {turned}.\n{table}\n");
        }
    }
    text += "\n";
    for paper in Paper::ALL {
        text += &format!("{paper}: {}\n", super::page::counted(report, paper));
    }
    text += &super::page::counted_in_all(report);
    text
}

/// The tables of a chapter, each with its heading: what predicts nothing first and apart. Of one
/// paper, or of all.
pub fn tables(chapter: &Chapter<'_>, paper: Option<Paper>) -> Vec<(&'static str, Table)> {
    let of = |role, statement| {
        move |row: &&Row<'_>| {
            paper.is_none_or(|paper| row.target.paper == paper)
                && row.target.role == role
                && matches!(row.seen, Measured::Evidence(_)) == statement
        }
    };
    let parts = [
        ("Calibration (not predictions)", Role::Calibrate, false),
        ("Orders that follow from the calibration", Role::Calibrate, true),
        ("Inputs (not predictions)", Role::Input, false),
        ("Tuned: an input was chosen after a look (not predictions)", Role::Tuned, false),
        ("Predictions", Role::Predict, false),
        ("Orders and findings", Role::Predict, true),
    ];
    let mut tables = Vec::new();
    for (heading, role, statement) in parts {
        let rows: Vec<_> = chapter.rows.iter().filter(of(role, statement)).collect();
        if !rows.is_empty() {
            let table = if statement { statements(&rows) } else { figures(&rows) };
            tables.push((heading, table));
        }
    }
    tables
}

/// Claims that missed, and the reasons.
pub fn misses(
    chapter: &Chapter<'_>,
    paper: Option<Paper>,
) -> impl Iterator<Item = (&'static str, &'static str)> {
    chapter
        .rows
        .iter()
        .filter(move |row| paper.is_none_or(|paper| row.target.paper == paper))
        // What is measured on this machine may miss on some days only.
        .filter(|row| !row.verdict.is_good())
        .filter_map(|row| Some((row.claim.id, row.claim.miss?)))
}

/// Counter-experiments: what each turned, and what came of the rows of one paper, or of all.
pub fn turned(chapter: &Chapter<'_>, paper: Option<Paper>) -> Vec<(&'static str, Table)> {
    let tables = chapter.turned.iter().map(|turned| {
        let mut table = Table::new();
        table.set_header(["id", "paper", "Weft", "turned", "what comes of it"]);
        for row in turned.rows.iter().filter(|row| paper.is_none_or(|it| row.target.paper == it)) {
            let stated = chapter.rows.iter().find(|stated| stated.claim.id == row.claim.id);
            let Some(stated) = stated else { continue };
            table.add_row([
                row.target.id.clone(),
                row.target.says().to_owned(),
                seen(&stated.seen),
                seen(&row.seen),
                Outcome::new(stated, row).to_string(),
            ]);
        }
        (turned.counter.turned, table)
    });
    tables.filter(|(_, table)| table.row_count() > 0).collect()
}

fn seen(seen: &Measured) -> String {
    match seen {
        Measured::Figure { weft, .. } => short(*weft),
        Measured::Evidence(evidence) => evidence.clone(),
    }
}

fn figures(rows: &[&Row<'_>]) -> Table {
    let mut table = Table::new();
    table.set_header(["id", "what", "unit", "paper", "Weft", "ratio", "band", "verdict"]);
    for row in rows {
        let Measured::Figure { weft, paper } = row.seen else { continue };
        let ratio = if paper == 0.0 { "".into() } else { format!("{:.2}", weft / paper) };
        table.add_row([
            row.target.id.clone(),
            row.target.what.clone(),
            row.target.unit.clone(),
            row.target.value.clone(),
            short(weft),
            ratio,
            row.claim.expected.to_string(),
            row.verdict.to_string(),
        ]);
    }
    for column in 3..=5 {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

fn statements(rows: &[&Row<'_>]) -> Table {
    let mut table = Table::new();
    table.set_header(["id", "what", "paper", "Weft", "verdict"]);
    for row in rows {
        let Measured::Evidence(evidence) = &row.seen else { continue };
        table.add_row([
            row.target.id.clone(),
            row.target.what.clone(),
            row.target.says().to_owned(),
            evidence.clone(),
            row.verdict.to_string(),
        ]);
    }
    table
}
