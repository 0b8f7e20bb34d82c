//! Clean write misses of regions, CRL's in the thesis (7.3.3, table 7.2).

use super::layers::{LARGE_BYTES, packets_round_trip};
use crate::claim::Claim;
use crate::cluster::Setup;
use crate::conditions::Conditions;
use crate::counter::Counter;
use crate::experiment::{Experiment, Setting};
use crate::regions::write_miss_us;
use crate::results::{Quantity, Results, listed};
use anyhow::Result;

/// Bytes of a small region.
const SMALL_BYTES: u64 = 16;
/// Bytes of the message that asks.
const REQUEST_BYTES: usize = 16;
/// Part of the packets' rate from which on the regions' is close to it.
const CLOSE: f64 = 0.85;

/// Reason why a miss takes longer than CRL's.
const MORE_CODE: &str = "Weft's instructions for a miss, which are counted, are 17.9 us of it, where all that CRL adds are \
    5; what they are was not looked at";

/// Counter-experiments: what is suspected of the misses, turned.
const COUNTERS: &[Counter] = &[Counter {
    ids: &["T7.2-crl-lu-crl", "S7.3.3-add", "S7.3.3-pct"],
    turned: "a miss costs its hosts nothing besides its packets",
    conditions: Conditions { region: 0, ..Conditions::STATED },
}];

/// The experiment.
pub struct Misses;

impl Experiment for Misses {
    fn name(&self) -> &'static str {
        "misses"
    }

    fn title(&self) -> &'static str {
        "Clean write misses of regions (7.3.3, CRL in table 7.2)"
    }

    fn notes(&self) -> &'static str {
        "[A page of its own](regions.md) has misses with readers, and programs."
    }

    fn claims(&self) -> &'static [Claim] {
        const {
            &[
                Claim::figure("T7.2-crl-lu-crl").misses(MORE_CODE),
                Claim::other("T7.2-crl-tu-crl"),
                Claim::figure("S7.3.3-add").misses(MORE_CODE),
                Claim::other("S7.3.3-pct").misses(MORE_CODE),
                Claim::statement("S7.3.3-thr"),
            ]
        }
    }

    fn settings(&self) -> &'static [Setting] {
        &[Setting("S7.3.2-clean", "once")]
    }

    fn counters(&self) -> &'static [Counter] {
        COUNTERS
    }

    fn run(&self, results: &mut Results) -> Result<()> {
        let setup = Setup::lfc(2);
        let miss = |bytes| Ok::<_, anyhow::Error>(write_miss_us(2, bytes, 0, false)? * 1e3);
        let (small, large) = (miss(SMALL_BYTES)?, miss(LARGE_BYTES as u64)?);
        let packets = packets_round_trip(&setup, REQUEST_BYTES, 0)?;
        let bare = packets_round_trip(&setup, REQUEST_BYTES, LARGE_BYTES)?;
        results.figure("T7.2-crl-lu-crl", Quantity::Nanoseconds(small));
        results.figure("S7.3.3-add", Quantity::Nanoseconds(small - packets));
        results.figure("S7.3.3-pct", Quantity::Count((small / packets - 1.0) * 100.0));
        let rate = |time: f64| LARGE_BYTES as f64 / time * 1e9;
        results.figure("T7.2-crl-tu-crl", Quantity::BytesPerSecond(rate(large)));
        let evidence =
            [("MB/s, 64 Kbyte: misses", rate(large) / 1e6), ("packets", rate(bare) / 1e6)];
        results.statement("S7.3.3-thr", rate(large) > CLOSE * rate(bare), listed(&evidence));
        Ok(())
    }
}
