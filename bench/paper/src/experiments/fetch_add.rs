//! Fetch-and-add: alone, at home, and under contention (thesis 5.2, figure 5.3, table 8.5).

use super::inbox::Inbox;
use super::unicast::send;
use crate::claim::Claim;
use crate::cluster::{Setup, now};
use crate::conditions::Conditions;
use crate::counter::Counter;
use crate::experiment::{Experiment, Setting};
use crate::plot::{Plot, Scale};
use crate::results::{Quantity, Results, listed};
use anyhow::Result;
use weft_endpoint::{Rank, Variable};
use weft_simulator::Preset;

/// Operations of each rank, after as many again to warm up.
const OPERATIONS: u64 = 32;
/// The home of the variable.
const HOME: Rank = Rank(0);
/// Ranks of figure 5.3.
const RANKS: [u16; 8] = [2, 3, 4, 6, 8, 16, 32, 64];

/// Nanoseconds of an operation that the ranks for which `issues` says so make in a tight loop,
/// while all others receive by polling.
///
/// # Errors
/// Those of [`Setup::run`].
pub fn latency(
    setup: &Setup,
    issues: impl Fn(Rank) -> bool + Send + Sync + 'static,
) -> Result<f64> {
    let ranks = setup
        .run(move |packets| {
            let inbox = Inbox::open(packets);
            let mut time = None;
            if issues(packets.rank()) {
                let variable = Variable { home: HOME, index: 0 };
                let mut start = 0;
                for operation in 0..2 * OPERATIONS {
                    if operation == OPERATIONS {
                        start = now(packets);
                    }
                    packets.fetch_and_add(variable, 1)?;
                }
                time = Some((now(packets) - start) as f64 / OPERATIONS as f64);
            }
            // Whoever is done says so to the home, which polls until all are.
            if packets.rank() == HOME {
                for _ in 1..packets.size() {
                    drop(inbox.next()?);
                }
            } else {
                send(packets, HOME, &[])?;
            }
            Ok(time)
        })?
        .values;
    let times: Vec<f64> = ranks.into_iter().flatten().collect();
    Ok(times.iter().sum::<f64>() / times.len() as f64)
}

fn remote(setup: &Setup) -> Result<f64> {
    latency(setup, |rank| rank != HOME)
}

/// Note for readers on operations at home.
const AT_HOME: &str = "An operation at home goes to the switch and back, as LFC's does, which had not optimized this case. It takes longer than a \
    remote one because a single NI does what two share otherwise: what sending the request leaves it to do comes before the answer. \
    What the thesis names besides, that a host that polls takes memory cycles of its NI (5.2), is not in the machine.";

/// Reason why `irx` is too fast.
const NO_ACKNOWLEDGEMENT_TIMERS: &str = "an acknowledgement timer is started and cancelled for the request and for the \
    answer (8.2.5), and no host between the two hides it; in a stream, which table 8.4 is about, that happens once in \
    half a window, and no figure says what a timer costs: the machine counts all that irx adds as the sender's, after \
    the packet has left";

/// Counter-experiments: what is suspected of the misses, turned.
const COUNTERS: &[Counter] = &[Counter {
    ids: &["T8.5-irx"],
    turned: "an NI does before a packet leaves what irx adds, 2.3 us, and not after",
    conditions: Conditions {
        machine: "irx.ni.send_ns = 5769\nirx.ni.send_after_ns = 2797",
        ..Conditions::STATED
    },
}];

/// The experiment.
pub struct FetchAdd;

impl Experiment for FetchAdd {
    fn name(&self) -> &'static str {
        "fetch-add"
    }

    fn title(&self) -> &'static str {
        "Fetch-and-add (5.2, figure 5.3, table 8.5)"
    }

    fn claims(&self) -> &'static [Claim] {
        const {
            &[
                Claim::figure("T8.5-nrx"),
                Claim::figure("T8.5-irx").misses(NO_ACKNOWLEDGEMENT_TIMERS),
                Claim::figure("T8.5-hrx"),
                Claim::statement("S8.2.3-fa-order"),
                Claim::figure("S5.2-fa-remote"),
                Claim::figure("S5.2-fa-local"),
                Claim::statement("S5.2-fa-order"),
                Claim::statement("S5.2-fa-bottleneck"),
            ]
        }
    }

    fn notes(&self) -> &'static str {
        AT_HOME
    }

    fn settings(&self) -> &'static [Setting] {
        &[
            Setting("S5.2-fa-setup", ""),
            Setting("T8.2-fa", ""),
            Setting("S2.5-poll-io", "467"),
            Setting("S3.8-pkttypes", ""),
        ]
    }

    fn counters(&self) -> &'static [Counter] {
        COUNTERS
    }

    fn run(&self, results: &mut Results) -> Result<()> {
        let mut schemes = Vec::new();
        for (id, name, preset) in [
            ("T8.5-nrx", "nrx", Preset::NrxImc),
            ("T8.5-irx", "irx", Preset::IrxImc),
            ("T8.5-hrx", "hrx", Preset::HrxHmc),
        ] {
            let time = remote(&Setup::version(preset, 2))?;
            results.figure(id, Quantity::Nanoseconds(time));
            schemes.push((name, time / 1e3));
        }
        results.ascending("S8.2.3-fa-order", &schemes);

        let setup = Setup::lfc(2);
        let away = remote(&setup)?;
        let home = latency(&setup, |rank| rank == HOME)?;
        results.figure("S5.2-fa-remote", Quantity::Nanoseconds(away));
        results.figure("S5.2-fa-local", Quantity::Nanoseconds(home));
        results.ascending("S5.2-fa-order", &[("remote", away / 1e3), ("local", home / 1e3)]);
        contention(results)
    }
}

/// Figure 5.3. The home's NI is the bottleneck where operations take longer than alone.
fn contention(results: &mut Results) -> Result<()> {
    const LONGER: f64 = 1.1;
    let mut curve = Vec::new();
    for ranks in RANKS {
        curve.push((f64::from(ranks), remote(&Setup::lfc(ranks))? / 1e3));
    }
    let alone = curve[0].1;
    let issuing = |point: &(f64, f64)| point.0 - 1.0;
    let first = curve.iter().find(|point| point.1 > alone * LONGER).map(issuing);
    let evidence = match first {
        Some(processors) => format!("first with {processors} processors that issue"),
        None => listed(&[("alone", alone), ("64 processors", curve[curve.len() - 1].1)]),
    };
    let holds = first.is_some_and(|processors| processors <= 3.0);
    results.statement("S5.2-fa-bottleneck", holds, evidence);
    let axes = (("processors", Scale::Logarithmic), ("us", Scale::Linear));
    let title = "Fetch-and-add under contention (figure 5.3)";
    let mut plot = Plot::new("fetch-add-contention", title, axes.0, axes.1);
    plot.line("nrx-imc", curve);
    plot.paper("paper", &[(2.0, "S5.2-fa-remote")]);
    results.plot(plot);
    Ok(())
}
