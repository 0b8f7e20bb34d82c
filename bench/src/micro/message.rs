//! One way of a message between ports, beside a packet on the same node.
//!
//! Ping-pong in handlers, and once more with a mailbox that is asked for messages. The floor is the
//! same ping-pong in packet upcalls, in the same run, in turns: what is above 1 is what messages
//! cost.

use crate::micro::arena::Arena;
use crate::micro::launch::Spec;
use crate::micro::report::Row;
use anyhow::Result;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;
use weft::{Mailbox, Packets, Port, Rank, Weft};

/// Round trips in a sample.
const BATCH: u64 = 200;

const MET: usize = 0;

pub fn rank(spec: &Spec, arena: &Arena) -> Result<()> {
    let weft = weft::join()?;
    let payload = vec![7; spec.size()];
    let raw = Raw::new(&weft, spec.size());
    let handlers = Handlers::new(&weft)?;
    let mailbox = weft.mailbox("mailbox")?;
    let (mut handled, mut received, mut floor) = (Vec::new(), Vec::new(), Vec::new());
    let mut meetings = 0;
    let mut meet = || {
        meetings += weft.size() as u64;
        arena.word(MET).fetch_add(1, Ordering::SeqCst);
        while arena.word(MET).load(Ordering::SeqCst) < meetings {
            std::hint::spin_loop();
        }
    };
    for round in 0..spec.rounds as u64 {
        meet();
        floor.push(timed(|| raw.round(round, &payload))?);
        meet();
        handled.push(timed(|| handlers.round(&weft, round, &payload))?);
        meet();
        received.push(timed(|| receive_round(&weft, &mailbox, &payload))?);
    }
    meet();
    if weft.rank() == 0 {
        for (name, samples) in [("message", handled), ("message-mailbox", received)] {
            let floors = vec![("packet", floor.clone())];
            Row::new(name, (weft.size(), spec.size()), "ns", samples, floors).print(spec);
        }
    }
    Ok(weft.leave()?)
}

/// Nanoseconds one way, if `round` is a round of so many round trips.
fn timed(round: impl FnOnce() -> Result<()>) -> Result<f64> {
    let start = Instant::now();
    round()?;
    Ok(start.elapsed().as_nanos() as f64 / (2 * BATCH) as f64)
}

/// Packets on the node of a rank that has messages as well: in turns, never at once.
struct Raw {
    packets: Packets,
    arrived: Arc<AtomicU64>,
}

impl Raw {
    fn new(weft: &Weft, size: usize) -> Self {
        let packets = weft.packets().clone();
        let arrived = Arc::new(AtomicU64::new(0));
        let (count, echo) = (Arc::clone(&arrived), packets.clone());
        let echoes = packets.rank() == 1;
        packets.on_packet(move |packet| {
            // A report of the last round's windows may still be on its way.
            if packet.len() != size {
                return;
            }
            if echoes {
                // A lost rank shows at the next poll.
                let _ = launch(&echo, packet.source(), &packet);
            }
            count.store(count.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        });
        Raw { packets, arrived }
    }

    fn round(&self, round: u64, payload: &[u8]) -> Result<()> {
        // The upcall thread would take packets for messages.
        let _off = self.packets.interrupts_off();
        for trip in round * BATCH..(round + 1) * BATCH {
            if self.packets.rank() == 0 {
                launch(&self.packets, Rank(1), payload)?;
            }
            self.packets.poll_until(|| self.arrived.load(Ordering::Relaxed) > trip)?;
        }
        Ok(())
    }
}

fn launch(packets: &Packets, to: Rank, bytes: &[u8]) -> Result<(), weft::Error> {
    let mut packet = packets.packet()?;
    packet.put(bytes)?;
    packet.unicast(to)?;
    Ok(())
}

/// Two ports whose handlers answer each other.
struct Handlers {
    ping: Arc<Port>,
    arrived: Arc<AtomicU64>,
}

impl Handlers {
    fn new(weft: &Weft) -> Result<Self> {
        let arrived = Arc::new(AtomicU64::new(0));
        let count = |arrived: &AtomicU64| {
            arrived.store(arrived.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        };
        let at_pong = Arc::clone(&arrived);
        let pong = weft.port("pong", move |message| {
            drop(message);
            count(&at_pong);
        })?;
        let at_ping = Arc::clone(&arrived);
        let ping = weft.port("ping", move |mut message| {
            let from = message.source();
            if let Ok(bytes) = message.chunk() {
                // A lost rank shows at the next poll.
                let _ = pong.send(from, bytes);
            }
            count(&at_ping);
        })?;
        Ok(Handlers { ping: Arc::new(ping), arrived })
    }

    fn round(&self, weft: &Weft, round: u64, payload: &[u8]) -> Result<()> {
        for trip in round * BATCH..(round + 1) * BATCH {
            if weft.rank() == 0 {
                self.ping.send(Rank(1), payload)?;
            }
            weft.poll_until(|| self.arrived.load(Ordering::Relaxed) > trip)?;
        }
        Ok(())
    }
}

fn receive_round(weft: &Weft, mailbox: &Mailbox, payload: &[u8]) -> Result<()> {
    let other = Rank(1 - weft.rank().0);
    for _ in 0..BATCH {
        if weft.rank() == 0 {
            mailbox.send(other, payload)?;
            drop(mailbox.receive()?);
        } else {
            let mut message = mailbox.receive()?;
            mailbox.send(other, message.chunk()?)?;
        }
    }
    Ok(())
}
