//! Traces as Chrome and the Perfetto UI read them: ranks are threads of one process for each host,
//! computing, waits, sleeps and handlers are slices within spans, and packets are flows between
//! these.

use crate::analysis::states::{Life, State};
use crate::analysis::{Analysis, names};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{self, Write};

/// Writes the trace as JSON.
///
/// # Errors
/// Errors of `to`.
pub fn write(analysis: &Analysis, to: &mut impl Write) -> io::Result<()> {
    let mut out = Events { to, is_first: true, hosts: hosts(analysis) };
    out.to.write_all(b"{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n")?;
    out.names(analysis)?;
    for (rank, life) in (0..).zip(&analysis.lives) {
        out.life(analysis, rank, life)?;
    }
    out.arrows(analysis)?;
    out.to.write_all(b"\n]}\n")
}

/// Number of the host of each rank.
fn hosts(analysis: &Analysis) -> Vec<u32> {
    let mut numbers: BTreeMap<&str, u32> = BTreeMap::new();
    let number = |host| {
        let next = numbers.len() as u32;
        *numbers.entry(host).or_insert(next)
    };
    analysis.findings.time.iter().map(|of| of.host.as_str()).map(number).collect()
}

struct Events<'a, W: Write> {
    to: &'a mut W,
    is_first: bool,
    /// Host of each rank, which is a process there.
    hosts: Vec<u32>,
}

impl<W: Write> Events<'_, W> {
    fn put(&mut self, rank: u32, mut event: Value) -> io::Result<()> {
        event["pid"] = self.hosts[rank as usize].into();
        event["tid"] = rank.into();
        if !std::mem::take(&mut self.is_first) {
            self.to.write_all(b",\n")?;
        }
        serde_json::to_writer(&mut *self.to, &event).map_err(io::Error::from)
    }

    fn names(&mut self, analysis: &Analysis) -> io::Result<()> {
        for of in &analysis.findings.time {
            let host = json!({"ph": "M", "name": "process_name", "args": {"name": of.host}});
            self.put(of.rank, host)?;
            let name = format!("rank {}", of.rank);
            let thread = json!({"ph": "M", "name": "thread_name", "args": {"name": name}});
            self.put(of.rank, thread)?;
            let order =
                json!({"ph": "M", "name": "thread_sort_index", "args": {"sort_index": of.rank}});
            self.put(of.rank, order)?;
        }
        Ok(())
    }

    /// Slices of a rank: stretches within one span, and what is in them.
    fn life(&mut self, analysis: &Analysis, rank: u32, life: &Life) -> io::Result<()> {
        for (span, begin, end) in stretches(life) {
            if let Some(name) = analysis.names.text(span) {
                self.slice(rank, name, "span", (begin, end), json!({}))?;
            }
        }
        for (piece, time) in life.within(life.begin, life.end) {
            let port = analysis.names.text(piece.port);
            let name = match piece.state {
                State::Handler => {
                    port.map_or("handler".into(), |port| format!("handler of {port}"))
                }
                state => state.word().to_owned(),
            };
            let within = (piece.start, piece.start + time);
            let about = waiting_for(analysis, life, piece.state, within);
            self.slice(rank, &name, piece.state.word(), within, about)?;
        }
        Ok(())
    }

    fn slice(
        &mut self,
        rank: u32,
        name: &str,
        kind: &str,
        (begin, end): (u64, u64),
        about: Value,
    ) -> io::Result<()> {
        let slice = json!({
            "ph": "X", "name": name, "cat": kind, "ts": micros(begin), "dur": micros(end - begin), "args": about,
        });
        self.put(rank, slice)
    }

    /// Packets: flows between the slices in which they leave and come, each with an instant that
    /// says what it is.
    fn arrows(&mut self, analysis: &Analysis) -> io::Result<()> {
        for (id, arrow) in analysis.arrows.iter().enumerate() {
            let about = json!({
                "from": arrow.from,
                "to": arrow.to,
                "bytes": arrow.packet.size,
                "system": names::system(arrow.packet.protocol.index() as u8),
                "sequence": arrow.packet.sequence,
            });
            let data = if arrow.packet.tag.is_data() { "packet" } else { "control packet" };
            let (left, arrived) = (micros(arrow.left), micros(arrow.arrived));
            for (phase, rank, time) in [("s", arrow.from, left), ("f", arrow.to, arrived)] {
                // The flow ends in the slice around this time.
                let flow = json!({
                    "ph": phase, "name": data, "cat": "packet", "id": id, "ts": time, "bp": "e",
                });
                self.put(rank, flow)?;
                let name = format!("{data} {}", if phase == "s" { "leaves" } else { "is taken" });
                let instant = json!({
                    "ph": "i", "name": name, "cat": "packet", "ts": time, "s": "t", "args": about,
                });
                self.put(rank, instant)?;
            }
        }
        Ok(())
    }
}

/// Text of the wait that this stretch is of.
fn waiting_for(analysis: &Analysis, life: &Life, state: State, within: (u64, u64)) -> Value {
    if !state.is_idle() {
        return json!({});
    }
    let before = life.waits.partition_point(|wait| wait.begin <= within.0);
    let around = life.waits[..before].iter().rev().take(64).find(|wait| wait.end >= within.1);
    match around.and_then(|wait| analysis.names.text(wait.text)) {
        Some(text) => json!({"for": text}),
        None => json!({}),
    }
}

/// Stretches of time with the same innermost span.
fn stretches(life: &Life) -> Vec<(u32, u64, u64)> {
    let mut stretches: Vec<(u32, u64, u64)> = Vec::new();
    for (piece, time) in life.within(life.begin, life.end) {
        let end = piece.start + time;
        match stretches.last_mut() {
            Some((span, _, until)) if *span == piece.span => *until = end,
            _ => stretches.push((piece.span, piece.start, end)),
        }
    }
    stretches
}

fn micros(ns: u64) -> f64 {
    ns as f64 / 1e3
}

#[cfg(test)]
mod tests;
