//! The implementations compared: three ways to be reliable, two to forward (thesis 8.2.3, 8.3.4,
//! table 8.4, figures 8.1 and 8.5).

use super::broadcast;
use super::inbox::Receive;
use super::unicast::{LogGp, SIZES, loggp, one_way};
use crate::claim::Claim;
use crate::cluster::Setup;
use crate::experiment::{Experiment, Setting};
use crate::fit;
use crate::plot::{Plot, Scale};
use crate::results::{Quantity, Results, listed};
use anyhow::{Context, Result};
use weft_protocol::{Forwarding, Preset};

/// The three reliability schemes, each with the preset that stands for it between two ranks.
const SCHEMES: [(&str, Preset); 3] =
    [("nrx", Preset::NrxImc), ("irx", Preset::IrxImc), ("hrx", Preset::HrxHmc)];
/// The ids of table 8.4: a row a scheme.
const TABLE_8_4: [[&str; 5]; 3] = [
    ["T8.4-nrx-os", "T8.4-nrx-or", "T8.4-nrx-L", "T8.4-nrx-g", "T8.4-nrx-sum"],
    ["T8.4-irx-os", "T8.4-irx-or", "T8.4-irx-L", "T8.4-irx-g", "T8.4-irx-sum"],
    ["T8.4-hrx-os", "T8.4-hrx-or", "T8.4-hrx-L", "T8.4-hrx-g", "T8.4-hrx-sum"],
];
const CALIBRATED: f64 = 5.0;
/// Figures that pass for the same.
const SAME: f64 = 0.1;
/// Payloads of figure 8.5.
const MULTICAST_SIZES: [usize; 4] = [0, 256, 512, 1024];

const CLAIMS: [Claim; 21] = {
    let mut claims = [Claim::statement("S8.2.3-overheads"); 21];
    let mut index = 0;
    while index < 15 {
        claims[index] = Claim::figure(TABLE_8_4[index / 5][index % 5]).percent(CALIBRATED);
        index += 1;
    }
    claims[16] = Claim::statement("S8.2.3-gap");
    claims[17] = Claim::statement("S8.2.3-L");
    claims[18] = Claim::statement("S8.2.3-order");
    claims[19] = Claim::statement("S8.2.3-slope");
    claims[20] = Claim::statement("S8.3.4-lat");
    claims
};

/// The experiment.
pub struct Presets;

impl Experiment for Presets {
    fn name(&self) -> &'static str {
        "presets"
    }

    fn title(&self) -> &'static str {
        "The implementations compared (8.2.3, 8.3.4, table 8.4, figures 8.1 and 8.5)"
    }

    fn claims(&self) -> &'static [Claim] {
        &CLAIMS
    }

    fn settings(&self) -> &'static [Setting] {
        &[
            Setting("T8.4-payload", "16"),
            Setting("S8.1.2-tree", ""),
            Setting("S8.5.1-W", "8"),
            Setting("S8.5.1-ISB-nrx", "128"),
            Setting("S8.5.1-IRB-nrx", "512"),
            Setting("S8.5.1-ISB-rx", "256"),
            Setting("S8.5.1-IRB-rx", "384"),
            Setting("S8.5.1-HRB", "4096"),
            Setting("S8.2.1-ack", "W/2"),
            Setting("S8.2.2-gbn", ""),
            Setting("S8.3.2-ackfwd", ""),
            Setting("S8.3.2-ackrecv", ""),
        ]
    }

    fn run(&self, results: &mut Results) -> Result<()> {
        parameters(results)?;
        unicast(results)?;
        multicast(results)
    }
}

/// Table 8.4.
fn parameters(results: &mut Results) -> Result<()> {
    let mut found = Vec::new();
    for ((_, preset), ids) in SCHEMES.into_iter().zip(TABLE_8_4) {
        let scheme = loggp(&Setup::version(preset, 2))?;
        let LogGp { send_overhead, receive_overhead, latency, gap } = scheme;
        let row = [send_overhead, receive_overhead, latency, gap, scheme.sum()];
        for (id, time) in ids.into_iter().zip(row) {
            results.figure(id, Quantity::Nanoseconds(time));
        }
        found.push(scheme);
    }
    let [nrx, irx, hrx] = [found[0], found[1], found[2]];
    let send = found.iter().map(|scheme| scheme.send_overhead / 1e3).collect();
    let receive = found.iter().map(|scheme| scheme.receive_overhead / 1e3).collect();
    overheads(&[("o_s", send), ("o_r", receive)], results);
    let gaps = [("nrx", nrx.gap / 1e3), ("hrx", hrx.gap / 1e3), ("irx", irx.gap / 1e3)];
    results.ascending("S8.2.3-gap", &gaps);
    let latencies = [("nrx", nrx.latency / 1e3), ("irx", irx.latency / 1e3)];
    results.ascending("S8.2.3-L", &latencies);
    Ok(())
}

/// nrx = irx (almost) < hrx, for each overhead.
fn overheads(named: &[(&str, Vec<f64>)], results: &mut Results) {
    let holds = named.iter().all(|(_, schemes)| {
        same(schemes[0], schemes[1]) && schemes[0].max(schemes[1]) < schemes[2]
    });
    let evidence = named.iter().map(|(name, schemes)| {
        let each: Vec<(&str, f64)> =
            SCHEMES.iter().zip(schemes).map(|((scheme, _), time)| (*scheme, *time)).collect();
        format!("{name} {}", listed(&each))
    });
    results.statement("S8.2.3-overheads", holds, evidence.collect::<Vec<_>>().join("; "));
}

fn same(a: f64, b: f64) -> bool {
    (a - b).abs() <= SAME * a.abs().max(b.abs())
}

/// Figure 8.1.
fn unicast(results: &mut Results) -> Result<()> {
    let axes = (("bytes", Scale::Linear), ("us", Scale::Linear));
    let mut plot = Plot::new("presets-unicast", "Unicast latency (figure 8.1)", axes.0, axes.1);
    let (mut curves, mut slopes) = (Vec::new(), Vec::new());
    for (name, preset) in SCHEMES {
        let mut curve = Vec::new();
        for bytes in SIZES {
            let time = one_way(&Setup::version(preset, 2), bytes, Receive::NoTouch)?;
            curve.push((bytes as f64, time / 1e3));
        }
        slopes.push((name, fit::line(&curve).context("one size only")?.slope * 1e3));
        plot.line(name, curve.clone());
        curves.push(curve);
    }
    results.plot(plot);
    let at = |scheme: usize, size: usize| -> f64 { curves[scheme][size].1 };
    let holds = (0..SIZES.len()).all(|size| at(0, size) < at(1, size).min(at(2, size)));
    let last = SIZES.len() - 1;
    let longest = [("nrx", at(0, last)), ("irx", at(1, last)), ("hrx", at(2, last))];
    let evidence = format!("us at {} bytes: {}", SIZES[last], listed(&longest));
    results.statement("S8.2.3-order", holds, evidence);
    let equal = slopes.iter().all(|(_, slope)| same(*slope, slopes[0].1));
    results.statement("S8.2.3-slope", equal, format!("ns/byte: {}", listed(&slopes)));
    Ok(())
}

/// Figure 8.5, and the sixth combination, which the thesis did not build.
fn multicast(results: &mut Results) -> Result<()> {
    let axes = (("bytes", Scale::Linear), ("us", Scale::Linear));
    let title = "Multicast latency, 64 processors (figure 8.5)";
    let mut plot = Plot::new("presets-multicast", title, axes.0, axes.1);
    let mut curves = Vec::new();
    for preset in Preset::ALL.into_iter().filter(|preset| *preset != Preset::Pupa) {
        let mut curve = Vec::new();
        for bytes in MULTICAST_SIZES {
            let time = broadcast::latency(&Setup::version(preset, 64), bytes)?;
            curve.push((bytes as f64, time / 1e3));
        }
        plot.line(preset.to_string(), curve.clone());
        curves.push((preset, curve));
    }
    results.plot(plot);
    let built = || curves.iter().filter(|(preset, _)| *preset != Preset::HrxImc);
    let of = |forwarding: Forwarding, size: usize| {
        built()
            .filter(move |(preset, _)| preset.forwarding() == forwarding)
            .map(move |(_, curve)| curve[size].1)
    };
    let holds = (0..MULTICAST_SIZES.len()).all(|size| {
        let slowest_ni = of(Forwarding::Ni, size).fold(0.0, f64::max);
        slowest_ni < of(Forwarding::Host, size).fold(f64::MAX, f64::min)
    });
    let names: Vec<String> = curves.iter().map(|(preset, _)| preset.to_string()).collect();
    let null: Vec<(&str, f64)> =
        names.iter().zip(&curves).map(|(name, (_, curve))| (&**name, curve[0].1)).collect();
    results.statement("S8.3.4-lat", holds, format!("us at 0 bytes: {}", listed(&null)));
    Ok(())
}
