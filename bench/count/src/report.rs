//! Tables of figures, and of where the instructions of one are.

use crate::budget::{Budget, CountedWith, Figures, Verdict};
use crate::{Counted, FIGURES};
use anyhow::Result;
use comfy_table::{CellAlignment, Table as Rows, presets::ASCII_MARKDOWN};
use serde::Serialize;

/// Functions, and lines, of a profile.
const MOST: usize = 25;

/// A tagged message as the provider has it: what UCX's is compared with.
const TAGGED: [&str; 3] = ["fi_tinject", "fi_trecv", "fi_cq_read"];

/// Figures, beside those of the file.
pub struct Table<'a> {
    /// The file.
    pub budget: &'a Budget,
    /// What has compiled this program.
    pub here: &'a CountedWith,
    /// Counted now.
    pub figures: &'a Figures,
    /// Those of UCX, if it is installed.
    pub ucx: &'a Figures,
}

/// A line for programs.
#[derive(Serialize)]
struct Line<'a> {
    name: &'a str,
    instructions: f64,
    in_file: Option<f64>,
    per_cent: Option<f64>,
}

impl Table<'_> {
    fn lines(&self) -> impl Iterator<Item = Line<'_>> {
        let counted = FIGURES.iter().filter_map(|name| Some((*name, *self.figures.get(*name)?)));
        let others = self.ucx.iter().map(|(name, figure)| (&**name, *figure));
        counted.chain(others).map(|(name, instructions)| {
            let in_file = self.budget.figures.get(name).copied();
            let per_cent = in_file.map(|before| (instructions - before) / before * 100.0);
            Line { name, instructions, in_file, per_cent }
        })
    }

    /// Prints an object a line.
    ///
    /// # Errors
    /// A figure is no number.
    pub fn print_json(&self) -> Result<()> {
        for line in self.lines() {
            println!("{}", serde_json::to_string(&line)?);
        }
        Ok(())
    }

    /// Prints it for a reader.
    pub fn print(&self) {
        let mut rows = rows(&["instructions", "now", "in file", "%", ""]);
        for line in self.lines() {
            let verdict = match self.budget.judge(line.name, line.instructions) {
                Verdict::Grown => "grown",
                Verdict::Shrunk => "fewer",
                Verdict::Kept | Verdict::New => "",
            };
            rows.add_row([
                line.name.to_owned(),
                format!("{:.1}", line.instructions),
                line.in_file.map_or("-".into(), |figure| format!("{figure:.1}")),
                line.per_cent.map_or("-".into(), |more| format!("{more:+.1}")),
                verdict.to_owned(),
            ]);
        }
        println!("{rows}");
        self.print_beside_ucx();
        if *self.here != self.budget.counted_with {
            println!("\nThe file's figures hold for {},", self.budget.counted_with);
            println!("these for {}: nothing is compared.", self.here);
        }
    }

    fn print_beside_ucx(&self) {
        let Some(theirs) = self.ucx.get("ucx_tagged") else { return };
        let ours: f64 = TAGGED.iter().filter_map(|name| self.figures.get(*name)).sum();
        let packet = self.figures.get("packet").copied().unwrap_or_default();
        println!(
            "\nBeside a tagged message of UCX: a packet {:.2} of it, a tagged message {:.2}.",
            packet / theirs,
            ours / theirs
        );
    }
}

/// What somebody is told who has made figures grow.
pub fn advice(grown: &[&str]) -> String {
    format!(
        "These take more instructions than the file says, by over 2 %: {}.\n\
         `target/measured/weft-count --profile {}` shows where they are. If they are worth it, `make count-keep` writes \
         the figures to the file; say why with the change.",
        grown.join(", "),
        grown[0]
    )
}

/// Says where the instructions of a figure are.
pub fn profile(name: &str, counted: &Counted) -> String {
    let Counted { rounds, dump } = counted;
    let each = |cost: u64| format!("{:.1}", cost as f64 / *rounds as f64);
    let total = each(dump.total);
    let mut functions: Vec<_> = dump.functions.iter().filter(|(_, cost)| cost.own > 0).collect();
    functions.sort_by_key(|(_, cost)| std::cmp::Reverse((cost.own, cost.inclusive)));
    let mut by_function = rows(&["own", "with callees", "function"]);
    for (function, cost) in functions.iter().take(MOST) {
        by_function.add_row([each(cost.own), each(cost.inclusive), (*function).clone()]);
    }
    let mut lines: Vec<_> = dump.lines.iter().collect();
    lines.sort_by_key(|(_, cost)| std::cmp::Reverse(**cost));
    let mut by_line = rows(&["own", "line"]);
    for ((file, line), cost) in lines.iter().take(MOST) {
        by_line.add_row([each(**cost), format!("{}:{line}", shortened(file))]);
    }
    format!(
        "{name}: {total} instructions a step, those of the counting among them\n\n{by_function}\n\n\
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

fn rows(head: &[&str]) -> Rows {
    let mut rows = Rows::new();
    rows.load_preset(ASCII_MARKDOWN).set_header(head);
    for column in 0..head.len() - 1 {
        if let Some(column) = rows.column_mut(column).filter(|_| column > 0 || head[0] == "own") {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    rows
}
