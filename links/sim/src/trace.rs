//! Trace of a run: a hash of everything, the last events of each rank, and an observer who sees all
//! of them.

use std::collections::VecDeque;
use std::fmt;
use std::time::Duration;
use weft_link::clock::Nanoseconds;
use weft_trace::TEXT_BYTES;
use weft_wire::{Header, Rank, Tag};

/// Event of a frame or of a rank.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FrameEvent {
    /// It was put on the link.
    Transmitted,
    /// An NI took it from the link.
    Received,
    /// It is in the host's memory.
    Copied,
    /// The network lost it.
    Lost,
    /// The network doubled it.
    Duplicated,
    /// The network held it back, so that others may overtake it.
    Delayed,
    /// The network changed it; the receiver's link noticed, and dropped it.
    Corrupted,
    /// A partition was in its way.
    Cut,
    /// It was for a rank that has crashed.
    Unheard,
    /// The rank took an interrupt.
    Interrupted,
    /// The rank crashed.
    Crashed,
    /// The rank's program ended.
    Ended,
}

impl FrameEvent {
    /// True if it was done on purpose, to break something.
    pub fn is_fault(self) -> bool {
        use FrameEvent::*;
        matches!(self, Lost | Duplicated | Delayed | Corrupted | Cut | Crashed)
    }
}

/// Something that happened.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Happened {
    /// Time of the event.
    pub time: Nanoseconds,
    /// Rank of the event: the transmitter of what is put on the link or meets a fault, else the
    /// receiver.
    pub rank: Rank,
    /// Kind of the event.
    pub what: FrameEvent,
    /// The frame, and the rank at the other end.
    pub frame: Option<(Rank, Header)>,
    /// First user bytes of what is put on the link, or taken from it; zeros behind the last one,
    /// and for other events.
    pub head: [u8; TEXT_BYTES],
}

/// Sees everything as it happens.
pub trait Observer {
    /// This happened.
    fn see(&mut self, happened: &Happened);
}

/// The trace of a run.
pub(crate) struct Trace {
    hash: u64,
    events: u64,
    keep: usize,
    kept: Vec<VecDeque<Happened>>,
    observer: Option<Box<dyn Observer>>,
}

impl Trace {
    /// A trace that keeps the last `keep` events of each of `ranks` ranks.
    pub fn new(ranks: u16, keep: usize, observer: Option<Box<dyn Observer>>) -> Self {
        let kept = if keep == 0 { 0 } else { usize::from(ranks) };
        let kept = (0..kept).map(|_| VecDeque::new()).collect();
        Trace { hash: 0x5745_4654, events: 0, keep, kept, observer }
    }

    pub fn note(
        &mut self,
        time: Nanoseconds,
        rank: Rank,
        what: FrameEvent,
        frame: Option<(Rank, &Header)>,
    ) {
        let frame = frame.map(|(peer, header)| (peer, header, [0; TEXT_BYTES]));
        self.note_frame(time, rank, what, frame);
    }

    /// Notes what happened to a frame whose first user bytes are known.
    pub fn note_frame(
        &mut self,
        time: Nanoseconds,
        rank: Rank,
        what: FrameEvent,
        frame: Option<(Rank, &Header, [u8; TEXT_BYTES])>,
    ) {
        self.events += 1;
        self.mix(time);
        self.mix(u64::from(rank.0) | (what as u64) << 16);
        if let Some((peer, header, _)) = frame {
            let Header { tag, size, credits, tree, sequence, acknowledgement, .. } = *header;
            self.mix(u64::from(peer.0) | (tag as u64) << 16 | u64::from(tree.to_bits()) << 32);
            self.mix(u64::from(size) | u64::from(credits) << 16 | u64::from(sequence) << 32);
            self.mix(u64::from(acknowledgement));
        }
        if self.keep == 0 && self.observer.is_none() {
            return;
        }
        let head = frame.map_or([0; TEXT_BYTES], |(.., head)| head);
        let frame = frame.map(|(peer, header, _)| (peer, *header));
        let happened = Happened { time, rank, what, frame, head };
        if let Some(kept) = self.kept.get_mut(rank.index()) {
            if kept.len() >= self.keep {
                kept.pop_front();
            }
            kept.push_back(happened);
        }
        if let Some(observer) = &mut self.observer {
            observer.see(&happened);
        }
    }

    fn mix(&mut self, word: u64) {
        self.hash = (self.hash.rotate_left(5) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    /// A number that differs, as good as surely, between runs that differ; and how many events.
    pub fn hash(&self) -> (u64, u64) {
        (self.hash, self.events)
    }

    /// The last events of `rank`, oldest first.
    pub fn last(&self, rank: Rank) -> Vec<Happened> {
        self.kept.get(rank.index()).map(|kept| kept.iter().copied().collect()).unwrap_or_default()
    }
}

impl fmt::Display for Happened {
    /// In words: `14.2 us  rank 3 receives a multicast packet of rank 0 from rank 1`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.1} us  rank {} ", self.time as f64 / 1000.0, self.rank)?;
        let verb = match self.what {
            FrameEvent::Interrupted => return f.write_str("is interrupted"),
            FrameEvent::Crashed => return f.write_str("crashes"),
            FrameEvent::Ended => return f.write_str("ends"),
            FrameEvent::Transmitted => "transmits",
            FrameEvent::Received => "receives",
            FrameEvent::Copied => "has in host memory",
            FrameEvent::Lost => "transmits, and the network loses,",
            FrameEvent::Duplicated => "transmits, and the network doubles,",
            FrameEvent::Delayed => "transmits, and the network holds back,",
            FrameEvent::Corrupted => "transmits, and the network corrupts,",
            FrameEvent::Cut => "transmits, into a partition,",
            FrameEvent::Unheard => "transmits, to a rank that has crashed,",
        };
        let Some((peer, header)) = &self.frame else { return write!(f, "{verb} a packet") };
        write!(f, "{verb} {}", kind(header))?;
        if let Tag::Mcast = header.tag {
            write!(f, " of rank {}", header.tree.root)?;
        }
        let inwards = matches!(self.what, FrameEvent::Received | FrameEvent::Copied);
        write!(f, " {} rank {peer}", if inwards { "from" } else { "to" })?;
        if header.sequence > 0 {
            write!(f, ", number {}", header.sequence)?;
        }
        if header.credits > 0 {
            write!(f, ", with {} credits", header.credits)?;
        }
        match header.channel.0 {
            Some(owner) => write!(f, ", on the recovery channel of rank {owner}"),
            None => Ok(()),
        }
    }
}

/// A virtual time in the unit that fits it: `12.3 us`, `12.345 ms`, `12.345 s`.
pub fn in_words(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    match time.as_nanos() {
        0..1_000_000 => format!("{:.1} us", seconds * 1e6),
        1_000_000..1_000_000_000 => format!("{:.3} ms", seconds * 1e3),
        _ => format!("{seconds:.3} s"),
    }
}

fn kind(header: &Header) -> &'static str {
    match header.tag {
        Tag::Ucast => "a unicast packet",
        Tag::Mcast => "a multicast packet",
        Tag::Farewell => "a farewell",
        Tag::Lost => "the news of a loss",
        Tag::FaRequest => "a request for an atomic operation",
        Tag::FaReply => "the answer to an atomic operation",
        Tag::ChannelClear => "a channel-clear packet",
        _ => "a control packet",
    }
}

#[cfg(test)]
mod tests;
