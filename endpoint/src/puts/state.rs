//! State of a rank's connections, and the effect of a packet of a put or a get on it.

use super::memory::{GetBuffer, Memory};
use super::queue::{Notification, NotificationKind, Posted, Queue};
use super::table::{Rights, Table};
use crate::biased::Biased;
use crate::deferred::DeferredSends;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use weft_link::memory::NAME_BYTES as NAMED;
use weft_wire::Rank;
use weft_wire::place::{PlaceHeader, PlaceKind, Refusal};

/// Offers of one rank that may wait here to be taken.
pub(crate) const OFFERS_WAITING: usize = 4096;
/// Replies that are owed to one rank, at most: further requests of that rank get none.
pub(crate) const REPLIES_OWED: usize = 1 << 16;
/// Refusals among them, at most: of many one is as good as all, and answers to gets are to have
/// room.
const REFUSALS_OWED: usize = 1 << 12;
/// Longest name of a buffer, in bytes.
pub(crate) const NAME_BYTES: usize = 128;

/// State of a rank's puts and gets.
pub(crate) struct PutState {
    pub connections: Biased<Connections>,
    /// Packets that no thread waits with, and their receivers.
    pub owed: DeferredSends<(Rank, Owed)>,
}

/// State of a rank's connections, in both directions.
#[derive(Default)]
pub(crate) struct Connections {
    /// This rank's receive buffers.
    pub receives: Table<Receiving>,
    /// Its connections to those of others.
    pub sends: BTreeMap<(Rank, u32), Arc<Sending>>,
    /// Offers that this rank has not taken yet, by the rank that made them and their name.
    pub offers: BTreeMap<(Rank, Box<str>), VecDeque<Offer>>,
    /// Gets under way, by their numbers.
    pub gets: BTreeMap<u32, PendingGet>,
    pub last_get: u32,
    /// Replies that are owed, by receiver.
    replies: BTreeMap<Rank, usize>,
    /// Number of packets that were refused.
    pub refusals: u64,
    /// Last refusal of a put of this rank into a landing.
    pub landing_refused: Option<LandingRefused>,
}

/// A put into a landing that its rank has refused. It changed nothing there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LandingRefused {
    /// That rank.
    pub rank: Rank,
    /// The landing's number, as the put named it.
    pub number: u32,
    /// Reason of the refusal.
    pub why: Refusal,
}

/// State of a receive buffer at the target of puts.
pub(crate) struct Receiving {
    pub memory: Memory,
    /// Observer of the events here. None at a landing: bytes put there are counted.
    pub observer: Option<Observer>,
    /// Bytes that packets have put here.
    pub received: u64,
    /// At a landing, the first rank that has put something here: the only one that may.
    pub sender: Option<Rank>,
}

/// Observer of a receive buffer: the queue for its notifications, and the stage of its connection.
pub(crate) struct Observer {
    pub queue: Arc<Queue>,
    pub stage: Arc<AtomicU32>,
}

/// A receive buffer of another rank that this rank may take.
#[derive(Clone, Copy)]
pub(crate) struct Offer {
    pub connection: u32,
    pub bytes: u64,
    pub rights: Rights,
    /// Name under which its memory can be mapped, if it can.
    pub memory: Option<[u8; NAMED]>,
}

/// The sender's side of a connection.
pub(crate) struct Sending {
    /// 0 while it is open, otherwise the number of the reason why not: a [`Refusal`].
    pub refused: AtomicU32,
}

/// Packet that is to be sent to another rank.
#[derive(Clone, Copy)]
pub(crate) enum Owed {
    Header(PlaceHeader),
    /// The answer to this get.
    Answer(PlaceHeader),
}

impl Owed {
    /// Largest number of packets owed to a rank with which it is owed another such; `None` if it
    /// asked for nothing.
    fn limit(&self) -> Option<usize> {
        match self {
            Owed::Answer(_) => Some(REPLIES_OWED),
            Owed::Header(header) => (header.kind == PlaceKind::Refused).then_some(REFUSALS_OWED),
        }
    }
}

/// A get under way.
pub(crate) struct PendingGet {
    pub to: Rank,
    pub connection: u32,
    /// Buffer for the answer, until it arrives.
    pub outcome: Outcome,
}

pub(crate) enum Outcome {
    Pending(GetBuffer),
    Done,
    Refused(Refusal),
}

/// Work that is left after the state has handled a packet.
pub(crate) enum FollowUp {
    Nothing,
    /// A reply to its sender.
    Reply(Owed),
    /// A thread that sleeps is to look again.
    Wake,
    /// There was no slot for a notification: it is to be stored with its packet.
    Store(Arc<Queue>, Notification),
}

/// Values of [`Observer::stage`], besides 0, which it is before the offer is taken.
pub(crate) mod stage {
    pub const OPEN: u32 = 1;
    pub const CLOSED: u32 = 2;
}

impl Connections {
    /// Handles a packet of a put or a get from `from`. A packet that is wrong changes nothing here,
    /// and its sender is told.
    #[inline]
    pub fn arrived(&mut self, from: Rank, packet: &[u8]) -> FollowUp {
        let Some((header, bytes)) = PlaceHeader::parse(packet) else {
            return self.refuse(&PlaceHeader::new(PlaceKind::Put, u32::MAX), Refusal::Malformed);
        };
        let done = match header.kind {
            PlaceKind::Put | PlaceKind::PutNotify => self.put(from, &header, bytes),
            _ => self.other(from, &header, bytes),
        };
        done.unwrap_or_else(|refusal| self.refuse(&header, refusal))
    }

    #[inline]
    fn put(&mut self, from: Rank, header: &PlaceHeader, bytes: &[u8]) -> Result<FollowUp, Refusal> {
        let (admitted, at) = self.receives.admit(from, header, bytes.len())?;
        let buffer = &mut admitted.buffer;
        let observer = match (&buffer.observer, header.kind) {
            (Some(_), PlaceKind::Put) => None,
            (Some(observer), _) => Some(observer),
            (None, PlaceKind::Put) if *buffer.sender.get_or_insert(from) == from => None,
            (None, PlaceKind::Put) => return Err(Refusal::NoConnection),
            (None, _) => return Err(Refusal::Rights),
        };
        buffer.memory.write(at, bytes);
        buffer.received += bytes.len() as u64;
        let Some(observer) = observer else { return Ok(FollowUp::Nothing) };
        let length = header.length as usize;
        let offset = at + bytes.len() - length;
        let kind = NotificationKind::Put { length, word: header.word };
        let notification = Notification { from, connection: header.connection, offset, kind };
        Ok(post(&observer.queue, notification))
    }

    #[cold]
    fn other(
        &mut self,
        from: Rank,
        header: &PlaceHeader,
        bytes: &[u8],
    ) -> Result<FollowUp, Refusal> {
        let connection = header.connection;
        match header.kind {
            PlaceKind::Offer => self.offered(from, header, bytes)?,
            PlaceKind::Accept => {
                let admitted = self.receives.find(from, connection)?;
                let observer = admitted.buffer.observer.as_ref().ok_or(Refusal::NoConnection)?;
                observer.stage.store(stage::OPEN, Ordering::Release);
                admitted.buffer.memory.taken();
                admitted.open = true;
            }
            PlaceKind::Close => {
                let admitted = self.receives.find(from, connection)?;
                let observer = admitted.buffer.observer.as_ref().ok_or(Refusal::NoConnection)?;
                if std::mem::take(&mut admitted.open) {
                    return Ok(closed(from, connection, observer));
                }
            }
            PlaceKind::Withdraw => self.end_sending(from, connection, Refusal::Closed),
            PlaceKind::Refused => {
                let why = Refusal::from_number(header.word).unwrap_or(Refusal::Malformed);
                self.end_sending(from, connection, why);
                if !self.sends.contains_key(&(from, connection)) {
                    let refused = LandingRefused { rank: from, number: connection, why };
                    self.landing_refused = Some(refused);
                }
            }
            PlaceKind::Get => {
                self.receives.admit(from, header, 0)?;
                return Ok(FollowUp::Reply(Owed::Answer(*header)));
            }
            PlaceKind::Got => self.answered(from, header, bytes)?,
            PlaceKind::Put | PlaceKind::PutNotify => {}
        }
        Ok(FollowUp::Wake)
    }

    fn offered(&mut self, from: Rank, header: &PlaceHeader, name: &[u8]) -> Result<(), Refusal> {
        let (name, memory) =
            name.split_at_checked(header.length as usize).ok_or(Refusal::Malformed)?;
        let name = str::from_utf8(name).ok().filter(|name| name.len() <= NAME_BYTES);
        let (name, rights) = name.zip(Rights::from_word(header.word)).ok_or(Refusal::Malformed)?;
        let memory = memory.try_into().ok();
        let of_sender =
            self.offers.range((from, "".into())..).take_while(|((of, _), _)| *of == from);
        if of_sender.map(|(_, offers)| offers.len()).sum::<usize>() == OFFERS_WAITING {
            return Err(Refusal::TooMany);
        }
        let offer = Offer { connection: header.connection, bytes: header.offset, rights, memory };
        self.offers.entry((from, name.into())).or_default().push_back(offer);
        Ok(())
    }

    /// Counts a packet that is to be sent, if it is a reply. False if `to` is owed too many.
    pub fn owe(&mut self, to: Rank, owed: &Owed) -> bool {
        let Some(limit) = owed.limit() else { return true };
        let replies = self.replies.entry(to).or_default();
        let has_room = *replies < limit;
        *replies += usize::from(has_room);
        has_room
    }

    /// A packet that was owed leaves.
    pub fn paid(&mut self, to: Rank, owed: &Owed) {
        if let Some(replies) = owed.limit().and(self.replies.get_mut(&to)) {
            *replies -= 1;
        }
    }

    /// Takes the oldest offer that `from` has made under `name`.
    pub fn take_offer(&mut self, from: Rank, name: &str) -> Option<Offer> {
        let key = (from, name.into());
        let offers = self.offers.get_mut(&key)?;
        let offer = offers.pop_front();
        if offers.is_empty() {
            self.offers.remove(&key);
        }
        offer
    }

    /// Ends a connection, or an offer, that its receiver has withdrawn or refused.
    fn end_sending(&mut self, to: Rank, connection: u32, why: Refusal) {
        if let Some(sending) = self.sends.get(&(to, connection)) {
            // The first reason is the one that the program gets.
            let _ = sending.refused.compare_exchange(
                0,
                why as u32,
                Ordering::AcqRel,
                Ordering::Acquire,
            );
        }
        for get in self.gets.values_mut() {
            if (get.to, get.connection) == (to, connection)
                && matches!(get.outcome, Outcome::Pending(_))
            {
                get.outcome = Outcome::Refused(why);
            }
        }
        self.offers.retain(|(from, _), offers| {
            offers.retain(|offer| *from != to || offer.connection != connection);
            !offers.is_empty()
        });
    }

    fn answered(&mut self, from: Rank, header: &PlaceHeader, bytes: &[u8]) -> Result<(), Refusal> {
        // The thread that asked may have given up: then the answer is dropped.
        let Some(get) = self.gets.get_mut(&header.word) else { return Ok(()) };
        if (get.to, get.connection) != (from, header.connection) {
            return Err(Refusal::NoConnection);
        }
        let outcome = std::mem::replace(&mut get.outcome, Outcome::Done);
        match outcome {
            Outcome::Pending(into) if into.fill(bytes) => Ok(()),
            Outcome::Pending(_) => {
                get.outcome = Outcome::Refused(Refusal::Malformed);
                Err(Refusal::Malformed)
            }
            other => {
                get.outcome = other;
                Ok(())
            }
        }
    }

    /// Replies with the reason for a refusal, unless the packet was a reply itself: replies get
    /// none.
    #[cold]
    fn refuse(&mut self, header: &PlaceHeader, why: Refusal) -> FollowUp {
        self.refusals += 1;
        match header.kind {
            PlaceKind::Put
            | PlaceKind::PutNotify
            | PlaceKind::Get
            | PlaceKind::Offer
            | PlaceKind::Accept => {
                let refused = PlaceHeader { kind: PlaceKind::Refused, word: why as u32, ..*header };
                FollowUp::Reply(Owed::Header(refused))
            }
            PlaceKind::Close | PlaceKind::Withdraw | PlaceKind::Refused | PlaceKind::Got => {
                FollowUp::Nothing
            }
        }
    }
}

/// Handles the end of a connection that its sender has closed.
fn closed(from: Rank, connection: u32, observer: &Observer) -> FollowUp {
    observer.stage.store(stage::CLOSED, Ordering::Release);
    let notification = Notification { from, connection, offset: 0, kind: NotificationKind::Closed };
    post(&observer.queue, notification)
}

#[inline]
fn post(queue: &Arc<Queue>, notification: Notification) -> FollowUp {
    match queue.try_post(notification) {
        Posted::ToThisThread => FollowUp::Nothing,
        Posted::ToAnother => FollowUp::Wake,
        Posted::Full => FollowUp::Store(Arc::clone(queue), notification),
    }
}

#[cfg(test)]
mod tests;
