//! A judge of frames: it sees what is put on links and taken from them, and knows the rules of the
//! protocols (thesis 4.1 to 4.3, 8.2, 8.3.2), but not their state.
//!
//! | rule | breaks as |
//! |---|---|
//! | a careful sender has at most a window of packets for which no credit came back (I2) | [`Broken::Window`] |
//! | where windows follow demand, a receiver promises no more buffers than it has (I2) | [`Broken::Promised`] |
//! | no more credits go back than packets came, and half a window of them at most is held back (I1) | [`Broken::Credits`], [`Broken::CreditsLost`] |
//! | every data packet that reaches a careful NI reaches its host (I2) | [`Broken::Dropped`] |
//! | numbers are given one after the other, a window of them at most is unacknowledged (I9) | [`Broken::Number`], [`Broken::Unacknowledged`] |
//! | under `pupa` nothing new goes to a receiver that said it has no room for it | [`Broken::NoRoom`] |
//! | nothing is acknowledged that has not come (I8) | [`Broken::Acknowledged`] |
//! | under ACK-forward nothing is acknowledged that was not forwarded | [`Broken::Unforwarded`] |
//! | a recovery channel is on each link once, and is clear when it is used again and in the end (I7) | [`Broken::Channel`] |

mod careful;
mod channels;
mod numbered;

use careful::Careful;
use channels::Channels;
use numbered::Numbered;
use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;
use weft_protocol::Settings;
use weft_protocol::tree::MulticastGroup;
use weft_simulator::{FrameEvent, Happened, Observer};
use weft_wire::{Header, Rank, Tag};

/// A rule of the protocols that a frame broke.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Broken {
    /// A data packet without a credit.
    #[error("rank {from} sent rank {to} packet {packets} of a window of {window} (I2)")]
    Window {
        /// Sender.
        from: Rank,
        /// To whom.
        to: Rank,
        /// Packets for which no credit had come back, this one included.
        packets: u64,
        /// The window.
        window: u16,
    },
    /// Credits for nothing.
    #[error("rank {from} gave rank {to} back {given} credits for {packets} packets (I1)")]
    Credits {
        /// Rank that gave.
        from: Rank,
        /// To whom.
        to: Rank,
        /// All that it has given.
        given: u64,
        /// Packets that came.
        packets: u64,
    },
    /// Credits that were never given back.
    #[error("in the end rank {from} held {kept} credits of rank {to} back (I1)")]
    CreditsLost {
        /// Rank that should have given.
        from: Rank,
        /// To whom.
        to: Rank,
        /// Number that it kept.
        kept: u64,
    },
    /// Credits for buffers that others may fill.
    #[error("rank {at} has promised its senders {promised} buffers, of {buffers} (I2)")]
    Promised {
        /// Rank that promised.
        at: Rank,
        /// To all senders together.
        promised: u64,
        /// Buffers that it has.
        buffers: u64,
    },
    /// A packet that came and was not shown to the host.
    #[error("of {received} data packets that reached rank {at}, {copied} reached its host (I2)")]
    Dropped {
        /// Rank.
        at: Rank,
        /// At the NI.
        received: u64,
        /// At the host.
        copied: u64,
    },
    /// A number out of turn.
    #[error("rank {from} gave rank {to} packet number {number} before number {next} (I8)")]
    Number {
        /// Sender.
        from: Rank,
        /// To whom.
        to: Rank,
        /// The packet's number.
        number: u32,
        /// The number that is next.
        next: u32,
    },
    /// Too many packets that nobody acknowledged.
    #[error("rank {from} had {packets} packets unacknowledged at rank {to}, of {window} (I9)")]
    Unacknowledged {
        /// Sender.
        from: Rank,
        /// To whom.
        to: Rank,
        /// Number of packets.
        packets: u32,
        /// The window.
        window: u16,
    },
    /// A packet for a receiver without buffers.
    #[error(
        "rank {from} sent rank {to} packet {number}, which has room before {first} (Pupa 2.2.2)"
    )]
    NoRoom {
        /// Sender.
        from: Rank,
        /// To whom.
        to: Rank,
        /// The packet's number.
        number: u32,
        /// The first number without room.
        first: u32,
    },
    /// An acknowledgement of what never came.
    #[error(
        "rank {from} acknowledged {next} packets of rank {to}, of which {received} had come (I8)"
    )]
    Acknowledged {
        /// Rank that acknowledged.
        from: Rank,
        /// To whom.
        to: Rank,
        /// All before this number.
        next: u32,
        /// Packets that were received, up to the first that is missing.
        received: u32,
    },
    /// An acknowledgement before the forward.
    #[error("rank {at} acknowledged packet {number} of rank {from} before it forwarded it (8.3.2)")]
    Unforwarded {
        /// Rank that acknowledged.
        at: Rank,
        /// To whom.
        from: Rank,
        /// Number of the packet.
        number: u32,
    },
    /// A recovery channel that is used twice or not cleared.
    #[error("the recovery channel of rank {owner} from rank {from} to rank {to} {what} (I7)")]
    Channel {
        /// Owner.
        owner: Rank,
        /// One end.
        from: Rank,
        /// The other.
        to: Rank,
        /// Description of the error.
        what: &'static str,
    },
    /// Nothing arrived for too long.
    #[error(
        "no packet reached any host between {from:?} and {until:?}, with nothing in its way (I9)"
    )]
    NoProgress {
        /// Since when.
        from: Duration,
        /// Until when.
        until: Duration,
    },
}

/// The judge of one run.
pub struct FrameJudge {
    careful: Careful,
    numbered: Numbered,
    channels: Channels,
    numbers: bool,
    /// Faults that stop everything are over from here on.
    healed: Duration,
    patience: Duration,
    last_arrival: Duration,
    first: Option<Broken>,
}

/// Shows a judge what happens.
pub struct Watching(Rc<RefCell<FrameJudge>>);

impl FrameJudge {
    /// A judge of a run with these settings, in which nothing keeps packets from arriving any more
    /// once `healed` has passed; something must arrive every `patience` then.
    pub fn new(settings: &Settings, healed: Duration, patience: Duration) -> Rc<RefCell<Self>> {
        let everyone = MulticastGroup::everyone(settings.ranks, settings.shape);
        Rc::new(RefCell::new(FrameJudge {
            careful: Careful::new(settings),
            numbered: Numbered::new(settings, everyone),
            channels: Channels::default(),
            numbers: settings.preset.retransmits(),
            healed,
            patience,
            last_arrival: Duration::ZERO,
            first: None,
        }))
    }

    /// Observer that shows it everything.
    pub fn watching(judge: &Rc<RefCell<Self>>) -> Box<dyn Observer> {
        Box::new(Watching(Rc::clone(judge)))
    }

    /// The first rule that was broken; in the end, if `complete`, also what should have happened by
    /// then. A run in which ranks were lost is not complete.
    pub fn verdict(judge: &Rc<RefCell<Self>>, complete: bool) -> Option<Broken> {
        let mut judge = judge.borrow_mut();
        if judge.first.is_none() && complete {
            let broken = match judge.numbers {
                true => None,
                false => judge.careful.in_the_end().or_else(|| judge.channels.in_the_end()),
            };
            judge.first = broken;
        }
        judge.first
    }

    fn see(&mut self, happened: &Happened) {
        if self.first.is_some() {
            return;
        }
        let Some((peer, header)) = &happened.frame else { return };
        let (rank, peer) = (happened.rank, *peer);
        if rank == peer && matches!(header.tag, Tag::FaRequest | Tag::FaReply) {
            // There is one at a time, which goes to the switch and back: it needs no credit (thesis
            // 5.2).
            return;
        }
        let broken = match happened.what {
            FrameEvent::Transmitted => self.transmitted(rank, peer, header),
            FrameEvent::Received => self.received(rank, peer, header),
            FrameEvent::Copied if rank != peer => {
                self.careful.copied(rank, header);
                self.progress(Duration::from_nanos(happened.time))
            }
            _ => Ok(()),
        };
        self.first = broken.err();
    }

    fn transmitted(&mut self, from: Rank, to: Rank, header: &Header) -> Result<(), Broken> {
        if self.numbers {
            return self.numbered.transmitted(from, to, header);
        }
        self.channels.transmitted(from, to, header)?;
        self.careful.transmitted(from, to, header)
    }

    fn received(&mut self, at: Rank, from: Rank, header: &Header) -> Result<(), Broken> {
        if self.numbers {
            self.numbered.received(at, from, header);
        } else {
            self.careful.received(at, from, header);
        }
        Ok(())
    }

    fn progress(&mut self, now: Duration) -> Result<(), Broken> {
        let from = self.last_arrival.max(self.healed);
        self.last_arrival = now;
        if now > from + self.patience {
            return Err(Broken::NoProgress { from, until: now });
        }
        Ok(())
    }
}

impl Observer for Watching {
    fn see(&mut self, happened: &Happened) {
        self.0.borrow_mut().see(happened);
    }
}

/// True if frames of this kind have numbers, where frames have.
fn is_numbered(tag: Tag) -> bool {
    tag.is_data() || matches!(tag, Tag::FaReply | Tag::Farewell)
}

#[cfg(test)]
mod tests;
