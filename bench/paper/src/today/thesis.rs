//! Conclusions of the thesis about LFC and Panda, asked of today's links.

mod trees;

use super::bench::{bench, find, first, rises, verdict};
use super::table::markdown;
use crate::results::{listed, short};
use anyhow::{Context, Result};
use std::fmt::Write;
use trees::{Quartiles, RANKS, Senders};
use weft_endpoint::Shape;

/// The windows of figure 8.2 that are tried.
const WINDOWS: [u16; 5] = [2, 4, 8, 16, 32];
/// Bytes of the packets of figures 8.1 and 8.2.
const BYTES: usize = 1024;
/// A window that suffices gives this part of the best, as in the simulator.
const ENOUGH: f64 = 0.9;
/// The thesis's reliability schemes, as `weft bench` is asked for them, and the one that these
/// links have by default.
const PRESETS: [(&str, &str); 4] = [
    ("nrx", "--preset nrx-imc --lossless"),
    ("irx", "--preset irx-imc"),
    ("hrx", "--preset hrx-hmc"),
    ("pupa", "--preset pupa"),
];
/// The share of frames that is lost on purpose.
const LOSS: f64 = 0.01;

/// The section.
pub fn section() -> String {
    let mut text = String::from(
        "What can be asked of shared memory (`shm`) and of two network namespaces that a veth pair joins (`udp`, `xdp`), by \
         `weft bench`, medians. Nothing here has a processor for the NI's half of the protocols: it runs in the ranks' own calls. What \
         the thesis says of NIs that work beside their hosts (forwarding at the NI or at the host, 8.3; fetch-and-add at the NI, 5.2; \
         interrupts suppressed by it) cannot be asked here, only in the simulator.\n",
    );
    for part in [memory, windows, presets_, shapes] {
        match part() {
            Ok(part) => text += &format!("\n{part}"),
            Err(error) => {
                let _ = writeln!(text, "\nNot measured: {error:#}.");
            }
        }
    }
    text
}

/// One conclusion.
fn said(what: &str, holds: bool, evidence: &str) -> String {
    format!("- {what}: {} here ({evidence}).\n", verdict(holds))
}

/// A conclusion about an order.
fn said_rises(what: &str, named: &[(&str, f64)]) -> String {
    let figures: Vec<f64> = named.iter().map(|(_, figure)| *figure).collect();
    format!("- {what}: {} here ({}).\n", rises(&figures), listed(named))
}

/// Polling, interrupts, calls, upcalls, multicast in shared memory.
fn memory() -> Result<String> {
    let latency = first("latency --rounds 101")?;
    let (line, latency) = (latency.floor("cache-line")?, latency.p50);
    let mut text = format!(
        "In shared memory, where a cache line crosses in {} ns in this run (30 to 55 if the host has both processors on one physical core, \
         250 if not, and what is near a limit differs with that):\n\n",
        short(line)
    );
    let interrupt = interrupt_ns()?;
    text += &said(
        "5.1.3, an interrupt costs much more than a poll (there 31 us on top of 11.6, three times the latency)",
        interrupt > 2.0 * latency,
        &format!(
            "{}: the upcall thread shares its rank's processor and waits for the scheduler",
            listed(&[("ns: one way with polling", latency), ("an interrupt on top", interrupt)])
        ),
    );
    let parts = bench("loggp --rounds 51")?;
    let of = |name: &str| find(&parts, name).map(|line| line.p50);
    let (send, receive, way) =
        (of("loggp-send-overhead")?, of("loggp-receive-overhead")?, of("loggp-latency")?);
    text += &said(
        "5.1.2, most of a packet's time is spent between the hosts (o_s 1.6, o_r 2.2, L 8.2 us)",
        way > send.max(receive),
        &listed(&[("ns: o_s", send), ("o_r", receive), ("L", way)]),
    );
    let added = bench("fetch-add --rounds 101")?;
    let add = added.first().context("fetch-add printed nothing")?.p50;
    text += &said(
        "6.4, a remote fetch-and-add takes less than a round trip, by little (19.8 of 23.3 us)",
        add < 2.0 * latency,
        &format!(
            "{}; by much: it is an instruction",
            listed(&[("ns", add), ("round trip", 2.0 * latency)])
        ),
    );
    let multicast = first("multicast --rounds 51")?;
    let unicasts = multicast.floor("unicast")?;
    text += &said(
        "9.1, multicast supported by the lowest layer is considerably better than one layered on unicasts",
        multicast.p50 < 0.8 * unicasts,
        &listed(&[
            ("ns of a packet in a row, to 3: multicast", multicast.p50),
            ("unicasts", unicasts),
        ]),
    );
    let message = first("message --rounds 101")?;
    let packet = message.floor("packet")?;
    text += &said(
        "6.5.1, messages add little to packets (there 5 us to 12, 1.4 times)",
        message.p50 < 1.42 * packet,
        &listed(&[
            ("ns: a packet", packet),
            ("a message", message.p50),
            ("times", message.p50 / packet),
        ]),
    );
    let call = first("rpc --rounds 101")?.p50;
    text += &said(
        "6.5, a call costs little more than its two messages (here: at most 1.25 times)",
        call < 1.25 * 2.0 * message.p50,
        &listed(&[("ns: two messages", 2.0 * message.p50), ("a null call", call)]),
    );
    Ok(text + &upcalls_and_order()?)
}

fn upcalls_and_order() -> Result<String> {
    let upcalls = bench("upcalls --rounds 101")?;
    let inline = find(&upcalls, "upcall-async")?;
    let plain = inline.floor("plain")?;
    let popup = find(&upcalls, "upcall-popup")?.p50;
    let mut text = said(
        "6.2.3, a handler that may block but does not needs no thread switch, and pop-up threads cost one",
        inline.p50 < 1.5 * plain && popup > 1.5 * plain,
        &listed(&[("ns: plain", plain), ("may block", inline.p50), ("thread", popup)]),
    );
    let order = first("order --rounds 11")?;
    let unordered = order.floor("broadcast")?;
    text += &said(
        "6.5.2, one order for all costs little beside the broadcasts (here: at least half of their rate, 4 ranks)",
        order.p50 > 0.5 * unordered,
        &listed(&[("M/s: in order", order.p50 / 1e6), ("in none", unordered / 1e6)]),
    );
    Ok(text)
}

/// Time of an interrupt on top of the way and of the watchdog's delay.
fn interrupt_ns() -> Result<f64> {
    let file = std::env::temp_dir().join(format!("weft-{}.toml", std::process::id()));
    let described = bench(&format!("loggp --rounds 51 --machine {}", file.display()));
    let text = std::fs::read_to_string(&file);
    // Nobody needs it any more, and it may not be there.
    let _ = std::fs::remove_file(&file);
    described?;
    let text = text?;
    let line = text.lines().find_map(|line| line.strip_prefix("interrupt_ns = "));
    Ok(line.context("the machine's description has no interrupt")?.trim().parse()?)
}

/// Figure 8.2: what a stream of packets gets out of a window.
fn windows() -> Result<String> {
    let mut table = markdown(&["link", "scheme", "W = 2", "4", "8", "16", "32", "enough at"]);
    let (mut wide, mut host) = (Vec::new(), Vec::new());
    let mut reasons = String::new();
    for (link, scheme, words) in schemes() {
        let curve: Result<Vec<f64>> = WINDOWS
            .iter()
            .map(|window| {
                let rate = format!("rate --size {BYTES} --rounds 5 --window {window} {words}");
                // Figure 8.2 is of peaks.
                let best = first(&rate)?.p50.max(first(&rate)?.p50);
                Ok(best * BYTES as f64 / 1e6)
            })
            .collect();
        match curve {
            Ok(curve) => {
                let enough = enough(&curve);
                let by = if scheme == "hrx" { &mut host } else { &mut wide };
                by.push(enough);
                let mut row = vec![link.to_owned(), scheme.to_owned()];
                row.extend(curve.into_iter().map(short));
                row.push(enough.to_string());
                table.add_row(row);
            }
            Err(error) => {
                let _ = writeln!(reasons, "`{link}`, {scheme}, is not measured: {error:#}.\n");
            }
        }
    }
    let mut text = format!(
        "Throughput of packets of {BYTES} bytes by window (figure 8.2), MB/s, the better of two runs; enough is the least window that gives {ENOUGH} of the \
         best:\n\n{}\n\n{reasons}",
        table.trim_fmt()
    );
    for (what, enough, least) in [
        ("8.2.4, windows of 4 are enough for nrx and irx", wide, 4),
        ("8.2.4, windows of 8 are enough for hrx", host, 8),
    ] {
        if let Some(&most) = enough.iter().max() {
            text += &said(what, most <= least, &format!("{most} is enough on all links"));
        }
    }
    text += "\nA window is also how many packets may share a system call, or a look at the ring, here: that is what larger ones gain. On \
             Myrinet nothing was gained by sending packets together.\n";
    Ok(text)
}

/// Links, schemes on them, and how to ask for them.
fn schemes() -> Vec<(&'static str, &'static str, String)> {
    let mut schemes = vec![("shm", "nrx", String::new())];
    for link in ["udp", "xdp"] {
        let of =
            |&(name, words): &(&'static str, &str)| (link, name, format!("--link {link} {words}"));
        schemes.extend(PRESETS.iter().take(3).map(of));
    }
    schemes
}

/// The least window with nearly the best of `curve`.
fn enough(curve: &[f64]) -> u16 {
    let best = curve.iter().fold(0.0, |a: f64, &b| a.max(b));
    let place = curve.iter().position(|&rate| rate >= ENOUGH * best).unwrap_or_default();
    WINDOWS[place]
}

/// Figure 8.1 and table 8.4: the schemes' latency, and what each gets through where packets are
/// lost.
fn presets_() -> Result<String> {
    let mut text = format!(
        "The reliability schemes on networks (figure 8.1, table 8.4): one way of 8 bytes, packets of 64 bytes a second, and the same where \
         {} % of the frames is lost, for which nrx is not made:\n\n",
        LOSS * 100.0
    );
    let mut table =
        markdown(&["link", "scheme", "latency, us", "rate, M/s", "with loss, M/s", "part"]);
    let mut orders = String::new();
    for link in ["udp", "xdp"] {
        let mut latencies = Vec::new();
        for (name, words) in PRESETS {
            let one_way = first(&format!("latency --link {link} {words} --rounds 101"))?.p50 / 1e3;
            let rate = format!("rate --link {link} --size 64 --rounds 31 {words}");
            let whole = first(&rate)?.p50 / 1e6;
            let lossy =
                if name == "nrx" { None } else { first(&format!("{rate} --loss {LOSS}")).ok() };
            let lossy = lossy.map(|line| line.p50 / 1e6);
            latencies.push((name, one_way));
            let part = lossy.map_or("-".into(), |lossy| short(lossy / whole));
            let row = [link.into(), name.into(), short(one_way), short(whole)];
            table.add_row(row.into_iter().chain([lossy.map_or("-".into(), short), part]));
        }
        let [(_, nrx), (_, irx), (_, hrx), _] = latencies[..] else { continue };
        orders += &said_rises(
            &format!(
                "8.2.3, `{link}`: latency of nrx below that of irx, and of irx below that of hrx"
            ),
            &latencies[..3],
        );
        let most = nrx.max(irx).max(hrx) / nrx.min(irx).min(hrx);
        orders += &said(
            &format!(
                "8.2.6, `{link}`: all three can be made to perform well (here: within 1.25 of one another)"
            ),
            most <= 1.25,
            &format!("the slowest takes {} times the fastest's", short(most)),
        );
    }
    let _ = writeln!(text, "{}\n\n{orders}", table.trim_fmt());
    Ok(text.trim_end().to_owned() + "\n")
}

/// Figure 5.10: trees, if one broadcasts and if all do.
fn shapes() -> Result<String> {
    const SHAPES: [Shape; 3] = [Shape::Flat, Shape::Binary, Shape::Chain];
    let (one, all) = (trees::rates(&SHAPES, Senders::One)?, trees::rates(&SHAPES, Senders::All)?);
    let mut table = markdown(&["tree", "one sends, MB/s", "all send, MB/s of each"]);
    let says = |[low, middle, high]: Quartiles| {
        format!("{} ({} to {})", short(middle), short(low), short(high))
    };
    for (shape, (one, all)) in SHAPES.into_iter().zip(one.iter().zip(&all)) {
        table.add_row([shape.to_string(), says(*one), says(*all)]);
    }
    let mut text = format!(
        "Broadcasts of packets of 1 Kbyte to {RANKS} ranks in shared memory, threads that share two processors, by the tree (figure 5.10), \
         with recovery from deadlocks: median and quartiles; an order counts where quartiles do not overlap:\n\n{}\n\n",
        table.trim_fmt()
    );
    let mut said = |what: &str, less: Quartiles, more: Quartiles| {
        let verdict = match () {
            () if less[2] < more[0] => "holds",
            () if more[2] < less[0] => "does not hold",
            () => "cannot be told",
        };
        let _ = writeln!(text, "- {what}: {verdict} here.");
    };
    said("5.3.2, if one sends, chains are better than binary trees", one[1], one[2]);
    said("5.3.2, if all send, they are worse", all[2], all[1]);
    said(
        "2.7, trees beat a sender that reaches all by itself (here it writes once for all)",
        one[0],
        one[1],
    );
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::enough;

    #[test]
    fn enough_is_the_least_window_with_nearly_the_best() {
        assert_eq!(enough(&[10.0, 20.0, 89.0, 90.0, 100.0]), 16);
        assert_eq!(enough(&[95.0, 99.0, 100.0, 98.0, 97.0]), 2);
    }
}
