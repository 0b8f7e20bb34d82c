//! Four programs on ten PCs, with a large and a small pool of send buffers (Pupa 3.3, table 3).
//!
//! The paper prints how many messages the programs sent and received, and how many of these were in
//! which buffers: from that they are made here. What follows is predicted: how many packets,
//! acknowledgements and retransmissions that takes.

use super::testbed::{PRIMARY_BYTES, SECONDARY_BYTES, Testbed, take};
use crate::conditions::conditions;
use crate::experiments::pupa::testbed::PACKET_BYTES;
use anyhow::Result;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use weft_endpoint::{Packets, Rank, Statistics};

/// PCs (3.3).
pub const RANKS: u16 = 10;
/// Computation of every PC in a step, in microseconds: assumed, two expirations of the timer.
const COMPUTE_US: f64 = 20_000.0;
/// Bytes of a message in each kind of buffer: assumed, what is usual and the most of it.
const SMALL_BYTES: usize = PRIMARY_BYTES / 2;
const MIDDLE_BYTES: usize = SECONDARY_BYTES;
const LARGE_BYTES: usize = PACKET_BYTES;

/// Communication pattern.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pattern {
    /// PCs in a row, each to the one before and the one behind.
    Neighbours,
    /// Each to all others.
    All,
    /// All others to one: the first, or each in its turn.
    ToRoot {
        /// Each in its turn.
        turns: bool,
    },
    /// One to all others by multicast: each in its turn.
    Broadcast,
}

/// Messages of one kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Traffic {
    /// Communication pattern.
    pub pattern: Pattern,
    /// Messages sent.
    pub messages: u64,
    /// Bytes of each.
    pub bytes: usize,
}

/// A program, as far as its messages go.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Program {
    /// Name in table 3.
    pub name: &'static str,
    /// Steps of all PCs, in each of which each waits for what it is sent.
    pub steps: u64,
    /// Its messages, spread evenly.
    pub traffic: [Traffic; 4],
    /// Packets that the network lost, of those sent: with 64 and with 48 Kbyte.
    pub lost: [(f64, f64); 2],
}

const fn traffic(pattern: Pattern, messages: u64, bytes: usize) -> Traffic {
    Traffic { pattern, messages, bytes }
}

const TO_FIRST: Pattern = Pattern::ToRoot { turns: false };
const TO_OWNER: Pattern = Pattern::ToRoot { turns: true };

/// The programs, from rows 1, 2, 7, 9 and 12 to 14 of table 3. Of small messages, as many are
/// multicasts as make up for what was received more than sent. Each PC sends one in a step, which
/// says how many steps there were. In GEL they are rows of a matrix: 16,790 packets are those of
/// one of 2,455 rows.
pub const PROGRAMS: [Program; 4] = [
    Program {
        name: "LES",
        steps: 170,
        traffic: [
            traffic(Pattern::Neighbours, 47_010, LARGE_BYTES),
            traffic(Pattern::Neighbours, 0, MIDDLE_BYTES),
            traffic(TO_FIRST, 12_850, SMALL_BYTES),
            traffic(Pattern::Broadcast, 1_697, SMALL_BYTES),
        ],
        lost: [(0.0, 91_008.0), (0.0, 91_755.0)],
    },
    Program {
        name: "LRS",
        steps: 34,
        traffic: [
            traffic(Pattern::All, 37_010, LARGE_BYTES),
            traffic(Pattern::All, 0, MIDDLE_BYTES),
            traffic(TO_FIRST, 1_023, SMALL_BYTES),
            traffic(Pattern::Broadcast, 344, SMALL_BYTES),
        ],
        lost: [(5.0, 76_771.0), (33.0, 105_371.0)],
    },
    Program {
        name: "SRS",
        steps: 192,
        traffic: [
            traffic(Pattern::Neighbours, 57_659, LARGE_BYTES),
            traffic(Pattern::Neighbours, 129_291, MIDDLE_BYTES),
            traffic(TO_FIRST, 5_871, SMALL_BYTES),
            traffic(Pattern::Broadcast, 1_921, SMALL_BYTES),
        ],
        lost: [(4.0, 258_176.0), (10.0, 261_659.0)],
    },
    Program {
        name: "GEL",
        steps: 2_455,
        traffic: [
            traffic(Pattern::Broadcast, 16_790, LARGE_BYTES),
            traffic(TO_OWNER, 14_390, MIDDLE_BYTES),
            traffic(TO_OWNER, 202_343, SMALL_BYTES),
            traffic(Pattern::Broadcast, 0, SMALL_BYTES),
        ],
        lost: [(91.0, 448_811.0), (150.0, 492_081.0)],
    },
];

/// One message of a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Message {
    /// From whom.
    pub from: u16,
    /// To whom; to all others if nobody is named.
    pub to: Option<u16>,
    /// Bytes.
    pub bytes: usize,
}

impl Traffic {
    /// Its messages in step `step` of `steps`.
    fn messages(&self, step: u64, steps: u64) -> impl Iterator<Item = Message> + '_ {
        let bytes = self.bytes;
        let until = |step: u64| step * self.messages / steps;
        let pairs = self.pattern.pairs(step);
        (until(step)..until(step + 1)).map(move |i| {
            let (from, to) = pairs[(i % pairs.len() as u64) as usize];
            Message { from, to, bytes }
        })
    }
}

impl Pattern {
    /// Senders and receivers in `step`.
    fn pairs(self, step: u64) -> Vec<(u16, Option<u16>)> {
        let turn = (step % u64::from(RANKS)) as u16;
        let others = |of: u16| (1..RANKS).map(move |i| (of + i) % RANKS);
        match self {
            Pattern::Neighbours => {
                let up = (1..RANKS).map(|rank| (rank - 1, Some(rank)));
                up.chain((1..RANKS).map(|rank| (rank, Some(rank - 1)))).collect()
            }
            Pattern::All => (1..RANKS)
                .flat_map(|i| (0..RANKS).map(move |rank| (rank, Some((rank + i) % RANKS))))
                .collect(),
            Pattern::ToRoot { turns } => {
                let root = if turns { turn } else { 0 };
                others(root).map(|rank| (rank, Some(root))).collect()
            }
            Pattern::Broadcast => vec![(turn, None)],
        }
    }
}

impl Program {
    /// Messages of each step.
    pub fn steps(&self) -> Vec<Vec<Message>> {
        let step = |step| {
            self.traffic.iter().flat_map(|traffic| traffic.messages(step, self.steps)).collect()
        };
        (0..self.steps).map(step).collect()
    }
}

/// A column of table 3, as far as it is no input.
#[derive(Clone, Copy, Default, PartialEq, Debug)]
pub struct Column {
    /// Row 1: packets sent, a multicast once.
    pub packets: f64,
    /// Row 3: of these, those with acknowledgements only.
    pub acknowledgements: f64,
    /// Row 5.
    pub valid: f64,
    /// Row 6.
    pub nacks: f64,
    /// Row 8.
    pub retransmitted: f64,
    /// Row 10.
    pub overflows: f64,
    /// Row 11.
    pub out_of_order: f64,
    /// Messages received, all retransmissions left out.
    pub received: f64,
    /// Times that acknowledgements were asked for and sent.
    pub asked: f64,
}

impl Column {
    fn new(statistics: &[Statistics], messages: usize) -> Self {
        let sum =
            |of: fn(&Statistics) -> u64| -> f64 { statistics.iter().map(of).sum::<u64>() as f64 };
        let retransmitted = sum(|rank| rank.protocol.retransmissions);
        let acknowledgements = sum(|rank| {
            let counters = rank.protocol;
            counters.explicit_acknowledgements + counters.nacks + counters.requests
        });
        Column {
            packets: messages as f64 + retransmitted + acknowledgements,
            acknowledgements,
            valid: sum(|rank| rank.protocol.acknowledgements_received),
            nacks: sum(|rank| rank.protocol.nacks_received),
            retransmitted,
            overflows: sum(|rank| rank.protocol.no_buffer),
            out_of_order: sum(|rank| rank.protocol.out_of_sequence),
            received: sum(|rank| rank.protocol.packets_delivered),
            asked: sum(|rank| rank.protocol.acknowledgements_asked),
        }
    }

    /// The part of the packets with acknowledgements only.
    pub fn share(&self) -> f64 {
        self.acknowledgements / self.packets
    }
}

/// Runs `program` with send pools of `pool_bytes`, while the network loses `lost` of so many
/// packets.
///
/// # Errors
/// Those of [`Testbed::run`].
pub fn run(program: &Program, pool_bytes: usize, lost: (f64, f64)) -> Result<Column> {
    let mut testbed = Testbed::new(RANKS)?.with_send_pool(pool_bytes);
    testbed.loss = lost.0 / lost.1;
    let (library, pause_us) = (testbed.library, conditions().pupa.pause_us);
    let steps = program.steps();
    let messages = steps.iter().map(Vec::len).sum();
    let (ran, _) = testbed.run(0, move |packets| {
        let received = Arc::new(AtomicU64::new(0));
        let (counted, at) = (Arc::clone(&received), packets.clone());
        packets.on_packet(move |packet| {
            library.receive(&at, packet.len());
            counted.fetch_add(1, Ordering::Relaxed);
        });
        let rank = packets.rank().0;
        let mut expected = 0;
        for step in &steps {
            take(packets, COMPUTE_US);
            for message in step.iter().filter(|message| message.from == rank) {
                take(packets, pause_us);
                library.send(packets, message.bytes);
                send(packets, message)?;
            }
            let mine = |message: &&Message| match message.to {
                Some(to) => to == rank,
                None => message.from != rank,
            };
            expected += step.iter().filter(mine).count() as u64;
            packets.poll_until(|| received.load(Ordering::Relaxed) >= expected)?;
        }
        Ok(())
    })?;
    Ok(Column::new(&ran.statistics, messages))
}

fn send(packets: &Packets, message: &Message) -> Result<()> {
    let mut packet = packets.packet()?;
    packet.put(&vec![7; message.bytes])?;
    match message.to {
        Some(to) => packet.unicast(Rank(to))?,
        None => packet.broadcast()?,
    }
    Ok(())
}
