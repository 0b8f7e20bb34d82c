//! One rank of a search for values: it takes up requests and settles answers, in turn, and never
//! waits while it has something to do.

use super::Window;
use super::alone::{Alone, Found, order};
use super::items::{Answer, Item, RecordId, Request, Requester};
use super::records::{Record, Records};
use super::request_table::{RequestTable, TooMany};
use super::values::Values;
use crate::error::{Error, Result};
use crate::format::{Header, Kind, Tally};
use crate::game::Game;
use crate::member::owner;
use crate::outgoing::OutgoingJobs;
use crate::settings::Settings;
use crate::termination::{Counts, Detector};
use crate::worker::Worked;
use std::time::Duration;
use weft_endpoint::{Packets, Rank};
use weft_messaging::{Mailbox, Message};

mod handle;
mod work;

/// Requests that are taken up before the next look at the network, if they are small.
const REQUESTS_PER_POLL: usize = 16;

/// Records of a rank at most.
const MOST_RECORDS: usize = 16 << 10;

/// Place of what rank 0 asks of itself: no record is there.
const ROOT: u16 = u16::MAX;

/// One rank's part in a search for values.
pub(crate) struct Member<'a, G: Game> {
    mailbox: &'a Mailbox,
    packets: &'a Packets,
    settings: &'a Settings,
    outgoing: &'a mut OutgoingJobs,
    grain: u16,
    values: &'a mut Values,
    alone: Alone<G>,
    /// The requester of what is being searched alone, and nodes before it began.
    current: Option<(Requester, u64)>,
    records: Records<G>,
    requests: RequestTable<G>,
    /// Answers that are to be given, with the nodes that they took; `None` to what was cut.
    answers: Vec<(Requester, Option<Found>, u64)>,
    /// Records whose requests are to be forgotten, of other ranks and of this one.
    cuts: Vec<(Rank, RecordId)>,
    /// Bytes of an item, for a moment.
    bytes: Vec<u8>,
    worked: Worked,
    messages: Counts,
    requests_sent: u64,
    search: u32,
    /// True once nothing is to be searched any more.
    is_closed: bool,
    /// Wave that this rank has not answered.
    wave: Option<u32>,
    is_over: bool,
    owes_credits: bool,
    declared: u64,
    lead: Lead,
}

/// Knowledge of rank 0 about all.
struct Lead {
    detector: Detector,
    tallies: Tally,
    is_quiet: bool,
    /// Number of what rank 0 asks of itself, and the answer to it.
    root: u32,
    found: Option<(Found, u64)>,
}

impl<'a, G: Game> Member<'a, G> {
    /// A rank that has nothing to do, in the search with this number.
    pub fn new(
        mailbox: &'a Mailbox,
        packets: &'a Packets,
        settings: &'a Settings,
        outgoing: &'a mut OutgoingJobs,
        values: &'a mut Values,
        search: u32,
    ) -> Self {
        values.begin();
        let ranks = packets.size();
        Member {
            mailbox,
            packets,
            settings,
            outgoing,
            grain: settings.grain.unwrap_or(G::VALUE_GRAIN),
            values,
            alone: Alone::new(),
            current: None,
            records: Records::new(MOST_RECORDS),
            requests: RequestTable::new(ranks, settings.stack_jobs, MOST_RECORDS),
            answers: Vec::new(),
            cuts: Vec::new(),
            bytes: Vec::new(),
            worked: Worked::default(),
            messages: Counts::default(),
            requests_sent: 0,
            search,
            is_closed: false,
            wave: None,
            is_over: false,
            owes_credits: false,
            declared: 0,
            lead: Lead {
                detector: Detector::new(ranks),
                tallies: Tally::default(),
                is_quiet: false,
                root: 0,
                found: None,
            },
        }
    }

    /// The time.
    pub fn now(&self) -> Duration {
        self.packets.now()
    }

    /// Takes part, until rank 0 says that the search is over. For all other ranks.
    pub fn serve(&mut self) -> Result<()> {
        loop {
            let any = self.step()?;
            if self.is_over {
                return Ok(());
            }
            if any {
                continue;
            }
            if self.is_quiet()
                && let Some(wave) = self.wave.take()
            {
                let tally = self.tally().emit();
                self.send(0, Kind::Answer, wave, &tally)?;
            }
            let message = self.mailbox.receive()?;
            self.handle(message)?;
        }
    }

    /// Searches a position by all ranks: what is found, and nodes that led to it; `None` once
    /// `until` says that there is no more time. It is asked now and then, and says how long it is
    /// until it has to be asked again at least. For rank 0.
    pub fn probe(
        &mut self,
        position: &G,
        depth: u16,
        window: Window,
        mut until: impl FnMut(Duration) -> Option<Duration>,
    ) -> Result<Option<(Found, u64)>> {
        if until(self.packets.now()).is_none() {
            return Ok(None);
        }
        self.lead.root += 1;
        self.lead.found = None;
        let record = RecordId { slot: ROOT, turn: self.lead.root };
        let requester = Requester { rank: self.packets.rank(), record, index: 0 };
        self.requests.push(Request { position: *position, depth, window, requester });
        loop {
            let any = self.step()?;
            if self.lead.found.is_some() {
                return Ok(self.lead.found.take());
            }
            let Some(time) = until(self.packets.now()) else { return Ok(None) };
            if !any && let Some(message) = self.mailbox.receive_within(time)? {
                self.handle(message)?;
            }
        }
    }

    /// Ends the search on all ranks, once all that was requested has been answered: what they have
    /// done together. For rank 0.
    pub fn end(&mut self) -> Result<Tally> {
        self.tell_all(Kind::Stop, 0)?;
        self.close()?;
        while !self.lead.is_quiet {
            let any = self.step()?;
            if any || self.lead.is_quiet || self.is_quiet() && self.begin_wave()? {
                continue;
            }
            let message = self.mailbox.receive()?;
            self.handle(message)?;
        }
        self.tell_all(Kind::End, 0)?;
        Ok(self.lead.tallies)
    }

    /// Looks for messages and does some work. False if there is none.
    fn step(&mut self) -> Result<bool> {
        while let Some(message) = self.mailbox.try_receive()? {
            self.handle(message)?;
        }
        self.settle()?;
        self.give_credits()?;
        let any = self.work()?;
        match any {
            true => self.send_waiting()?,
            false => self.flush()?,
        }
        Ok(any)
    }

    /// Works for as long as it may take until the next look for messages.
    fn work(&mut self) -> Result<bool> {
        let mut any = false;
        let until = self.worked.nodes + self.settings.poll_nodes;
        for _ in 0..REQUESTS_PER_POLL {
            let nodes = until.saturating_sub(self.worked.nodes);
            if nodes == 0 {
                break;
            }
            if self.current.is_some() {
                self.advance(nodes);
            } else if let Some(request) = self.requests.pop() {
                self.take(&request)?;
            } else {
                break;
            }
            self.settle()?;
            any = true;
        }
        self.packets
            .work(self.worked.nodes - std::mem::replace(&mut self.declared, self.worked.nodes));
        Ok(any)
    }

    /// True if this rank has nothing more to say.
    fn is_quiet(&self) -> bool {
        let has_sent = (0..self.packets.size()).all(|to| !self.outgoing.has_jobs(to));
        self.is_closed && has_sent && self.requests.is_quiet() && self.answers.is_empty()
    }

    /// Asks all ranks what they have done, unless they were asked. True if all have answered.
    fn begin_wave(&mut self) -> Result<bool> {
        if self.lead.detector.is_waving() {
            return Ok(false);
        }
        let wave = self.lead.detector.begin();
        self.lead.tallies = Tally::default();
        self.tell_all(Kind::Ask, wave)?;
        self.answered(Rank(0), wave, self.tally())?;
        Ok(!self.lead.detector.is_waving())
    }

    fn tally(&self) -> Tally {
        Tally { messages: self.messages, jobs: self.requests_sent, worked: self.worked }
    }

    fn header(&self, kind: Kind, number: u32) -> Header {
        Header { kind, bound: 0, iteration: self.search, number }
    }

    fn send(&self, to: usize, kind: Kind, number: u32, bytes: &[u8]) -> Result<()> {
        let header = self.header(kind, number).emit();
        Ok(self.mailbox.send(Rank(to as u16), &[&header[..], bytes])?)
    }

    fn tell_all(&self, kind: Kind, number: u32) -> Result<()> {
        (1..self.packets.size()).try_for_each(|to| self.send(to, kind, number, &[]))
    }
}
