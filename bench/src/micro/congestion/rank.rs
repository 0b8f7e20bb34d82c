//! A rank's part: rank 0 receives, and all others send to it, or ask it.

use super::board::{Board, Interval, now};
use crate::micro::bandwidth::xor_up;
use crate::micro::launch::Spec;
use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use weft::{Mailbox, Rank, Weft};

/// The receiver.
const RECEIVER: Rank = Rank(0);
/// Length of the message with which a sender ends.
const END: usize = 1;
/// Payload of a small message.
const SMALL: &[u8] = &[7; 8];

/// Activity of a job's senders.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Activity {
    /// Messages one after the other.
    Stream,
    /// Small messages that are answered, one by one.
    Small,
    /// Both.
    Both,
}

/// Place of a rank in a measurement; set by the launcher.
#[derive(Args, Clone, Debug, Default)]
pub struct Seat {
    /// Folder of what ranks leave
    #[arg(long, hide = true)]
    board: Option<PathBuf>,
    /// Name of the job
    #[arg(long, hide = true)]
    job: Option<String>,
    /// Activity of senders
    #[arg(long, hide = true)]
    activity: Option<Activity>,
}

/// Figures of the rank that receives.
#[derive(Serialize, Deserialize, Debug, Default)]
pub struct Received {
    /// User bytes of each sender while figures counted.
    pub bytes: Vec<u64>,
}

/// Figures of a rank that sends.
#[derive(Serialize, Deserialize, Debug, Default)]
pub struct Sent {
    /// Times there and back of small messages, in nanoseconds.
    pub round_trips: Vec<f64>,
    /// Packets that were sent again.
    pub again: u64,
}

/// A rank's part.
///
/// # Errors
/// It could not join, or another rank was lost.
pub fn rank(spec: &Spec) -> Result<()> {
    let weft = weft::join()?;
    weft.share_among_threads();
    let Seat { board, job, activity } = &spec.seat;
    let board = Board::at(board.as_deref().context("ranks are started by `weft bench`")?);
    let job = job.as_deref().unwrap_or_default();
    let bulk = weft.mailbox("bulk")?;
    let answer = |request: weft::Request| {
        // A lost rank shows at the next poll.
        let _ = request.reply("");
    };
    let receives = weft.rank() == RECEIVER;
    let _service = receives.then(|| weft.service("small", answer)).transpose()?;
    weft.barrier()?;
    if receives {
        board.be_ready(job)?;
    }
    let interval = board.await_begin(|| Ok(weft.poll().map(drop)?))?;
    if receives {
        let senders = weft.size() - 1;
        board.put(&format!("{job}.received"), &receive(&bulk, senders, interval)?)?;
    } else {
        let sent = send(&weft, &bulk, spec, activity.unwrap_or(Activity::Stream), interval)?;
        board.put(&format!("{job}.sent.{}", weft.rank().0), &sent)?;
    }
    Ok(weft.leave()?)
}

/// Receives until all senders have ended.
fn receive(bulk: &Mailbox, senders: usize, interval: Interval) -> Result<Received> {
    let (mut bytes, mut ended) = (vec![0; senders], 0);
    while ended < senders {
        let mut message = bulk.receive()?;
        let sender = message.source().index() - 1;
        ended += usize::from(message.len() == END);
        while message.remaining() > 0 {
            let chunk = message.chunk()?;
            std::hint::black_box(xor_up(chunk));
            let length = chunk.len();
            bytes[sender] += if interval.contains(now()) { length as u64 } else { 0 };
            message.consume(length);
        }
    }
    Ok(Received { bytes })
}

fn send(
    weft: &Weft,
    bulk: &Mailbox,
    spec: &Spec,
    activity: Activity,
    interval: Interval,
) -> Result<Sent> {
    let round_trips = std::thread::scope(|scope| -> Result<Vec<f64>> {
        let stream = (activity != Activity::Small)
            .then(|| scope.spawn(|| stream(bulk, spec.size(), interval)));
        let asked = match activity {
            Activity::Stream => Ok(Vec::new()),
            Activity::Small | Activity::Both => ask(weft, interval),
        };
        let streamed = stream.map(|thread| thread.join());
        streamed.unwrap_or(Ok(Ok(()))).unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        asked
    })?;
    bulk.send(RECEIVER, &[0; END])?;
    let again = weft.packets().statistics().protocol.retransmissions;
    Ok(Sent { round_trips, again })
}

fn stream(bulk: &Mailbox, size: usize, interval: Interval) -> Result<()> {
    let data = vec![7; size];
    while now() < interval.until {
        bulk.send(RECEIVER, &data)?;
    }
    Ok(())
}

/// Asks again and again; the times that it took, of calls that ended while figures counted or
/// later. The last does, however long it takes.
fn ask(weft: &Weft, interval: Interval) -> Result<Vec<f64>> {
    let client = weft.client("small")?;
    let mut round_trips = Vec::new();
    loop {
        let start = now();
        if start >= interval.until {
            return Ok(round_trips);
        }
        client.call(RECEIVER, SMALL)?.wait()?;
        let end = now();
        if end >= interval.from {
            round_trips.push((end - start) as f64);
        }
    }
}
