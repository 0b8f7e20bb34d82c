//! Traces in JSON as Chrome and many others read them: ranks are threads of one process for each
//! host, their lives slices there, and packets flows between these.

use crate::analysis::states::Life;
use crate::analysis::{Analysis, names};
use crate::slices::{Slice, hosts, slices};
use serde_json::{Value, json};
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
    out.beside(analysis)?;
    out.to.write_all(b"\n]}\n")
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

    /// Slices of a rank.
    fn life(&mut self, analysis: &Analysis, rank: u32, life: &Life) -> io::Result<()> {
        for Slice { name, kind, begin, end, awaited } in slices(analysis, life) {
            let about = awaited.map_or(json!({}), |text| json!({"for": text}));
            let slice = json!({
                "ph": "X", "name": name, "cat": kind, "ts": micros(begin), "dur": micros(end - begin), "args": about,
            });
            self.put(rank, slice)?;
        }
        Ok(())
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

    /// Instants of ordered broadcasts and of copies, and slices of handlers with threads of their
    /// own, which overlap.
    fn beside(&mut self, analysis: &Analysis) -> io::Result<()> {
        let instant = |name: String, time, about: Value| json!({"ph": "i", "name": name, "cat": "beside", "ts": micros(time), "s": "t", "args": about});
        for of in &analysis.beside.broadcasts {
            let order = analysis.names.text(of.order).unwrap_or_default();
            let name = |what: &str| format!("'{order}' {} {what}", of.number);
            if let Some((rank, time)) = of.submitted {
                self.put(rank, instant(name("submitted"), time, json!({})))?;
            }
            for (rank, time) in &of.delivered {
                self.put(*rank, instant(name("delivered"), *time, json!({})))?;
            }
        }
        for of in &analysis.beside.copies {
            let name = if of.is_put { "put without a packet" } else { "get without a packet" };
            let about = json!({"other": of.other, "bytes": of.bytes});
            self.put(of.rank, instant(name.into(), of.time, about))?;
        }
        for (id, of) in analysis.beside.popups.iter().enumerate() {
            let name = format!("handler of {}", analysis.names.text(of.port).unwrap_or_default());
            for (phase, time) in [("b", of.begin), ("e", of.end)] {
                let slice = json!({
                    "ph": phase, "name": name, "cat": "popup", "id": id, "ts": micros(time),
                });
                self.put(of.rank, slice)?;
            }
        }
        Ok(())
    }
}

fn micros(ns: u64) -> f64 {
    ns as f64 / 1e3
}

#[cfg(test)]
mod tests;
