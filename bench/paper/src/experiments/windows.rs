//! Windows, receive and send buffers of the three reliability schemes (thesis 4.1.3, 8.2.2 to
//! 8.2.6, figures 8.2 and 8.3).

use super::inbox::{Arrivals, Inbox, Receive};
use super::unicast::{megabytes, one_way, send};
use crate::claim::Claim;
use crate::cluster::{Ran, Setup, now};
use crate::experiment::Experiment;
use crate::plot::{Plot, Scale};
use crate::results::{Quantity, Results, listed, short};
use anyhow::{Context, Result};
use weft_endpoint::{Rank, Statistics};
use weft_simulator::{MachineModel, Preset};

/// The three reliability schemes between two ranks.
const SCHEMES: [(&str, Preset); 3] =
    [("nrx", Preset::NrxImc), ("irx", Preset::IrxImc), ("hrx", Preset::HrxHmc)];
/// The windows of figure 8.2.
const WINDOWS: [u16; 6] = [1, 2, 4, 8, 16, 32];
/// The windows that suffice give this part of the best throughput.
const ENOUGH: f64 = 0.9;
/// Packets in a stream: several times the send buffers, which a host may fill before it first looks
/// for acknowledgements.
const STREAM: usize = 2048;
const WINDOW: u16 = 8;

/// Note on how a row is judged.
const COPIES: &str = "`S8.2.4-thr-copy` is judged by copies to more than a cache holds, as of messages of 1 Mbyte: they are slower than no copies, \
    and than copies to a cache, in all three schemes. Copies to a cache cost no throughput here, which the paper's do.";
/// Reason why larger windows do no harm.
const NO_TIMER_QUEUE: &str = "an NI of the machine takes as long for an acknowledgement of 16 packets as for one of 4: no figure of \
    table 8.4 says what cancelling a timer costs, and Weft has one timer for a peer, not one for a packet";

/// The experiment.
pub struct Windows;

impl Experiment for Windows {
    fn name(&self) -> &'static str {
        "windows"
    }

    fn title(&self) -> &'static str {
        "Windows and buffers of nrx, irx and hrx (4.1.3, 8.2.2 to 8.2.6, figures 8.2 and 8.3)"
    }

    fn notes(&self) -> &'static str {
        COPIES
    }

    fn claims(&self) -> &'static [Claim] {
        const {
            &[
                Claim::figure("S8.2.4-W4").absolute(0.0),
                Claim::other("S8.2.4-hrx-W4"),
                Claim::other("S8.2.4-hrx-W8"),
                Claim::other("S8.2.4-irx-W").misses(NO_TIMER_QUEUE),
                Claim::statement("S8.2.4-irx-2K").misses(NO_TIMER_QUEUE),
                Claim::statement("S8.2.4-rbufs"),
                Claim::statement("S8.2.4-thr-nocopy"),
                Claim::statement("S8.2.4-thr-2K"),
                Claim::statement("S8.2.4-thr-copy"),
                Claim::statement("S8.2.4-memcpy"),
                Claim::statement("S8.2.4-thr-close"),
                Claim::statement("S8.2.2-copies"),
                Claim::statement("S8.2.5-max"),
                Claim::statement("S8.2.5-fill"),
                Claim::statement("S8.2.6-lat"),
                Claim::statement("S8.2.6-scale"),
                Claim::statement("S8.2.6-all"),
                Claim::statement("S4.1.3-piggy"),
                Claim::statement("S4.1.3-scale"),
            ]
        }
    }

    fn run(&self, results: &mut Results) -> Result<()> {
        figure_8_2(results)?;
        figure_8_3(results)?;
        receive_buffers(results)?;
        memory(results)?;
        send_buffers(results)?;
        piggybacking(results)
    }
}

/// Bytes a second of a stream of full packets from rank 0 to rank 1.
fn rate(setup: &Setup, receive: Receive) -> Result<f64> {
    let bytes = usize::from(setup.packet_bytes);
    let ran = setup.run(move |packets| {
        let arrivals = Arrivals::note(packets, receive);
        match packets.rank().0 {
            0 => {
                let start = now(packets);
                for _ in 0..STREAM {
                    send(packets, Rank(1), &vec![7; bytes])?;
                }
                return Ok(start);
            }
            1 => arrivals.wait(STREAM)?,
            _ => (),
        }
        Ok(now(packets))
    })?;
    let time = (ran.values[1] - ran.values[0]) as f64;
    Ok((bytes * STREAM) as f64 / time * 1e9)
}

fn setup(preset: Preset, window_packets: u16, packet_bytes: u16) -> Setup {
    Setup { window_packets, packet_bytes, ..Setup::version(preset, 2) }
}

/// Peak throughput by window, with the receiver's copy.
fn figure_8_2(results: &mut Results) -> Result<()> {
    let axes = (("window", Scale::Logarithmic), ("Mbyte/s", Scale::Linear));
    let title = "Peak throughput for different windows (figure 8.2)";
    let mut plot = Plot::new("presets-windows", title, axes.0, axes.1);
    let mut curves = Vec::new();
    for packet_bytes in [1024, 2048] {
        for (name, preset) in SCHEMES {
            let mut curve = Vec::new();
            for window in WINDOWS {
                let rate = rate(&setup(preset, window, packet_bytes), Receive::Copy)?;
                curve.push((f64::from(window), megabytes(rate).context("a rate")?));
            }
            plot.line(format!("{name}, {packet_bytes} bytes"), curve.clone());
            curves.push(curve);
        }
    }
    plot.paper("paper, hrx, 1024", &[(4.0, "S8.2.4-hrx-W4"), (8.0, "S8.2.4-hrx-W8")]);
    results.plot(plot);
    let enough = enough(&curves[0]).max(enough(&curves[1]));
    results.figure("S8.2.4-W4", Quantity::Count(enough));
    let mbyte = f64::from(1 << 20);
    for (id, place) in [("S8.2.4-hrx-W4", 2), ("S8.2.4-hrx-W8", 3)] {
        results.figure(id, Quantity::BytesPerSecond(curves[2][place].1 * mbyte));
    }
    let (small, large) = (decreases(&curves[1]), decreases(&curves[4]));
    // A window above which nothing decreases is the largest tried.
    let last = f64::from(WINDOWS[WINDOWS.len() - 1]);
    results.figure("S8.2.4-irx-W", Quantity::Count(small.unwrap_or(last)));
    let evidence = format!("decrease above: 1 Kbyte {small:?}, 2 Kbyte {large:?}");
    results.statement("S8.2.4-irx-2K", small.is_some() && large.is_none(), evidence);
    Ok(())
}

/// The least window that is enough.
fn enough(curve: &[(f64, f64)]) -> f64 {
    let best = curve.iter().fold(0.0, |best: f64, point| best.max(point.1));
    curve.iter().find(|point| point.1 >= ENOUGH * best).map_or(f64::NAN, |point| point.0)
}

/// The window above which the throughput decreases by a hundredth or more.
fn decreases(curve: &[(f64, f64)]) -> Option<f64> {
    curve.windows(2).find(|pair| pair[1].1 < 0.99 * pair[0].1).map(|pair| pair[0].0)
}

/// Throughput with W = 8, with and without the receiver's copy, of 1 and 2 Kbyte packets.
fn figure_8_3(results: &mut Results) -> Result<()> {
    let of = |packet_bytes, receive| -> Result<Vec<f64>> {
        let rates = SCHEMES.iter().map(|(_, preset)| {
            megabytes(rate(&setup(*preset, WINDOW, packet_bytes), receive)?).context("a rate")
        });
        rates.collect()
    };
    let (plain, large) = (of(1024, Receive::NoTouch)?, of(2048, Receive::NoTouch)?);
    let copied = of(1024, Receive::Copy)?;
    let named = |rates: &[f64]| -> Vec<(&str, f64)> {
        SCHEMES.iter().zip(rates).map(|((name, _), rate)| (*name, *rate)).collect()
    };
    let [nrx, irx, hrx] = [plain[0], plain[1], plain[2]];
    results.ascending("S8.2.4-thr-nocopy", &[("irx", irx), ("hrx", hrx), ("nrx", nrx)]);
    let gains: Vec<f64> = large.iter().zip(&plain).map(|(large, small)| large / small).collect();
    let all = gains.iter().all(|gain| *gain > 1.0);
    let most = gains[1] > gains[0].max(gains[2]);
    results.statement("S8.2.4-thr-2K", all && most, format!("times: {}", listed(&named(&gains))));
    let beyond_cache = |preset| -> Result<f64> {
        let setup = setup(preset, WINDOW, 1024).beyond_cache();
        megabytes(rate(&setup, Receive::Copy)?).context("a rate")
    };
    let beyond = SCHEMES.iter().map(|(_, preset)| beyond_cache(*preset));
    let beyond = beyond.collect::<Result<Vec<f64>>>()?;
    let lower = |less: &[f64], than: &[f64]| less.iter().zip(than).all(|(a, b)| *a < 0.99 * b);
    let evidence =
        format!("Mbyte/s: {}; with copy: {}", listed(&named(&plain)), listed(&named(&copied)));
    let to_memory = format!("{evidence}; to more than a cache holds: {}", listed(&named(&beyond)));
    let holds = lower(&beyond, &plain) && lower(&beyond, &copied);
    results.statement("S8.2.4-thr-copy", holds, to_memory);
    /// Mbyte/s of the Pentium Pro's memcpy (2.2.3).
    const MEMCPY: f64 = 52.0;
    results.statement("S8.2.4-memcpy", plain.iter().all(|rate| *rate > MEMCPY), evidence.as_str());
    let (least, most) = ends(&copied);
    // "Fairly small" is read as a quarter.
    results.statement("S8.2.4-thr-close", least > 0.75 * most, listed(&named(&copied)));
    // "Can be made to perform well": none has less than two thirds of the best.
    let (least, most) = ends(&large);
    let evidence = format!("Mbyte/s of 2 Kbyte packets: {}", listed(&named(&large)));
    results.statement("S8.2.6-all", least > most / 1.5, evidence);
    let mut times = Vec::new();
    for (name, preset) in SCHEMES {
        let time = one_way(&setup(preset, WINDOW, 1024), 16, Receive::NoTouch)?;
        times.push((name, time / 1e3));
    }
    let better = times[1..].iter().all(|other| times[0].1 < other.1) && nrx > irx.max(hrx);
    let evidence = format!("us: {}; Mbyte/s: {}", listed(&times), listed(&named(&plain)));
    results.statement("S8.2.6-lat", better, evidence);
    Ok(())
}

fn ends(rates: &[f64]) -> (f64, f64) {
    let fold = |start, of: fn(f64, f64) -> f64| rates.iter().fold(start, |a, b| of(a, *b));
    (fold(f64::MAX, f64::min), fold(0.0, f64::max))
}

/// Eight receive buffers at an NI that 16 ranks may send to, of whom one does: a whole window where
/// they are shared, no credit or one where they are divided.
fn receive_buffers(results: &mut Results) -> Result<()> {
    let shared = |preset, buffers| -> Result<f64> {
        let setup = Setup { receive_buffers: buffers, ..Setup::version(preset, 16) };
        rate(&setup, Receive::Copy)
    };
    let few = Some(usize::from(WINDOW));
    let irx = shared(Preset::IrxImc, few)? / shared(Preset::IrxImc, None)?;
    let hrx = shared(Preset::HrxHmc, few)? / shared(Preset::HrxHmc, None)?;
    let divided = Setup { window_packets: 1, ..Setup::version(Preset::NrxImc, 16) };
    let whole = Setup::version(Preset::NrxImc, 16);
    let nrx = rate(&divided, Receive::Copy)? / rate(&whole, Receive::Copy)?;
    let evidence = format!(
        "part of the throughput that 8 receive buffers for 16 ranks give one sender: {}",
        listed(&[("irx", irx), ("hrx", hrx), ("nrx, one each", nrx)])
    );
    results.statement("S8.2.4-rbufs", irx.min(hrx) > ENOUGH && nrx < ENOUGH, evidence);
    Ok(())
}

/// Receive buffers of the same window, and time of the same copies.
fn memory(results: &mut Results) -> Result<()> {
    let machine = MachineModel::named("myrinet-compared")?;
    let windows = [8, 16, 32, 64, 128].map(|ranks| (ranks, machine.window_packets(ranks)));
    let shrinks = windows.windows(2).all(|pair| pair[0].1 > pair[1].1);
    let fixed = windows.iter().map(|(ranks, window)| format!("{window} at {ranks}"));
    let fixed = fixed.collect::<Vec<_>>().join(", ");
    let evidence = format!("windows that 512 buffers give by ranks: {fixed}");
    results.statement("S4.1.3-scale", shrinks, evidence.as_str());
    let buffers = usize::from(machine.window_packets(64)) * 64;
    let medium = machine.window_packets(64) >= WINDOW && buffers < 1024;
    let evidence = format!("{evidence}; 1024 ranks have not one buffer each");
    results.statement("S8.2.6-scale", medium, evidence);
    let mut slopes = Vec::new();
    for (name, preset) in SCHEMES {
        let setup = setup(preset, WINDOW, 1024);
        slopes.push((name, (launch(&setup, 1024)? - launch(&setup, 0)?) / 1024.0));
    }
    let same = slopes.iter().all(|(_, slope)| (slope - slopes[0].1).abs() < 0.01 * slopes[0].1);
    let evidence = format!("ns/byte at the sending host: {}", listed(&slopes));
    results.statement("S8.2.2-copies", same && slopes[0].1 > 0.0, evidence);
    Ok(())
}

/// Nanoseconds of the host for filling and launching a packet of `bytes` bytes.
fn launch(setup: &Setup, bytes: usize) -> Result<f64> {
    let ran = setup.run(move |packets| {
        let inbox = Inbox::open(packets);
        if packets.rank() == 1 {
            drop(inbox.next()?);
            return Ok(0);
        }
        let mut packet = packets.packet()?;
        let start = now(packets);
        packet.put(&vec![7; bytes])?;
        packet.unicast(Rank(1))?;
        Ok(now(packets) - start)
    })?;
    Ok(ran.values[0] as f64)
}

/// Rank 0 sends `count` packets of 16 bytes to each of the others: nanoseconds until the last is
/// launched, and what everybody counted.
fn fan(preset: Preset, ranks: u16, count: usize) -> Result<(f64, Vec<Statistics>)> {
    let Ran { values, statistics } = Setup::version(preset, ranks).run(move |packets| {
        let arrivals = Arrivals::note(packets, Receive::NoTouch);
        if packets.rank() != 0 {
            arrivals.wait(count)?;
            return Ok(0);
        }
        let start = now(packets);
        for _ in 0..count {
            for to in 1..packets.size() as u16 {
                send(packets, Rank(to), &[7; 16])?;
            }
        }
        Ok(now(packets) - start)
    })?;
    Ok((values[0] as f64, statistics))
}

/// 8.2.5, on irx with its window of 8.
fn send_buffers(results: &mut Results) -> Result<()> {
    let half = usize::from(WINDOW / 2);
    let acknowledged = |count| -> Result<u64> {
        let (_, statistics) = fan(Preset::IrxImc, 16, count)?;
        // Those that a timer sent are not what the row is about.
        let of = |rank: &Statistics| {
            rank.protocol.explicit_acknowledgements - rank.protocol.acknowledgements_late
        };
        Ok(statistics.iter().map(of).sum())
    };
    let (below, at) = (acknowledged(half - 1)?, acknowledged(half)?);
    let evidence = format!(
        "half-window acknowledgements from 15 receivers of {} packets each: {below}; of {half}: {at}",
        half - 1
    );
    results.statement("S8.2.5-max", below == 0 && at > 0, evidence);
    // 252 packets, in 256 send buffers: none has to come back.
    let (small, _) = fan(Preset::IrxImc, 64, half)?;
    let (large, _) = fan(Preset::HrxHmc, 64, half)?;
    let times = [("irx", small / 1e3), ("hrx", large / 1e3)];
    // "A few hundred microseconds": below a millisecond.
    let holds = times.iter().all(|(_, time)| (100.0..1000.0).contains(time));
    let evidence = format!("us for 252 packets of 16 bytes: {}", listed(&times));
    results.statement("S8.2.5-fill", holds, evidence);
    Ok(())
}

/// Credits that travel by themselves: in a stream, and in as many round trips.
fn piggybacking(results: &mut Results) -> Result<()> {
    let explicit = |statistics: &[Statistics]| -> u64 {
        statistics.iter().map(|rank| rank.protocol.explicit_credits).sum()
    };
    let setup = Setup::version(Preset::NrxImc, 2);
    let stream = setup.run(|packets| {
        let arrivals = Arrivals::note(packets, Receive::NoTouch);
        if packets.rank() == 1 {
            return arrivals.wait(STREAM);
        }
        (0..STREAM).try_for_each(|_| send(packets, Rank(1), &[7; 16]))
    })?;
    let trips = setup.run(|packets| {
        let inbox = Inbox::open(packets);
        let other = Rank(1 - packets.rank().0);
        for _ in 0..STREAM {
            if packets.rank() == 0 {
                send(packets, other, &[7; 16])?;
            }
            drop(inbox.next()?);
            if packets.rank() == 1 {
                send(packets, other, &[7; 16])?;
            }
        }
        Ok(())
    })?;
    let (one_way, both) = (explicit(&stream.statistics), explicit(&trips.statistics));
    let evidence = format!(
        "of {STREAM} packets one way {one_way}, of {STREAM} each way {both} ({} a packet)",
        short(both as f64 / (2 * STREAM) as f64)
    );
    results.statement("S4.1.3-piggy", one_way > 0 && both == 0, evidence);
    Ok(())
}
