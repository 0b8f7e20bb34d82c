//! Tables of figures, and of where the instructions of one are.

use crate::FIGURES;
use crate::budget::{Budget, CountedWith, Figures, Verdict};
use crate::dumps::Counted;
use anyhow::Result;
use comfy_table::{CellAlignment, Table as Rows, presets::ASCII_MARKDOWN};
use serde::Serialize;
use std::ops::Range;

/// Functions, and lines, of a profile.
const MOST: usize = 25;

/// Calls of a client of the provider that make a tagged message.
const TAGGED: [&str; 3] = ["fi_tinject", "fi_trecv", "fi_cq_read"];
/// Figures that are compared with a tagged message of UCX: each does as much as that, or less.
const BESIDE_UCX: [&str; 5] =
    ["packet", "packet_framed", "message_handler", "message_mailbox", "fi_tagged"];

/// Figures, beside those of the file.
pub struct Table<'a> {
    /// The file.
    pub budget: &'a Budget,
    /// Compiler and target of this program.
    pub here: &'a CountedWith,
    /// Counted now.
    pub figures: &'a Figures,
    /// Those of UCX, if it is installed.
    pub ucx: &'a Figures,
}

/// A figure, as programs read it.
#[derive(Serialize)]
struct Line<'a> {
    name: &'a str,
    instructions: f64,
    in_file: Option<f64>,
    more: Option<f64>,
    per_cent: Option<f64>,
    /// The ratio to a tagged message of UCX.
    of_ucx: Option<f64>,
}

impl Table<'_> {
    fn lines(&self) -> Vec<Line<'_>> {
        let own = FIGURES.iter().copied().chain(["fi_tagged"]);
        let own = own.filter_map(|name| Some((name, figure(self.figures, name)?)));
        let others = self.ucx.iter().map(|(name, figure)| (&**name, *figure));
        own.chain(others).map(|(name, instructions)| self.line(name, instructions)).collect()
    }

    fn line<'a>(&self, name: &'a str, instructions: f64) -> Line<'a> {
        let in_file = figure(&self.budget.figures, name);
        let more = in_file.map(|before| instructions - before);
        let per_cent = in_file.zip(more).map(|(before, more)| more / before * 100.0);
        let ucx = self.ucx.get("ucx_tagged").filter(|_| BESIDE_UCX.contains(&name));
        let of_ucx = ucx.map(|theirs| instructions / theirs);
        Line { name, instructions, in_file, more, per_cent, of_ucx }
    }

    /// Prints an object a line.
    ///
    /// # Errors
    /// A figure is no number.
    pub fn print_json(&self) -> Result<()> {
        for line in self.lines() {
            weft_app_common::say!("{}", serde_json::to_string(&line)?);
        }
        Ok(())
    }

    /// Prints it for a reader.
    pub fn print(&self) {
        let head = ["step", "instructions", "in file", "more", "%", "of UCX's", ""];
        let mut rows = rows(&head, 1..6);
        for line in self.lines() {
            let verdict = match self.budget.judge(line.name, line.instructions) {
                Verdict::Grown => "grown",
                Verdict::Shrunk => "fewer",
                Verdict::Kept | Verdict::New => "",
            };
            let (name, instructions) = (line.name.to_owned(), format!("{:.1}", line.instructions));
            rows.add_row([
                name,
                instructions,
                line.in_file.map_or(String::new(), |figure| format!("{figure:.1}")),
                line.more.map_or(String::new(), signed),
                line.per_cent.map_or(String::new(), signed),
                line.of_ucx.map_or(String::new(), |ratio| format!("{ratio:.2}")),
                verdict.to_owned(),
            ]);
        }
        weft_app_common::say!("{rows}");
        if *self.here != self.budget.counted_with {
            weft_app_common::say!("\nThe file's figures hold for {},", self.budget.counted_with);
            weft_app_common::say!("these for {}: nothing is compared.", self.here);
        }
    }
}

/// A figure by its name; a tagged message is a sum.
fn figure(figures: &Figures, name: &str) -> Option<f64> {
    match name {
        "fi_tagged" => TAGGED.iter().map(|part| figures.get(*part)).sum(),
        name => figures.get(name).copied(),
    }
}

/// A difference with its sign; none has none.
fn signed(difference: f64) -> String {
    if difference.abs() < 0.05 { "0".into() } else { format!("{difference:+.1}") }
}

/// Advice to an author who has made figures grow.
pub fn advice(grown: &[&str]) -> String {
    format!(
        "These take more instructions than the file says, by over 2 %: {}.\n\
         `target/measured/weft-count --profile {}` shows where they are. If they are worth it, `make count-keep` writes \
         the figures to the file; say why with the change.",
        grown.join(", "),
        grown[0]
    )
}

/// Functions and lines of a figure's instructions, as text.
pub fn profile(name: &str, counted: &Counted) -> String {
    let Counted { rounds, dump, .. } = counted;
    let each = |cost: u64| format!("{:.1}", cost as f64 / *rounds as f64);
    let total = each(dump.total);
    let mut functions: Vec<_> = dump.functions.iter().filter(|(_, cost)| cost.own > 0).collect();
    functions.sort_by_key(|(_, cost)| std::cmp::Reverse((cost.own, cost.inclusive)));
    let mut by_function = rows(&["own", "with callees", "function"], 0..2);
    for (function, cost) in functions.iter().take(MOST) {
        by_function.add_row([each(cost.own), each(cost.inclusive), (*function).clone()]);
    }
    let mut lines: Vec<_> = dump.lines.iter().collect();
    lines.sort_by_key(|(_, cost)| std::cmp::Reverse(**cost));
    let mut by_line = rows(&["own", "line"], 0..1);
    for ((file, line), cost) in lines.iter().take(MOST) {
        by_line.add_row([each(**cost), format!("{}:{line}", shortened(file))]);
    }
    let mut by_object = rows(&["own", "program or library"], 0..1);
    for (object, cost) in &dump.objects {
        by_object.add_row([each(*cost), object.clone()]);
    }
    format!(
        "{name}: {total} instructions a step, those of the counting among them\n\n{by_object}\n\n{by_function}\n\n\
         Of code that was inlined, the lines are those where it is written:\n\n{by_line}\n"
    )
}

/// A file as its reader looks for it: below the folder of this tree, or of the standard library.
fn shortened(file: &str) -> &str {
    let here = env!("CARGO_MANIFEST_DIR").trim_end_matches("bench/count");
    match file.strip_prefix(here) {
        Some(file) => file,
        None => file.find("/library/").map_or(file, |at| &file[at + 1..]),
    }
}

/// A table with these columns of numbers.
fn rows(head: &[&str], numbers: Range<usize>) -> Rows {
    let mut rows = Rows::new();
    rows.load_preset(ASCII_MARKDOWN).set_header(head);
    for column in numbers {
        if let Some(column) = rows.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    rows
}

#[cfg(test)]
mod tests;
