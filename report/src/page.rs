//! The page: one HTML file that holds its data, and needs nothing else.
//!
//! Numbers of events and packets are columns: arrays in little-endian bytes, as base64, each in an
//! element of its own. The findings are JSON.

mod columns;

use crate::analysis::{Analysis, Findings};
use columns::Columns;
use serde::Serialize;
use std::io::{self, Write};

const HTML: &str = include_str!("../page/page.html");
const STYLE: &str = include_str!("../page/page.css");
/// Scripts, in the order in which they use one another.
const SCRIPTS: [&str; 7] = [
    include_str!("../page/data.js"),
    include_str!("../page/lanes.js"),
    include_str!("../page/diagram.js"),
    include_str!("../page/hover.js"),
    include_str!("../page/search.js"),
    include_str!("../page/panels.js"),
    include_str!("../page/main.js"),
];
/// Ranks that each waited for that a page lists, by rank.
const WAITS_FOR: usize = 6;

/// Knowledge of a page besides its columns.
#[derive(Serialize)]
struct Known<'a> {
    findings: Findings,
    texts: &'a [String],
    systems: Vec<String>,
    tags: Vec<String>,
}

/// Writes the page.
///
/// # Errors
/// Errors of `to`.
pub fn write(analysis: &Analysis, to: &mut impl Write) -> io::Result<()> {
    let known = Known {
        findings: short(&analysis.findings),
        texts: analysis.names.texts(),
        systems: (0..16).map(crate::analysis::names::system).collect(),
        tags: columns::tags(),
    };
    let known = in_script(&serde_json::to_string(&known)?);
    let title = escape(&format!("{} · Weft", analysis.findings.program));
    for part in split(HTML) {
        match part {
            "{{title}}" => to.write_all(title.as_bytes())?,
            "{{style}}" => to.write_all(STYLE.as_bytes())?,
            "{{known}}" => to.write_all(known.as_bytes())?,
            "{{columns}}" => Columns::new(analysis).write(to)?,
            "{{script}}" => {
                for script in SCRIPTS {
                    to.write_all(script.as_bytes())?;
                }
            }
            text => to.write_all(text.as_bytes())?,
        }
    }
    Ok(())
}

/// Parts of a template: text, and places in double braces.
fn split(template: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = template;
    while let Some(begin) = rest.find("{{") {
        let length = rest[begin..].find("}}").map_or(rest.len() - begin, |end| end + 2);
        parts.extend([&rest[..begin], &rest[begin..begin + length]]);
        rest = &rest[begin + length..];
    }
    parts.push(rest);
    parts
}

/// Findings without what columns hold, and without what is longer than anybody reads.
fn short(findings: &Findings) -> Findings {
    let mut short = findings.clone();
    short.traffic.matrix.clear();
    short.critical_path.steps.clear();
    for rank in &mut short.time {
        rank.waits_for.truncate(WAITS_FOR);
    }
    short
}

/// JSON that may stand in a script element: nothing in it ends one.
fn in_script(json: &str) -> String {
    json.replace('<', "\\u003c")
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests;
