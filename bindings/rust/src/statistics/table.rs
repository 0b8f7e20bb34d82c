//! Counters of all ranks as a table.

use super::Statistics;
use std::fmt::{self, Display};

/// Columns: what the upper and the lower line of the head say.
const COLUMNS: [(&str, &str); 11] = [
    ("messages", "sent"),
    ("messages", "received"),
    ("packets", "sent"),
    ("packets", "received"),
    ("sent", ""),
    ("received", ""),
    ("waits for", "credits"),
    ("waits for", "ports"),
    ("handlers", "that waited"),
    ("inter-", "rupts"),
    ("", "sleeps"),
];
/// Columns that are bytes.
const BYTES: [usize; 2] = [4, 5];

/// Counters of one rank, by column.
pub(crate) type Row = [u64; COLUMNS.len()];

/// Counters of all ranks, by rank.
pub(crate) struct Table(pub Vec<Row>);

impl Statistics {
    /// The columns of this rank.
    pub(crate) fn row(&self) -> Row {
        [
            self.messages_sent,
            self.messages_received,
            self.packets_sent,
            self.packets_received,
            self.bytes_sent,
            self.bytes_received,
            self.blocked_sends,
            self.stalls,
            self.continuations,
            self.interrupts,
            self.sleeps,
        ]
    }
}

impl Table {
    /// All lines as words, the head first and the sum of all ranks last.
    fn lines(&self) -> Vec<Vec<String>> {
        let head = |first: &str, of: fn(&(&str, &str)) -> String| {
            std::iter::once(first.to_owned()).chain(COLUMNS.iter().map(of)).collect()
        };
        let upper = head("", |(upper, _)| (*upper).to_owned());
        let lower = head("rank", |(_, lower)| (*lower).to_owned());
        let named = |name: String, row: &Row| std::iter::once(name).chain(cells(row)).collect();
        let ranks = self.0.iter().enumerate().map(|(rank, row)| named(rank.to_string(), row));
        let sum = self.0.iter().fold(Row::default(), |sum, row| {
            std::array::from_fn(|at| sum[at].saturating_add(row[at]))
        });
        let sum = (self.0.len() > 1).then(|| named("all".into(), &sum));
        [upper, lower].into_iter().chain(ranks).chain(sum).collect()
    }
}

impl Display for Table {
    /// A line for each rank, and one for all of them.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines = self.lines();
        let width = |at: usize| lines.iter().map(|line| line[at].len()).max().unwrap_or(0);
        let widths: Vec<_> = (0..=COLUMNS.len()).map(width).collect();
        for line in &lines {
            let cells = line.iter().zip(&widths).map(|(cell, width)| format!("{cell:>width$}"));
            writeln!(f, "{}", cells.collect::<Vec<_>>().join("  ").trim_end())?;
        }
        Ok(())
    }
}

fn cells(row: &Row) -> impl Iterator<Item = String> + use<> {
    let row = *row;
    (0..row.len()).map(move |at| match BYTES.contains(&at) {
        true => bytes(row[at]),
        false => row[at].to_string(),
    })
}

/// A number of bytes with its unit.
fn bytes(bytes: u64) -> String {
    let units = ["KiB", "MiB", "GiB", "TiB"];
    let (mut of, mut unit) = (bytes as f64, "B");
    for larger in units {
        if of < 1024.0 {
            break;
        }
        (of, unit) = (of / 1024.0, larger);
    }
    match unit {
        "B" => format!("{bytes} B"),
        _ => format!("{of:.2} {unit}"),
    }
}

#[cfg(test)]
mod tests;
