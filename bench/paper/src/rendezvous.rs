//! Rendezvous as careful-protocols 3 and 7 tell of NX/2, measured: messages whose receivers are
//! asked first beside those that are sent at once, on the thesis's cluster.
//!
//! No paper prints figures to lay beside these, so this is no [`crate::Experiment`]: it measures,
//! and writes a page of its own.

mod page;

pub use page::{PAGES, pages};

use anyhow::{Context, Result, anyhow};
use std::time::Duration;
use weft::{Mailbox, Rank, Weft};
use weft_simulator::{MachineModel, Options, Simulation};

/// Ranks that send to one that does not read.
pub const SENDERS: u16 = 15;
/// Time for which the receiver does not read.
const UNREAD_FOR: Duration = Duration::from_millis(400);
/// Round trips, or messages in a row.
const MESSAGES: u64 = 8;

/// Results of one size, under one policy.
#[derive(Clone, Copy, Debug)]
pub struct Seen {
    /// One way of a message to a rank that waits for it, until it has read all.
    pub latency_us: f64,
    /// Messages in a row to a rank that reads them: Mbyte/s of 10^6.
    pub throughput: f64,
    /// Bytes that a receiver holds of what [`SENDERS`] ranks sent it and it has not read, one
    /// message each.
    pub unread_bytes: f64,
}

/// Messages of `bytes` bytes, at once or asking first.
///
/// # Errors
/// What a rank or the simulator says.
pub fn run(bytes: usize, rendezvous: bool) -> Result<Seen> {
    let measure = |ranks, program: fn(&Weft, &Mailbox, &[u8]) -> weft::Result<f64>| {
        let machine = MachineModel::named("myrinet")?;
        let simulation = Simulation::new(Options::on(machine, ranks))?;
        let report = simulation.run_joined(move |weft| {
            let program = || {
                let mailbox = weft.mailbox("rendezvous")?;
                mailbox.rendezvous_from(rendezvous.then_some(1));
                weft.barrier()?;
                let value = program(&weft, &mailbox, &vec![7; bytes])?;
                weft.barrier()?;
                Ok::<_, weft::Error>(value)
            };
            program().map_err(|error| error.to_string())
        });
        let values = report.into_values().map_err(|what| anyhow!(what))?;
        Ok::<_, anyhow::Error>(values[0])
    };
    let context = || format!("{bytes} bytes, rendezvous {rendezvous}");
    Ok(Seen {
        latency_us: measure(2, latency).with_context(context)?,
        throughput: measure(2, throughput).with_context(context)?,
        unread_bytes: measure(SENDERS + 1, unread).with_context(context)?,
    })
}

fn latency(weft: &Weft, mailbox: &Mailbox, bytes: &[u8]) -> weft::Result<f64> {
    let start = weft.now();
    for _ in 0..MESSAGES {
        if weft.rank() == 0 {
            mailbox.send(Rank(1), bytes)?;
        }
        mailbox.receive()?.skip(bytes.len())?;
        if weft.rank() == 1 {
            mailbox.send(Rank(0), bytes)?;
        }
    }
    Ok((weft.now() - start).as_secs_f64() * 1e6 / (2 * MESSAGES) as f64)
}

fn throughput(weft: &Weft, mailbox: &Mailbox, bytes: &[u8]) -> weft::Result<f64> {
    let start = weft.now();
    for _ in 0..MESSAGES {
        match weft.rank() {
            Rank(0) => mailbox.send(Rank(1), bytes)?,
            _ => mailbox.receive()?.skip(bytes.len())?,
        }
    }
    let done = weft.mailbox("done")?;
    match weft.rank() {
        Rank(0) => drop(done.receive()?),
        _ => done.send(Rank(0), "")?,
    }
    Ok(MESSAGES as f64 * bytes.len() as f64 / ((weft.now() - start).as_secs_f64() * 1e6))
}

fn unread(weft: &Weft, mailbox: &Mailbox, bytes: &[u8]) -> weft::Result<f64> {
    if weft.rank() != 0 {
        mailbox.send(Rank(0), bytes)?;
        return Ok(0.0);
    }
    // It takes what comes, and reads none of it.
    weft.block_on(weft.sleep(UNREAD_FOR))?;
    let statistics = weft.statistics();
    let in_frames = statistics.packets_unread * weft.packets().max_payload() as u64;
    for _ in 0..SENDERS {
        mailbox.receive()?.skip(bytes.len())?;
    }
    Ok((in_frames + statistics.bytes_copied_out) as f64)
}
