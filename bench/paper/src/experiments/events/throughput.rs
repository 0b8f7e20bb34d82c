//! Messages along the chain of nodes (careful-protocols 6.1, table 2).

use super::{Cluster, POINTS, Payload, Row, Table, claims, delta, now, rows};
use crate::claim::Claim;
use crate::conditions::{Conditions, EventConditions, conditions};
use crate::counter::Counter;
use crate::experiment::Setting;
use crate::results::{Quantity, Results, listed};
use anyhow::Result;
use std::sync::LazyLock;
use weft_endpoint::Rank;
use weft_events::{Destination, Flags, Protocol, Source};

/// Messages before time is taken, and then.
const MESSAGES: (u32, u32) = (40, 400);

const ROWS: &[Row] = rows![
    ("CP-T2-P2-1w", 2, 1),
    ("CP-T2-P2-200w", 2, 200),
    ("CP-T2-P2-1000w", 2, 1000),
    ("CP-T2-P2-2000w", 2, 2000),
    ("CP-T2-P4-1w", 4, 1),
    ("CP-T2-P4-200w", 4, 200),
    ("CP-T2-P4-1000w", 4, 1000),
    ("CP-T2-P4-2000w", 4, 2000),
    ("CP-T2-P8-1w", 8, 1),
    ("CP-T2-P8-200w", 8, 200),
    ("CP-T2-P8-1000w", 8, 1000),
    ("CP-T2-P8-2000w", 8, 2000),
];

/// Bytes of payload a second, of all senders together.
///
/// # Errors
/// Those of [`Cluster::run`].
pub fn throughput(cluster: Cluster, words: usize, processing: bool) -> Result<f64> {
    let times = cluster.run(move |events| {
        let payload = Payload::new(words, processing);
        let (me, last) = (events.rank().0, events.size() as u16 - 1);
        let (before, counted) = MESSAGES;
        // Node 1 takes the small message that it gets in each event when that "is very likely to
        // have arrived already": after as many events as messages pass links on the way around, the
        // small one's included.
        let later = conditions().events.ahead.unwrap_or(u32::from(last) + 1);
        let mut start = 0.0;
        for event in 0..before + counted {
            if event == before {
                start = now(&events);
            }
            let mut held = None;
            if me > 0 {
                held = Some(events.receive(Source::Anyone, event)?);
                payload.read(&events);
            }
            if me < last {
                payload.write(&events);
                let next = Destination::One(Rank(me + 1));
                events.send(next, event, &payload.bytes, Flags::ONLY)?;
            } else {
                events.send(Destination::One(Rank(0)), event, &[0], Flags::ONLY)?;
            }
            drop(held);
            if let (0, Some(old)) = (me, event.checked_sub(later)) {
                drop(events.receive(Source::Anyone, old)?);
            }
        }
        let time = (now(&events) - start) / f64::from(counted);
        for event in before + counted - later..if me == 0 { before + counted } else { 0 } {
            drop(events.receive(Source::Anyone, event)?);
        }
        Ok((time, events.close(before + counted)?))
    })?;
    let times = times.values()?;
    let bytes = (words * super::WORD * (usize::from(cluster.nodes) - 1)) as f64;
    Ok(bytes / times[times.len() - 1] * 1e9)
}

static CLAIMS: LazyLock<Vec<Claim>> = LazyLock::new(|| {
    let others = [
        Claim::statement("CP-T2-order"),
        Claim::statement("CP-8-can"),
        Claim::points("CP-6-thr-gap2000", POINTS),
        Claim::points("CP-6-thr-gap1000", POINTS),
        Claim::statement("CP-6-thr-sat4"),
        Claim::statement("CP-6-thr-tail"),
        Claim::statement("CP-6-thr-proc"),
        Claim::statement("CP-6-thr-proc2"),
        Claim::statement("CP-6-thr-mtu"),
    ];
    claims(ROWS, &[], &others, MISSES)
});

const MISSES: &[(&str, &[&str])] = &[
    (
        "interrupts come from a watchdog, which looks again every 2 us and interrupts the \
         traditional protocol's long handler itself; and how many events later node 1 takes its \
         small message the paper does not say, but that it \"is very likely to have arrived \
         already\": as many here as messages pass links on the way around, fewer there, since its \
         throughput at one word grows less with the nodes",
        &[
            "CP-T2-P2-1w-delta",
            "CP-T2-P2-1w-proc-delta",
            "CP-T2-P4-1w-trad",
            "CP-T2-P4-1w-delta",
            "CP-T2-P4-1w-proc-trad",
            "CP-T2-P4-1w-proc-delta",
            "CP-T2-P8-1w-trad",
            "CP-T2-P8-1w-delta",
            "CP-T2-P8-1w-proc-trad",
            "CP-T2-P8-1w-proc-delta",
        ],
    ),
    (
        "of small messages node 1 is as many events ahead as messages pass links on the way around; \
         the paper's was fewer ahead, whatever the nodes",
        &[
            "CP-T2-P2-1w-care",
            "CP-T2-P2-1w-proc-care",
            "CP-T2-P4-1w-care",
            "CP-T2-P4-1w-proc-care",
            "CP-T2-P8-1w-care",
            "CP-T2-P8-1w-proc-care",
        ],
    ),
    (
        "the same of 200 words: with more events ahead the ring is full, and both protocols are \
         equal",
        &[
            "CP-T2-P4-200w-delta",
            "CP-T2-P8-200w-delta",
            "CP-T2-P4-200w-proc-trad",
            "CP-T2-P4-200w-proc-care",
            "CP-T2-P8-200w-proc-trad",
            "CP-T2-P8-200w-proc-care",
            "CP-T2-P8-200w-proc-delta",
            "CP-T2-order",
        ],
    ),
    (
        "of large messages the paper's node 1 was further ahead: here the ring stands still while \
         it waits for the small message",
        &[
            "CP-T2-P2-1000w-delta",
            "CP-T2-P2-1000w-proc-delta",
            "CP-T2-P2-2000w-delta",
            "CP-T2-P4-1000w-delta",
            "CP-T2-P4-2000w-delta",
            "CP-T2-P8-1000w-proc-delta",
            "CP-6-thr-gap1000",
            "CP-6-thr-gap2000",
        ],
    ),
    (
        "host times of the two protocols together are assumed, and those of one end are what two \
         nodes wait for when programs touch what they send",
        &["CP-T2-P2-200w-proc-care", "CP-T2-P2-200w-proc-delta", "CP-6-thr-proc2"],
    ),
];

/// Counter-experiments: what is suspected of the misses, turned.
const COUNTERS: &[Counter] = &[
    Counter {
        ids: MISSES[0].1,
        turned: "node 1 takes its small message two events later, whatever the nodes, and the \
                 watchdog looks every 50 us",
        conditions: Conditions { machine: "timers.interrupt_delay_ns = 50000", ..ahead(2) },
    },
    Counter {
        ids: MISSES[1].1,
        turned: "node 1 takes its small message one event later, whatever the nodes",
        conditions: ahead(1),
    },
    Counter {
        ids: MISSES[2].1,
        turned: "node 1 takes its small message two events later, whatever the nodes",
        conditions: ahead(2),
    },
    Counter {
        ids: MISSES[3].1,
        turned: "node 1 takes its small message 16 events later, whatever the nodes",
        conditions: ahead(16),
    },
    Counter {
        ids: MISSES[4].1,
        turned: "a host takes 45 us for a fragment at each end, not 35",
        conditions: Conditions {
            machine: "host.launch_ns = 45000\nhost.process_ns = 45000",
            ..Conditions::STATED
        },
    },
];

const fn ahead(events: u32) -> Conditions {
    let events = EventConditions { ahead: Some(events), ..Conditions::STATED.events };
    Conditions { events, ..Conditions::STATED }
}

/// Table 2.
pub const TABLE: Table = Table {
    name: "events-throughput",
    title: "Messages along the chain of nodes (6.1, table 2)",
    claims: &CLAIMS,
    settings: &[
        Setting("CP-6-thr-path", "through all nodes"),
        Setting("CP-6-thr-norm", "total of all senders"),
        Setting("CP-6-thr-senders", "seven"),
        Setting("CP-6-thr-8000", "8000"),
        Setting("CP-6-fddi-bw", "100"),
    ],
    notes: "",
    counters: COUNTERS,
    run,
};

fn run(results: &mut Results) -> Result<()> {
    let mut cells = Vec::new();
    for row in ROWS {
        let of = |protocol| {
            throughput(Cluster { nodes: row.nodes, protocol }, row.words, row.processing)
        };
        let (trad, care) = (of(Protocol::Traditional)?, of(Protocol::Careful)?);
        results.figure(row.ids[0], Quantity::BytesPerSecond(trad));
        results.figure(row.ids[1], Quantity::BytesPerSecond(care));
        results.figure(row.ids[2], Quantity::Count(delta(trad, care)));
        cells.push(Cell { row, trad, care });
    }
    conclude(&cells, results);
    Ok(())
}

struct Cell {
    row: &'static Row,
    trad: f64,
    care: f64,
}

/// Bytes a second that FDDI carries at most: 100 Mbps.
const LIMIT: f64 = 12.5e6;

fn conclude(cells: &[Cell], results: &mut Results) {
    let below: Vec<(&str, f64)> = cells
        .iter()
        .filter(|cell| cell.care < cell.trad)
        .map(|cell| (cell.row.ids[2], delta(cell.trad, cell.care)))
        .collect();
    let evidence = match below.is_empty() {
        true => "all 24 cells".into(),
        false => format!("below by percent: {}", listed(&below)),
    };
    results.statement("CP-T2-order", below.is_empty(), evidence);

    let gains = cells.iter().map(|cell| delta(cell.trad, cell.care));
    let (least, most) = gains.fold((f64::MAX, f64::MIN), |(a, b), gain| (a.min(gain), b.max(gain)));
    let evidence = listed(&[("percent more throughput, at most", most), ("at least", least)]);
    // "Significantly": a fifth.
    results.statement("CP-8-can", most > 20.0 && least <= 0.0, evidence);

    let at = |nodes: u16, words: usize, processing: bool| {
        let is = |row: &Row| (row.nodes, row.words, row.processing) == (nodes, words, processing);
        let cell = cells.iter().find(|cell| is(cell.row));
        cell.map_or((f64::NAN, f64::NAN), |cell| (cell.trad, cell.care))
    };
    for (id, words) in [("CP-6-thr-gap2000", 2000), ("CP-6-thr-gap1000", 1000)] {
        let all = [2, 4, 8].map(|nodes| at(nodes, words, false));
        let least = all.iter().map(|&(trad, care)| trad.min(care)).fold(f64::MAX, f64::min);
        results.figure(id, Quantity::Count((1.0 - least / LIMIT) * 100.0));
    }
    let (trad, care) = at(4, 2000, true);
    let parts = [("part of FDDI: traditional", trad / LIMIT), ("careful", care / LIMIT)];
    results.statement("CP-6-thr-sat4", trad.min(care) > 0.9 * LIMIT, listed(&parts));

    let gains =
        [1, 200, 1000, 2000].map(|words| delta(at(2, words, false).0, at(2, words, false).1));
    let named: Vec<(&str, f64)> = ["1", "200", "1000", "2000"].into_iter().zip(gains).collect();
    let tails_off = gains[1] > gains[2] && gains[2] >= gains[3];
    results.statement("CP-6-thr-tail", tails_off, listed(&named));
    let parts = [200, 1000, 2000].map(|words| at(2, words, true).1 / at(2, words, false).1);
    let named: Vec<(&str, f64)> = ["2 nodes, 200", "1000", "2000"].into_iter().zip(parts).collect();
    results.statement("CP-6-thr-proc", parts.iter().all(|&part| part < 1.0), listed(&named));
    results.statement("CP-6-thr-proc2", parts.iter().all(|&part| part < 0.5), listed(&named));

    // Frames of 4500 bytes hold 1000 words, and something. "Not excessive": a tenth.
    let loss = |nodes| 100.0 * (1.0 - at(nodes, 1000, false).1 / at(nodes, 2000, false).1);
    let named = [("2 nodes", loss(2)), ("4", loss(4)), ("8", loss(8))];
    let evidence = format!("percent less with 1000 words than with 2000: {}", listed(&named));
    results.statement("CP-6-thr-mtu", named.iter().all(|(_, loss)| *loss < 10.0), evidence);
}
