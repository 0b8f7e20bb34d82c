//! libfabric, by its own `fi_pingpong`, which has no stream of messages.

use super::{Peer, installed, limited};
use crate::compare::figures::{Figures, What, number};
use crate::compare::testbed::Testbed;
use crate::compare::tool;
use anyhow::{Context, Result, bail};

/// libfabric.
pub struct Fabric;

impl Fabric {
    fn provider(testbed: &Testbed) -> &'static str {
        match testbed {
            Testbed::Host => "shm",
            Testbed::Ethernet(_) => "tcp;ofi_rxm",
        }
    }
}

impl Peer for Fabric {
    fn name(&self) -> &'static str {
        "libfabric"
    }

    fn title(&self) -> &'static str {
        "libfabric"
    }

    fn settings(&self, testbed: &Testbed) -> String {
        format!("fi_pingpong -e rdm -p '{}'; a core each", Self::provider(testbed))
    }

    fn ready(&self, _testbed: &Testbed) -> Result<()> {
        installed("fi_pingpong", "libfabric-bin")
    }

    fn measure(&self, testbed: &Testbed, rounds: usize) -> Result<Figures> {
        let (address, provider) = (testbed.second().to_string(), Self::provider(testbed));
        let count = (rounds * 100).to_string();
        let port = tool::free_port()?.to_string();
        let words = |core, server: &[&str]| {
            let mut words = vec!["taskset", "-c", core, "fi_pingpong", "-e", "rdm", "-p", provider];
            words.extend(["-I", &count, "-S", "8"]);
            words.extend(server);
            limited(testbed, usize::from(core == "1"), &words)
        };
        let mut server = words("1", &["-B", &port]);
        let text = tool::client_of(&mut server, || words("0", &["-P", &port, &address]))?;
        let mut figures = Figures::default();
        figures.set(What::Latency, read(&text)?);
        Ok(figures)
    }
}

/// Nanoseconds one way in what `fi_pingpong` prints: bytes, sent, acknowledged, total, time, MB a
/// second, microseconds a transfer, millions of transfers a second.
fn read(text: &str) -> Result<f64> {
    let last = text.lines().rfind(|line| !line.trim().is_empty()).context("it printed nothing")?;
    let words: Vec<&str> = last.split_whitespace().collect();
    let [_, _, _, _, _, _, microseconds, _] = words.as_slice() else {
        bail!("its last line is {last:?}");
    };
    Ok(number(microseconds)? * 1e3)
}

#[cfg(test)]
mod tests;
