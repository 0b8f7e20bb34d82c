//! Counters of the PCs under the four programs (Pupa 3.3, table 3), beside the paper.

use super::programs::{Column, PROGRAMS, run};
use super::testbed::{MACHINE, SEND_POOL_BYTES};
use crate::claim::Claim;
use crate::conditions::{Conditions, PupaConditions};
use crate::counter::Counter;
use crate::experiment::{Experiment, Setting};
use crate::results::{Quantity, Results, listed};
use anyhow::Result;

/// Kbytes of the send pools.
const POOLS: [(&str, usize); 2] = [("64K", SEND_POOL_BYTES), ("48K", SEND_POOL_BYTES / 4 * 3)];

const fn count(id: &'static str) -> Claim {
    Claim::figure(id).percent(25.0)
}

const fn paced(id: &'static str) -> Claim {
    count(id).misses(PACE)
}

const fn marked(id: &'static str) -> Claim {
    count(id).misses(MARKS)
}

const fn burst(id: &'static str) -> Claim {
    count(id).misses(BURSTS)
}

const fn multicast(id: &'static str) -> Claim {
    count(id).misses(MULTICASTS)
}

/// Reason why timers acknowledge less.
const PACE: &str = "a PC sends here what it has to send in a step at once, and the timer acknowledges all of that together; \
    when the paper's programs sent is not printed, but that they have more acknowledgements than the pool accounts for (64 \
    Kbyte make hardly fewer than 48) says: one by one, further apart than the 10 ms of the timer";

/// Reason why other programs are short of buffers.
const MARKS: &str = "how many packets of a step are under way at once, and from how many free buffers on a sender asks, are not \
    printed: with the preset's marks (a quarter and a half) this program's steps are those that pass the low one; with a lower one \
    fewer do";

/// Reason why a loss costs more packets.
const BURSTS: &str = "a handful of losses, at random; each makes all packets come out of order that were under way behind it, \
    some ten here, one or two in the paper";

/// Reason why a loss costs fewer packets.
const MULTICASTS: &str = "the paper's Ethernet lost other packets than most: 54 multicasts among GEL's 91, each asked for again by nine PCs, make \
    its 486; here every packet is as likely to be lost, and one of 14 is a multicast. That a multicast is lost for all nine, or \
    nine times as likely for one of them, comes to the same";

/// Counter-experiments: what is suspected of the misses, turned.
const COUNTERS: &[Counter] = &[
    Counter {
        ids: &[
            "PU-T3-acksent-LES-64K",
            "PU-T3-vack-LES-64K",
            "PU-T3-pktsent-GEL-64K",
            "PU-T3-acksent-GEL-64K",
            "PU-T3-vack-GEL-64K",
            "PU-T3-pktsent-GEL-48K",
            "PU-T3-acksent-GEL-48K",
            "PU-T3-vack-GEL-48K",
        ],
        turned: "a PC computes 12 ms before each message of a step, longer than the timer's 10",
        conditions: Conditions {
            pupa: PupaConditions { pause_us: 12_000.0, ..Conditions::STATED.pupa },
            ..Conditions::STATED
        },
    },
    Counter {
        ids: &[
            "PU-T3-acksent-LES-48K",
            "PU-T3-vack-LES-48K",
            "PU-T3-vack-LRS-64K",
            "PU-T3-pktsent-LRS-48K",
            "PU-T3-acksent-LRS-48K",
            "PU-T3-vack-LRS-48K",
            "PU-T3-acksent-SRS-64K",
            "PU-T3-vack-SRS-64K",
            "PU-T3-pktsent-SRS-48K",
            "PU-T3-acksent-SRS-48K",
            "PU-T3-vack-SRS-48K",
            "PU-33-best",
        ],
        turned: "a sender asks when less than a tenth of its buffers is free, not a quarter",
        conditions: Conditions {
            pupa: PupaConditions { low_water_percent: 10, ..Conditions::STATED.pupa },
            ..Conditions::STATED
        },
    },
    Counter {
        ids: &[
            "PU-T3-vnack-LRS-64K",
            "PU-T3-rexmit-LRS-64K",
            "PU-T3-ooo-LRS-64K",
            "PU-T3-vnack-LRS-48K",
            "PU-T3-rexmit-LRS-48K",
            "PU-T3-ooo-LRS-48K",
            "PU-T3-ooo-SRS-48K",
            "PU-33-ooo",
            "PU-33-ooofix",
        ],
        turned: "a PC computes 1 ms before each message of a step, so that fewer are under way",
        conditions: Conditions {
            pupa: PupaConditions { pause_us: 1000.0, ..Conditions::STATED.pupa },
            ..Conditions::STATED
        },
    },
    Counter {
        ids: &[
            "PU-T3-vnack-SRS-64K",
            "PU-T3-vnack-SRS-48K",
            "PU-T3-vnack-GEL-64K",
            "PU-T3-rexmit-GEL-64K",
            "PU-T3-ooo-GEL-64K",
            "PU-T3-vnack-GEL-48K",
            "PU-T3-rexmit-GEL-48K",
            "PU-T3-ooo-GEL-48K",
        ],
        turned: "a multicast is one frame of the Ethernet, which is lost for all nine or for none",
        conditions: Conditions { machine: "medium.multicast = true", ..Conditions::STATED },
    },
];

/// Rows that are not predicted.
const INPUTS: &str = "Rows 2, 4, 7, 9 and 12 to 14 of table 3 are what the programs are made from, and the losses: the simulated \
    segment has no collisions. How many steps the programs had, and how long they computed, is assumed.";

macro_rules! claims {
    ($($claim:ident: $($id:literal)*;)*) => { [$($($claim($id),)*)*] };
}

/// Every row that is not an input.
const TABLE: [Claim; 56] = claims! {
    count:
        "PU-T3-pktsent-LES-64K"
        "PU-T3-vnack-LES-64K"
        "PU-T3-rexmit-LES-64K"
        "PU-T3-overflow-LES-64K"
        "PU-T3-ooo-LES-64K"
        "PU-T3-pktsent-LES-48K"
        "PU-T3-vnack-LES-48K"
        "PU-T3-rexmit-LES-48K"
        "PU-T3-overflow-LES-48K"
        "PU-T3-ooo-LES-48K"
        "PU-T3-pktsent-LRS-64K"
        "PU-T3-acksent-LRS-64K"
        "PU-T3-overflow-LRS-64K"
        "PU-T3-overflow-LRS-48K"
        "PU-T3-pktsent-SRS-64K"
        "PU-T3-overflow-SRS-64K"
        "PU-T3-ooo-SRS-64K"
        "PU-T3-rexmit-SRS-64K"
        "PU-T3-rexmit-SRS-48K"
        "PU-T3-overflow-SRS-48K"
        "PU-T3-overflow-GEL-64K"
        "PU-T3-overflow-GEL-48K";
    paced:
        "PU-T3-acksent-LES-64K"
        "PU-T3-vack-LES-64K"
        "PU-T3-pktsent-GEL-64K"
        "PU-T3-acksent-GEL-64K"
        "PU-T3-vack-GEL-64K"
        "PU-T3-pktsent-GEL-48K"
        "PU-T3-acksent-GEL-48K"
        "PU-T3-vack-GEL-48K";
    marked:
        "PU-T3-acksent-LES-48K"
        "PU-T3-vack-LES-48K"
        "PU-T3-vack-LRS-64K"
        "PU-T3-pktsent-LRS-48K"
        "PU-T3-acksent-LRS-48K"
        "PU-T3-vack-LRS-48K"
        "PU-T3-acksent-SRS-64K"
        "PU-T3-vack-SRS-64K"
        "PU-T3-pktsent-SRS-48K"
        "PU-T3-acksent-SRS-48K"
        "PU-T3-vack-SRS-48K";
    burst:
        "PU-T3-vnack-LRS-64K"
        "PU-T3-rexmit-LRS-64K"
        "PU-T3-ooo-LRS-64K"
        "PU-T3-vnack-LRS-48K"
        "PU-T3-rexmit-LRS-48K"
        "PU-T3-ooo-LRS-48K"
        "PU-T3-ooo-SRS-48K";
    multicast:
        "PU-T3-vnack-SRS-64K"
        "PU-T3-vnack-SRS-48K"
        "PU-T3-vnack-GEL-64K"
        "PU-T3-rexmit-GEL-64K"
        "PU-T3-ooo-GEL-64K"
        "PU-T3-vnack-GEL-48K"
        "PU-T3-rexmit-GEL-48K"
        "PU-T3-ooo-GEL-48K";
};

const FINDINGS: [Claim; 8] = [
    Claim::statement("PU-33-worst"),
    Claim::statement("PU-33-best").misses(MARKS),
    Claim::statement("PU-33-lrs"),
    Claim::statement("PU-33-pool"),
    Claim::statement("PU-33-full"),
    Claim::statement("PU-33-overflow"),
    Claim::statement("PU-33-ooofix").misses(BURSTS),
    Claim::figure("PU-33-ooo").percent(25.0).misses(BURSTS),
];

/// Both, one after the other.
const fn all() -> [Claim; TABLE.len() + FINDINGS.len()] {
    let mut claims = [TABLE[0]; TABLE.len() + FINDINGS.len()];
    let mut i = 0;
    while i < claims.len() {
        claims[i] = if i < TABLE.len() { TABLE[i] } else { FINDINGS[i - TABLE.len()] };
        i += 1;
    }
    claims
}

/// The experiment.
pub struct Programs;

impl Experiment for Programs {
    fn name(&self) -> &'static str {
        "pupa-programs"
    }

    fn title(&self) -> &'static str {
        "Four programs on ten PCs (3.3, table 3)"
    }

    fn notes(&self) -> &'static str {
        INPUTS
    }

    fn machines(&self) -> &'static [&'static str] {
        &[MACHINE]
    }

    fn claims(&self) -> &'static [Claim] {
        const { &all() }
    }

    fn settings(&self) -> &'static [Setting] {
        &[
            Setting("PU-33-progs", "four"),
            Setting("PU-33-nodes", "10"),
            Setting("PU-33-approx", "approximate"),
            Setting("PU-33-pool64", "64"),
            Setting("PU-33-pool48", "48"),
            Setting("PU-1-ooo", "drop and NACK"),
            Setting("PU-2-nack", "next expected number"),
            Setting("PU-2-sca-low", "two water marks"),
            Setting("PU-2-sca-sec", "request to all"),
            Setting("PU-2-bcast", "50"),
            Setting("PU-2-inorder", "in-order only"),
        ]
    }

    fn counters(&self) -> &'static [Counter] {
        COUNTERS
    }

    fn run(&self, results: &mut Results) -> Result<()> {
        let mut columns = Vec::new();
        for program in &PROGRAMS {
            for ((pool, bytes), lost) in POOLS.into_iter().zip(program.lost) {
                let column = run(program, bytes, lost)?;
                rows(self.claims(), &format!("{}-{pool}", program.name), &column, results);
                columns.push(column);
            }
        }
        findings(&columns, results);
        larger_pool(&columns, results)
    }
}

fn rows(claims: &[Claim], name: &str, column: &Column, results: &mut Results) {
    for (row, value) in [
        ("pktsent", column.packets),
        ("acksent", column.acknowledgements),
        ("vack", column.valid),
        ("vnack", column.nacks),
        ("rexmit", column.retransmitted),
        ("overflow", column.overflows),
        ("ooo", column.out_of_order),
    ] {
        let id = format!("PU-T3-{row}-{name}");
        if let Some(claim) = claims.iter().find(|claim| claim.id == id) {
            results.figure(claim.id, Quantity::Count(value));
        }
    }
}

/// Out-of-order arrivals with half as large a pool again, and the losses of the default one.
fn larger_pool(columns: &[Column], results: &mut Results) -> Result<()> {
    let mut named = Vec::new();
    let (mut fewer, defaults) = (true, columns.iter().step_by(POOLS.len()));
    for (program, with_default) in PROGRAMS.iter().zip(defaults) {
        let column = run(program, SEND_POOL_BYTES / 2 * 3, program.lost[0])?;
        fewer &= column.out_of_order <= with_default.out_of_order;
        named.push((program.name, with_default.out_of_order));
        named.push(("96 Kbyte", column.out_of_order));
    }
    results.statement("PU-33-ooofix", fewer, format!("out of order, {}", listed(&named)));
    Ok(())
}

/// Findings of the paper about the table: about the columns with 64 and 48 Kbyte of each program in
/// turn.
fn findings(columns: &[Column], results: &mut Results) {
    let names = PROGRAMS.map(|program| program.name);
    let of = |pool: usize, value: &dyn Fn(&Column) -> f64| -> Vec<(&str, f64)> {
        let columns = columns.iter().skip(pool).step_by(2);
        names.into_iter().zip(columns.map(value)).collect()
    };
    let shares = of(0, &Column::share);
    let (lrs, srs) = (shares[1].1, shares[2].1);
    let evidence = format!("packets with acknowledgements only, of all: {}", listed(&shares));
    let within = |share: f64, paper: f64| (share - paper).abs() <= 0.25 * paper;
    results.statement("PU-33-worst", within(lrs, 0.5), evidence.clone());
    results.statement("PU-33-best", within(srs, 0.25), evidence.clone());
    results.statement("PU-33-lrs", shares.iter().all(|(_, share)| *share <= lrs), evidence);
    let (large, small) = (of(0, &|at| at.acknowledgements), of(1, &|at| at.acknowledgements));
    let more = large.iter().zip(&small).all(|(large, small)| large.1 < small.1);
    let evidence = format!(
        "acknowledgement packets with 64 Kbyte: {}; with 48: {} (losses are an input)",
        listed(&large),
        listed(&small)
    );
    results.statement("PU-33-pool", more, evidence);
    let asked = of(0, &|at| at.asked / at.acknowledgements);
    let evidence = format!("of the acknowledgements, asked for: {}", listed(&asked));
    results.statement("PU-33-full", asked[1].1 > 0.5, evidence);
    let overflows = columns.iter().map(|column| column.overflows).sum::<f64>();
    results.statement("PU-33-overflow", overflows == 0.0, format!("{overflows} in all runs"));
    let most = columns.iter().map(|column| column.out_of_order / column.received * 100.0);
    results.figure("PU-33-ooo", Quantity::Count(most.fold(0.0, f64::max)));
}
