//! Everybody broadcasts before it receives (careful-protocols 6.1, table 3).

use super::{Cluster, LIMIT, PERCENT, POINTS, Payload, Ran, Row, Table, claims, delta, now, rows};
use crate::claim::Claim;
use crate::conditions::{Conditions, EventConditions};
use crate::counter::Counter;
use crate::experiment::Setting;
use crate::results::{Quantity, Results, listed, short};
use anyhow::{Result, bail};
use std::sync::LazyLock;
use weft_events::{Destination, Events, Flags, Protocol, Source, Statistics, Status};

/// Events that a node broadcasts before it receives the first (n).
const AHEAD: u32 = 10;
/// Events in all.
const EVENTS: u32 = 20;

const ROWS: &[Row] = rows![
    ("CP-T3-P2-1w", 2, 1),
    ("CP-T3-P2-1000w", 2, 1000),
    ("CP-T3-P2-2000w", 2, 2000),
    ("CP-T3-P4-1w", 4, 1),
    ("CP-T3-P4-1000w", 4, 1000),
    ("CP-T3-P4-2000w", 4, 2000),
    ("CP-T3-P8-1w", 8, 1),
    ("CP-T3-P8-1000w", 8, 1000),
    ("CP-T3-P8-2000w", 8, 2000),
];

/// Fragments of a message (k): the same number on the ring in each event, whatever the nodes.
pub fn fragments(nodes: u16) -> u32 {
    32 / u32::from(nodes)
}

/// Nanoseconds of an event, and what all nodes counted; `None` if it never ended.
///
/// # Errors
/// Those of [`Cluster::run`].
pub fn flood(
    cluster: Cluster,
    words: usize,
    processing: bool,
) -> Result<Option<(f64, Vec<Statistics>)>> {
    let ran = cluster.run(move |events| broadcast_ahead(events, words, processing))?;
    Ok(match ran {
        Ran::Never => None,
        Ran::Ended(nodes) => {
            let time = nodes.iter().map(|(time, _)| *time).sum::<f64>() / nodes.len() as f64;
            Some((time, nodes.into_iter().map(|(_, statistics)| statistics).collect()))
        }
    })
}

/// Broadcasts [`AHEAD`] events before it receives the first, and then as many as it receives.
/// Nanoseconds of an event, and counters.
pub(super) fn broadcast_ahead(
    events: Events,
    words: usize,
    processing: bool,
) -> weft_events::Result<(f64, Statistics)> {
    let fragments = fragments(events.size() as u16);
    let payload = Payload::new(words, processing);
    let start = now(&events);
    let send = |event| {
        for index in 0..fragments {
            payload.write(&events);
            let flags = Flags { last: index + 1 == fragments, crowd: true, large: true };
            events.send(Destination::Everyone, event, &payload.bytes, flags)?;
        }
        Ok::<_, weft_events::Error>(())
    };
    (0..AHEAD).try_for_each(send)?;
    for event in 0..EVENTS {
        loop {
            let fragment = events.receive(Source::Anyone, event)?;
            payload.read(&events);
            if fragment.status() == Status::EventDone {
                break;
            }
        }
        if event + AHEAD < EVENTS {
            send(event + AHEAD)?;
        }
    }
    let time = (now(&events) - start) / f64::from(EVENTS);
    Ok((time, events.close(EVENTS)?))
}

/// Cells for which table 3 has no number, because the traditional protocol never ended.
const NEVER: &[&str] = &[
    "CP-T3-P4-1w-proc-trad",
    "CP-T3-P4-1000w-trad",
    "CP-T3-P4-1000w-proc-trad",
    "CP-T3-P4-2000w-trad",
    "CP-T3-P4-2000w-proc-trad",
    "CP-T3-P8-1w-trad",
    "CP-T3-P8-1w-proc-trad",
    "CP-T3-P8-1000w-trad",
    "CP-T3-P8-1000w-proc-trad",
    "CP-T3-P8-2000w-trad",
    "CP-T3-P8-2000w-proc-trad",
];
/// The cell that careful has no number for: it lost a packet there.
const LOST: &str = "CP-T3-P8-2000w-proc-care";

/// True if the paper compares the protocols in `row`.
fn is_compared(row: &Row) -> bool {
    !NEVER.contains(&row.ids[0])
}

static CLAIMS: LazyLock<Vec<Claim>> = LazyLock::new(|| {
    let compared: Vec<Row> = ROWS.iter().copied().filter(is_compared).collect();
    let alone = ROWS.iter().filter(|row| !is_compared(row) && row.ids[1] != LOST);
    let mut others: Vec<Claim> =
        alone.map(|row| Claim::figure(row.ids[1]).percent(PERCENT)).collect();
    others.extend(NEVER.iter().map(|&id| Claim::statement(id)));
    others.extend([
        Claim::statement("CP-T3-order-noproc"),
        Claim::statement("CP-T3-order-1w"),
        Claim::statement("CP-6-fl-livelock"),
        Claim::statement("CP-6-fl-missing"),
        Claim::points("CP-6-fl-worse", POINTS),
        Claim::statement("CP-6-fl-why"),
        Claim::statement("CP-6-fl-proc"),
    ]);
    claims(&compared, &[], &others, MISSES)
});

const MISSES: &[(&str, &[&str])] = &[
    (
        "at one word the host is the limit, and what both protocols cost it is assumed; the \
         copies of so few bytes, which the paper makes careful's handicap, cost next to \
         nothing by the machine's rule",
        &[
            "CP-T3-P2-1w-care",
            "CP-T3-P2-1w-proc-care",
            "CP-T3-P4-1w-care",
            "CP-T3-P4-1w-proc-care",
            "CP-T3-P8-1w-care",
            "CP-T3-P8-1w-proc-care",
        ],
    ),
    (
        "the ring is the limit here: the hosts' copies are made while it carries the frames \
         of others, where the paper's hosts do not keep up",
        &["CP-T3-P2-1000w-delta", "CP-T3-P2-2000w-delta", "CP-6-fl-worse"],
    ),
    (
        "reading a word takes 29 cycles, by what the sender-based protocols measured on such a \
         board in another machine; this table's times at four and eight nodes, where three and \
         seven are read for each that is written, would be met by about 18. By how much careful is \
         better at two is another question, which nothing that was turned answers",
        &[
            "CP-T3-P2-1000w-proc-delta",
            "CP-T3-P2-2000w-proc-delta",
            "CP-T3-P4-1000w-proc-care",
            "CP-T3-P4-2000w-proc-care",
            "CP-T3-P8-1000w-proc-care",
        ],
    ),
    (
        "it never ended here either, as in the paper's other cells of four nodes: its time is \
         what it was given",
        &["CP-T3-P4-1w-trad", "CP-6-fl-missing"],
    ),
    (
        "the traditional protocol's own costs of appendix A, 24 us a fragment more than \
         careful's, outweigh the copies that careful makes",
        &["CP-T3-P2-1w-delta", "CP-T3-P2-1w-proc-delta", "CP-T3-order-noproc", "CP-T3-order-1w"],
    ),
    (
        "160 fragments do not fit into the 128 buffers that the paper names; here what is too \
         much is copied out under the traditional protocol too, or it would drop fragments at \
         two nodes",
        &["CP-6-fl-why"],
    ),
];

/// Counter-experiments: what is suspected of the misses, turned.
const COUNTERS: &[Counter] = &[
    Counter {
        ids: MISSES[0].1,
        turned: "a host takes 70 us for a fragment at each end, not 35",
        conditions: Conditions {
            machine: "host.launch_ns = 70000\nhost.process_ns = 70000",
            ..Conditions::STATED
        },
    },
    Counter {
        ids: MISSES[1].1,
        turned: "a copy takes 150 ns a byte, not 42.5",
        conditions: Conditions { machine: "host.copy_ns_per_byte = 150.0", ..Conditions::STATED },
    },
    Counter {
        ids: MISSES[2].1,
        turned: "reading a word takes 18 cycles, not 29",
        conditions: Conditions {
            events: EventConditions { read_cycles: 18, ..Conditions::STATED.events },
            ..Conditions::STATED
        },
    },
    Counter {
        ids: MISSES[3].1,
        turned: "a board has 512 receive buffers, not 128",
        conditions: Conditions {
            events: EventConditions { receive_buffers: 512, ..Conditions::STATED.events },
            ..Conditions::STATED
        },
    },
    Counter {
        ids: MISSES[4].1,
        turned: "the traditional protocol costs as much as careful, 42 and 109 cycles, not 318 and 1,100",
        conditions: Conditions {
            events: EventConditions { traditional_cycles: [42, 109], ..Conditions::STATED.events },
            ..Conditions::STATED
        },
    },
    Counter {
        ids: MISSES[5].1,
        turned: "a board has 160 receive buffers, not 128",
        conditions: Conditions {
            events: EventConditions { receive_buffers: 160, ..Conditions::STATED.events },
            ..Conditions::STATED
        },
    },
];

/// Table 3.
pub const TABLE: Table = Table {
    name: "events-flooding",
    title: "Everybody broadcasts before it receives (6.1, table 3)",
    claims: &CLAIMS,
    settings: &[
        Setting("CP-T3-P2-outstanding", "10×16"),
        Setting("CP-T3-P4-outstanding", "10×8"),
        Setting("CP-T3-P8-outstanding", "10×4"),
        Setting("CP-5-medusa-buf", "128"),
        Setting("CP-6-fl-timeout", "too large"),
    ],
    notes: "",
    counters: COUNTERS,
    run,
};

fn run(results: &mut Results) -> Result<()> {
    let mut cells = Vec::new();
    for row in ROWS {
        let of =
            |protocol| flood(Cluster { nodes: row.nodes, protocol }, row.words, row.processing);
        let (trad, care) = (of(Protocol::Traditional)?, of(Protocol::Careful)?);
        let Some(care) = care else { bail!("{}: the careful protocol never ended", row.ids[1]) };
        record(row, trad.as_ref(), &care, results);
        cells.push(Cell { row, trad, care });
    }
    conclude(&cells, results);
    Ok(())
}

/// The time of an event, and what the nodes counted.
type Flood = (f64, Vec<Statistics>);

struct Cell {
    row: &'static Row,
    trad: Option<Flood>,
    care: Flood,
}

fn record(row: &Row, trad: Option<&Flood>, care: &Flood, results: &mut Results) {
    if row.ids[1] != LOST {
        results.figure(row.ids[1], Quantity::Nanoseconds(care.0));
    }
    if is_compared(row) {
        // A run that never ended took at least the time that it was given.
        let given = LIMIT.as_nanos() as f64 / f64::from(EVENTS);
        let time = trad.map_or(given, |trad| trad.0);
        results.figure(row.ids[0], Quantity::Nanoseconds(time));
        results.figure(row.ids[2], Quantity::Count(delta(time, care.0)));
    } else {
        let evidence = match trad {
            None => format!("nothing came of it in {LIMIT:?}"),
            Some((time, _)) => format!("{} ms", short(time / 1e6)),
        };
        results.statement(row.ids[0], trad.is_none(), evidence);
    }
}

fn conclude(cells: &[Cell], results: &mut Results) {
    let two = |processing, least: usize, most: usize| -> Vec<(&'static str, f64)> {
        let is = move |row: &Row| {
            row.nodes == 2 && row.processing == processing && (least..=most).contains(&row.words)
        };
        let found = cells.iter().filter(move |cell| is(cell.row));
        let by = |cell: &Cell| cell.trad.as_ref().map_or(f64::NAN, |t| delta(t.0, cell.care.0));
        found.map(|cell| (cell.row.ids[2], by(cell))).collect()
    };
    let longer = |cells: &[(&str, f64)]| cells.iter().all(|cell| cell.1 > 0.0);
    let (all, one, large) = (two(false, 1, 2000), two(true, 1, 1), two(true, 1000, 2000));
    results.statement("CP-T3-order-noproc", longer(&all), listed(&all));
    results.statement("CP-T3-order-1w", longer(&one), listed(&one));
    let shorter = large.iter().all(|cell| cell.1 < 0.0);
    results.statement("CP-6-fl-proc", shorter, listed(&large));
    let worst = all.iter().chain(&one).chain(&large).map(|cell| cell.1).fold(f64::MIN, f64::max);
    results.figure("CP-6-fl-worse", Quantity::Count(worst));

    let many: Vec<&Cell> = cells.iter().filter(|cell| cell.row.nodes > 2).collect();
    let ended = many.iter().filter(|cell| cell.trad.is_some()).count();
    let evidence = format!("{ended} of {} cells of four and eight nodes ended", many.len());
    results.statement("CP-6-fl-livelock", 2 * ended < many.len(), evidence.clone());
    results.statement("CP-6-fl-missing", ended == 1, evidence);
    let copies = |nodes: &[Statistics]| nodes.iter().map(|s| s.copied_on_receipt).sum::<u64>();
    let pair = cells.iter().filter(|cell| cell.row.nodes == 2);
    let sums = pair.fold((0, 0), |(trad, care), cell| {
        let of_trad = cell.trad.as_ref().map_or(0, |(_, nodes)| copies(nodes));
        (trad + of_trad, care + copies(&cell.care.1))
    });
    let evidence =
        format!("two nodes, fragments copied out: traditional {}, careful {}", sums.0, sums.1);
    results.statement("CP-6-fl-why", sums.0 == 0 && sums.1 > 0, evidence);
}
