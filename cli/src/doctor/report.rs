//! The findings, as text for people and as JSON for programs.

use std::fmt::Write as _;

use serde::Serialize;

use super::finding::{Cost, Finding, Memory, Status};

/// All that was found.
#[derive(Debug)]
pub struct Report {
    pub host: String,
    pub system: String,
    pub links: Vec<Finding>,
    pub needs: Vec<Finding>,
    pub managers: Vec<Finding>,
    pub hosts: Vec<Finding>,
    pub memory: Vec<Memory>,
    pub costs: Vec<Cost>,
    pub slow: Vec<Finding>,
}

/// A line of JSON: what kind of row it is, and its fields.
#[derive(Serialize)]
#[serde(tag = "doctor", rename_all = "kebab-case")]
enum Row<'a> {
    Machine { host: &'a str, system: &'a str },
    Link(&'a Finding),
    Need(&'a Finding),
    Manager(&'a Finding),
    Hosts(&'a Finding),
    Mpi(&'a Finding),
    Memory(&'a Memory),
    Cost(&'a Cost),
    Slow(&'a Finding),
}

/// The findings about MPI programs: one object a line for programs, aligned lines for people.
///
/// # Errors
/// None that this data can cause.
pub fn of_mpi(findings: &[Finding], json: bool) -> serde_json::Result<String> {
    if json {
        return as_json(findings.iter().map(Row::Mpi));
    }
    let mut text = String::new();
    put_findings(&mut text, "MPI programs on Weft", findings);
    Ok(text.trim_start().to_owned())
}

impl Report {
    /// One object a line.
    ///
    /// # Errors
    /// None that this data can cause.
    pub fn to_json(&self) -> serde_json::Result<String> {
        as_json(self.rows())
    }

    fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        let machine = Row::Machine { host: &self.host, system: &self.system };
        std::iter::once(machine)
            .chain(self.links.iter().map(Row::Link))
            .chain(self.needs.iter().map(Row::Need))
            .chain(self.managers.iter().map(Row::Manager))
            .chain(self.hosts.iter().map(Row::Hosts))
            .chain(self.memory.iter().map(Row::Memory))
            .chain(self.costs.iter().map(Row::Cost))
            .chain(self.slow.iter().map(Row::Slow))
    }

    /// Aligned lines under headings.
    pub fn to_text(&self) -> String {
        let mut text = format!("{}, {}\n", self.host, self.system);
        put_findings(&mut text, "links", &self.links);
        put_findings(&mut text, "what shm needs", &self.needs);
        put_findings(&mut text, "inside Slurm, and under mpirun", &self.managers);
        put_findings(&mut text, "for several hosts", &self.hosts);
        text.push_str("\nmemory of a job, at most (pages that are never touched cost nothing)\n");
        for Memory { ranks, window_packets, rings_bytes, bytes_per_rank, bytes } in &self.memory {
            let [each, all] = [*bytes_per_rank, *bytes].map(as_mebibytes);
            let (window, rings) = (window_packets, as_mebibytes(*rings_bytes));
            put(
                &mut text,
                format_args!(
                    "  {ranks:>4} ranks   window {window:>3}   {each:>8} each, {rings:>8} of it rings   \
                     {all:>10} in all\n"
                ),
            );
        }
        text.push_str("\ncosts, medians\n");
        for Cost { name, p50, unit, .. } in &self.costs {
            put(&mut text, format_args!("  {name:<28} {p50:>7} {unit}\n"));
        }
        text.push_str("\nwhat costs performance here now\n");
        for Finding { name, status, detail, advice } in &self.slow {
            let advice = advice.as_ref().map_or_else(String::new, |what| format!(" -> {what}"));
            put(&mut text, format_args!("  {:<8} {name:<21} {detail}{advice}\n", status.word()));
        }
        text
    }
}

impl Status {
    fn word(self) -> &'static str {
        match self {
            Status::Ok => "ok",
            Status::Problem => "PROBLEM",
            Status::Costs => "costs",
            Status::Absent => "-",
        }
    }
}

fn as_json<'a>(rows: impl Iterator<Item = Row<'a>>) -> serde_json::Result<String> {
    let mut text = String::new();
    for row in rows {
        text.push_str(&serde_json::to_string(&row)?);
        text.push('\n');
    }
    Ok(text)
}

fn put_findings(text: &mut String, heading: &str, findings: &[Finding]) {
    put(text, format_args!("\n{heading}\n"));
    for Finding { name, status, detail, advice } in findings {
        put(text, format_args!("  {:<8} {name:<21} {detail}\n", status.word()));
        if let Some(advice) = advice {
            put(text, format_args!("  {:<8} {:<21} -> {advice}\n", "", ""));
        }
    }
}

fn put(text: &mut String, line: std::fmt::Arguments<'_>) {
    // Writing to a string never fails.
    let _ = text.write_fmt(line);
}

fn as_mebibytes(bytes: u64) -> String {
    format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20))
}

#[cfg(test)]
mod tests;
