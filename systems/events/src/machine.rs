//! One node's protocol, careful or traditional: what happens goes in, what is to be sent comes out.
//!
//! No clock, thread or network. `B` is what a fragment's bytes are kept as, and is never looked
//! into.

use crate::careful::Careful;
use crate::frame::{Flags, Header, Kind};
use crate::ledger::{Ledger, Novelty, REST, Status};
use crate::settings::{Limits, Protocol, Settings};
use crate::traditional::{Storage, Traditional};
use std::collections::BTreeMap;
use weft_endpoint::Rank;

/// Violation of the protocol by a peer: no correct node does this.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Breach {
    /// Not even a header.
    #[error("rank {0} sent something that is no event frame")]
    Frame(Rank),
    /// A frame of the other protocol.
    #[error("rank {0} speaks another protocol of events: all ranks take the same settings")]
    Protocol(Rank),
    /// More than its window allows.
    #[error("rank {0} sent beyond its window: all ranks take the same settings")]
    Window(Rank),
    /// A fragment of a message that is complete, or of one too many.
    #[error(
        "rank {0} sent more in event {1} than the event has: one message a node, or in a crowd one from \
         every other"
    )]
    Surplus(Rank, u32),
}

/// Counters of a node so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Statistics {
    /// Fragments sent; a broadcast is one.
    pub fragments_sent: u64,
    /// Fragments that the program received.
    pub fragments_received: u64,
    /// Sends that had to wait.
    pub blocked_sends: u64,
    /// Fragments copied out of their receive buffer.
    pub copied_on_receipt: u64,
    /// Careful: window updates in frames of their own.
    pub updates: u64,
    /// Traditional: fragments that were copied to be kept.
    pub copied_on_send: u64,
    /// Traditional: fragments that found no receive buffer.
    pub dropped: u64,
    /// Traditional: fragments that had come before.
    pub duplicates: u64,
    /// Traditional: requests for what was missing.
    pub requests: u64,
    /// Traditional: fragments sent again.
    pub sent_again: u64,
    /// Traditional: explicit acknowledgements.
    pub acknowledgements: u64,
}

/// A node's protocol, and its state.
#[derive(Clone, Debug)]
pub(crate) struct EventMachine<B> {
    local: Rank,
    ranks: usize,
    costs: (u64, u64),
    ledger: Ledger,
    protocol: Either<B>,
    /// The next fragment of messages that are not at their end: by event and receiver.
    sending: BTreeMap<(u32, Option<Rank>), u32>,
    /// Events that other nodes have whole, as far as they have said.
    done: BTreeMap<Rank, u32>,
    pub statistics: Statistics,
}

#[derive(Clone, Debug)]
enum Either<B> {
    Careful(Careful),
    Traditional(Traditional<B>),
}

/// A frame to be sent: to whom, or to everyone; bytes go with fragments that are sent again.
pub(crate) type Frame<B> = (Option<Rank>, Header, Option<B>);

/// Interface to a node's surroundings: it sends frames, and accounts for what it did.
#[derive(Clone, Debug)]
pub(crate) struct Outbox<B> {
    pub frames: Vec<Frame<B>>,
    pub operations: u64,
    /// Bytes that were copied.
    pub copied: usize,
}

impl<B> Default for Outbox<B> {
    fn default() -> Self {
        Outbox { frames: Vec::new(), operations: 0, copied: 0 }
    }
}

impl<B: Clone> EventMachine<B> {
    pub fn new(local: Rank, ranks: usize, settings: &Settings, limits: Limits) -> Self {
        let Limits { window, room } = limits;
        let protocol = match settings.protocol {
            Protocol::Careful => Either::Careful(Careful::new(local, ranks, window)),
            Protocol::Traditional => Either::Traditional(Traditional::new(local, ranks, room)),
        };
        EventMachine {
            local,
            ranks,
            costs: (settings.send_operations, settings.receive_operations),
            ledger: Ledger::new(ranks),
            protocol,
            sending: BTreeMap::new(),
            done: BTreeMap::new(),
            statistics: Statistics::default(),
        }
    }

    fn others(&self) -> impl Iterator<Item = Rank> + use<B> {
        let local = self.local;
        (0..self.ranks as u16).map(Rank).filter(move |&rank| rank != local)
    }

    /// True if a fragment may be sent there now.
    pub fn may_send(&self, to: Option<Rank>) -> bool {
        match &self.protocol {
            Either::Careful(careful) => careful.may_send(to),
            Either::Traditional(traditional) => traditional.may_send(),
        }
    }

    /// A fragment of `bytes` bytes leaves, which [`Self::may_send`] allowed. Returns its header.
    pub fn send(
        &mut self,
        to: Option<Rank>,
        event: u32,
        flags: Flags,
        body: impl FnOnce() -> B,
        bytes: usize,
        out: &mut Outbox<B>,
    ) -> Header {
        let index = self.sending.remove(&(event, to)).unwrap_or(0);
        if !flags.last {
            self.sending.insert((event, to), index + 1);
        }
        out.operations += self.costs.0;
        self.statistics.fragments_sent += 1;
        let done = self.ledger.done();
        let mut header = Header { flags, done, ..Header::new(Kind::Fragment, event, index) };
        match &mut self.protocol {
            Either::Careful(careful) => header.frames = careful.send(to),
            Either::Traditional(traditional) => {
                header.asks = traditional.asks(flags.large);
                if traditional.copies() {
                    out.copied += bytes;
                    self.statistics.copied_on_send += 1;
                }
                traditional.sent(to, header, body());
            }
        }
        header
    }

    /// A frame has come. Where a fragment goes; control frames go nowhere.
    pub fn received(
        &mut self,
        from: Rank,
        header: &Header,
        out: &mut Outbox<B>,
    ) -> Result<Storage, Breach> {
        out.operations += self.costs.1;
        let done = self.done.entry(from).or_default();
        *done = header.done.max(*done);
        match self.protocol {
            Either::Careful(_) => self.received_carefully(from, header, out),
            Either::Traditional(_) => Ok(self.received_traditionally(from, header, out)),
        }
    }

    fn received_carefully(
        &mut self,
        from: Rank,
        header: &Header,
        out: &mut Outbox<B>,
    ) -> Result<Storage, Breach> {
        let Either::Careful(careful) = &mut self.protocol else { return Ok(Storage::Nowhere) };
        let is_data = match header.kind {
            Kind::Fragment => true,
            Kind::Update => false,
            Kind::Acknowledge | Kind::Request => return Err(Breach::Protocol(from)),
        };
        careful.received(from, header.frames, is_data).map_err(|_| Breach::Window(from))?;
        let mut storage = Storage::Nowhere;
        if is_data {
            storage = Storage::Buffer;
            if careful.is_pressed(from) {
                careful.released(from);
                self.statistics.copied_on_receipt += 1;
                storage = Storage::Memory;
            }
            if self.ledger.novelty(from, header) == Novelty::Known {
                return Err(Breach::Surplus(from, header.event));
            }
            self.ledger.note(from, header);
        }
        self.update(from, out);
        Ok(storage)
    }

    /// Sends what is owed there, if that is due.
    fn update(&mut self, to: Rank, out: &mut Outbox<B>) {
        let Either::Careful(careful) = &mut self.protocol else { return };
        let Some(frames) = careful.update(to) else { return };
        self.statistics.updates += 1;
        let done = self.ledger.done();
        let header = Header { frames, done, ..Header::new(Kind::Update, 0, 0) };
        out.frames.push((Some(to), header, None));
    }

    fn received_traditionally(
        &mut self,
        from: Rank,
        header: &Header,
        out: &mut Outbox<B>,
    ) -> Storage {
        let Either::Traditional(traditional) = &mut self.protocol else { return Storage::Nowhere };
        traditional.acknowledged_below(from, header.done);
        match header.kind {
            Kind::Fragment => self.fragment(from, header, out),
            Kind::Acknowledge => {
                traditional.acknowledged_one(from, header.event, header.index);
                Storage::Nowhere
            }
            Kind::Request => {
                let Header { event, index, frames, .. } = *header;
                for (mut header, body) in traditional.requested(from, event, index, frames) {
                    header.done = self.ledger.done();
                    out.operations += self.costs.0;
                    self.statistics.sent_again += 1;
                    out.frames.push((Some(from), header, Some(body)));
                }
                Storage::Nowhere
            }
            // A window update: nobody has windows here.
            Kind::Update => Storage::Nowhere,
        }
    }

    fn fragment(&mut self, from: Rank, header: &Header, out: &mut Outbox<B>) -> Storage {
        let Either::Traditional(traditional) = &mut self.protocol else { return Storage::Nowhere };
        let novelty = self.ledger.novelty(from, header);
        let mut storage = Storage::Nowhere;
        if novelty == Novelty::New {
            storage = traditional.storage(from);
            if storage == Storage::Nowhere {
                self.statistics.dropped += 1;
                return storage;
            }
            self.statistics.copied_on_receipt += u64::from(storage == Storage::Memory);
            self.ledger.note(from, header);
            for (event, piece) in self.ledger.holes(from, header) {
                self.ask(from, event, &piece, out);
            }
        } else {
            self.statistics.duplicates += 1;
        }
        if header.asks {
            self.statistics.acknowledgements += 1;
            self.control(
                Some(from),
                Header::new(Kind::Acknowledge, header.event, header.index),
                out,
            );
        }
        storage
    }

    fn ask(&mut self, of: Rank, event: u32, piece: &std::ops::Range<u32>, out: &mut Outbox<B>) {
        self.statistics.requests += 1;
        self.control(Some(of), Traditional::<B>::request(event, piece), out);
    }

    fn control(&self, to: Option<Rank>, header: Header, out: &mut Outbox<B>) {
        let done = self.ledger.done();
        out.frames.push((to, Header { done, ..header }, None));
    }

    /// Whoever waits, for `event` or to send, has waited too long.
    pub fn timeout(&mut self, event: Option<u32>, out: &mut Outbox<B>) {
        let Either::Traditional(traditional) = &self.protocol else { return };
        let Some(event) = event else {
            if let Some((to, header, body)) = traditional.oldest() {
                self.statistics.sent_again += 1;
                out.frames.push((Some(to), header, Some(body)));
            }
            return;
        };
        match self.ledger.wanting(event, self.others()) {
            Some(wanting) => {
                wanting.iter().for_each(|(rank, piece)| self.ask(*rank, event, piece, out));
            }
            None => {
                self.statistics.requests += 1;
                self.control(None, Traditional::<B>::request(event, &(0..REST)), out);
            }
        }
    }

    /// The program receives a fragment of `event`. What it is told of what follows.
    pub fn consume(&mut self, from: Rank, event: u32) -> Status {
        self.ledger.consume(from, event)
    }

    /// The program is done with it.
    pub fn released(&mut self, from: Rank, storage: Storage, out: &mut Outbox<B>) {
        match &mut self.protocol {
            Either::Careful(careful) if storage == Storage::Buffer => {
                careful.released(from);
                self.update(from, out);
            }
            Either::Careful(_) => {}
            Either::Traditional(traditional) => traditional.released(from, storage),
        }
    }

    /// True if the program has received all of `event`.
    pub fn is_over(&self, event: u32) -> bool {
        self.ledger.is_over(event)
    }

    /// Tells all others which events are whole here: the last thing that a node has to say.
    pub fn farewell(&self, out: &mut Outbox<B>) {
        if let Either::Traditional(_) = self.protocol {
            self.control(None, Header::new(Kind::Acknowledge, REST, 0), out);
        }
    }

    /// True if all others have said that everything up to `event` is whole there, if the protocol
    /// needs to know.
    pub fn all_have(&self, event: u32) -> bool {
        match &self.protocol {
            Either::Careful(_) => true,
            Either::Traditional(_) => {
                self.others().all(|rank| self.done.get(&rank).is_some_and(|&done| done > event))
            }
        }
    }

    /// Fragments that are kept because somebody may not have them.
    #[cfg(test)]
    pub fn retained(&self) -> usize {
        match &self.protocol {
            Either::Careful(_) => 0,
            Either::Traditional(traditional) => traditional.retained(),
        }
    }
}

#[cfg(test)]
mod tests;
