//! Goodput over window (under `pupa`: the FIFO of packets for a peer) and loss, on the thesis's
//! cluster: a table that is the same everywhere, kept as a snapshot
//! (`WEFT_UPDATE=1 cargo test -p weft-soak --test it goodput` writes it anew).
use std::fmt::Write;
use std::sync::Arc;
use weft_protocol::Preset;
use weft_simulator::scenarios::patterns::{self, Times};
use weft_simulator::{Faults, Options, Simulation};

const PACKETS: u64 = 8_000;
const BYTES: usize = 1024;
const WINDOWS: [u16; 5] = [2, 4, 8, 16, 32];
const LOSSES: [f64; 6] = [0.0, 0.001, 0.01, 0.05, 0.1, 0.3];
const SNAPSHOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/goodput.txt");

/// User bytes per second from one rank to another, in Mbyte/s of 2^20.
fn goodput(preset: Preset, window: u16, loss: f64) -> f64 {
    let mut options = Options::new(2).unwrap();
    options.settings.preset = preset;
    options.settings.window_packets = window;
    options.settings.pupa.primary_sends = window;
    if preset == Preset::Pupa {
        options.settings.retransmit_at_least = Some(100_000);
    }
    options.faults = Faults { loss, ..Faults::default() };
    let times = Times::new();
    let noted = Arc::clone(&times);
    let simulation = Simulation::new(options).unwrap();
    let report =
        simulation.run_packets(move |packets| patterns::stream(&packets, PACKETS, BYTES, &noted));
    assert!(report.is_success(), "{preset}, a window of {window}, loss {loss}: {}", report.ended);
    (PACKETS as usize * BYTES) as f64 / times.median().unwrap().as_secs_f64() / f64::from(1 << 20)
}

#[test]
fn losses_cost_little() {
    let mut table = String::from(
        "Goodput of 1 Kbyte packets in Mbyte/s, and its part of that without loss\n\n",
    );
    let mut irx = Vec::new();
    for preset in [Preset::IrxImc, Preset::HrxHmc, Preset::Pupa] {
        write!(table, "{preset}  window").unwrap();
        LOSSES.iter().for_each(|loss| write!(table, "{:>13} %", loss * 100.0).unwrap());
        table.push('\n');
        for window in WINDOWS {
            let best = goodput(preset, window, 0.0);
            write!(table, "{window:>15}").unwrap();
            for loss in LOSSES {
                let reached = if loss > 0.0 { goodput(preset, window, loss) } else { best };
                let part = reached / best * 100.0;
                write!(table, "{reached:>8.1} {part:>4.0} %").unwrap();
                match preset {
                    Preset::IrxImc => irx.push((window, loss, reached)),
                    Preset::Pupa if loss <= 0.1 => {
                        let same = irx.iter().find(|of| (of.0, of.1) == (window, loss));
                        let &(_, _, irx) = same.unwrap();
                        assert!(
                            reached >= 0.8 * irx,
                            "{window} {loss}: {reached:.1}, irx {irx:.1}"
                        );
                    }
                    _ => {}
                }
                let least = if loss <= 0.001 { 80.0 } else { 50.0 };
                assert!(loss > 0.01 || part >= least, "{preset} {window} {loss}: {part:.0} %");
            }
            table.push('\n');
        }
        table.push('\n');
    }
    if std::env::var_os("WEFT_UPDATE").is_some() {
        std::fs::write(SNAPSHOT, &table).unwrap();
    }
    let kept = std::fs::read_to_string(SNAPSHOT).unwrap();
    assert_eq!(table, kept, "the table has changed:\n{table}");
}
