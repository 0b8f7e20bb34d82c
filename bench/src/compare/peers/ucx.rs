//! UCX, by its own `ucx_perftest`: tagged messages.

use super::{Peer, installed, limited};
use crate::compare::figures::{Figures, What, number};
use crate::compare::testbed::Testbed;
use crate::compare::tool;
use anyhow::{Context, Result, bail};

/// UCX.
pub struct Ucx;

/// Messages of a sample of each figure.
const MESSAGES: [(What, usize); 3] =
    [(What::Latency, 100), (What::Rate, 4096), (What::Bandwidth, 8)];

impl Ucx {
    fn transports(testbed: &Testbed) -> &'static str {
        match testbed {
            Testbed::Host => "UCX_TLS=posix,self",
            Testbed::Ethernet(_) => "UCX_TLS=tcp,self",
        }
    }
}

impl Peer for Ucx {
    fn name(&self) -> &'static str {
        "ucx"
    }

    fn title(&self) -> &'static str {
        "UCX"
    }

    fn settings(&self, testbed: &Testbed) -> String {
        format!("{} ucx_perftest -t tag_lat, tag_bw; a core each", Self::transports(testbed))
    }

    fn ready(&self, _testbed: &Testbed) -> Result<()> {
        installed("ucx_perftest", "ucx-utils")
    }

    fn measure(&self, testbed: &Testbed, rounds: usize) -> Result<Figures> {
        let address = testbed.second().to_string();
        let mut figures = Figures::default();
        for (what, messages) in MESSAGES {
            let test = if what == What::Latency { "tag_lat" } else { "tag_bw" };
            let (size, count) = (what.size().to_string(), (rounds * messages).to_string());
            let (port, warm) = (tool::free_port()?.to_string(), messages.to_string());
            let words = |core, server| {
                let mut words =
                    vec![Self::transports(testbed), "taskset", "-c", core, "ucx_perftest"];
                words.extend(server);
                words.extend([
                    "-t", test, "-s", &size, "-n", &count, "-w", &warm, "-p", &port, "-f",
                ]);
                limited(testbed, usize::from(core == "1"), &words)
            };
            let mut server = words("1", None);
            let text = tool::client_of(&mut server, || words("0", Some(address.as_str())))?;
            figures.set(what, read(what, &text)?);
        }
        Ok(figures)
    }
}

/// The figure in what `ucx_perftest -f` prints: iterations, median, average and overall of a time
/// in microseconds, average and overall of MiB a second, and of messages a second.
fn read(what: What, text: &str) -> Result<f64> {
    let last = text.lines().rfind(|line| !line.trim().is_empty()).context("it printed nothing")?;
    let words: Vec<&str> = last.split_whitespace().collect();
    let [_, median, _, _, _, _, _, per_second] = words.as_slice() else {
        bail!("its last line is {last:?}");
    };
    Ok(match what {
        What::Latency => number(median)? * 1e3,
        What::Rate => number(per_second)?,
        // Messages are counted more finely than MiB.
        What::Bandwidth => number(per_second)? * what.size() as f64,
    })
}

#[cfg(test)]
mod tests;
