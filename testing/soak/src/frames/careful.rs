//! Credits, as they can be seen on the links.

use super::Broken;
use weft_protocol::Settings;
use weft_wire::{Channel, Header, Rank, Tag};

/// Credits of the careful presets, as far as they are known.
pub(super) struct Careful {
    ranks: usize,
    /// Credits with which each pair begins, and to which it gets at most.
    first: u16,
    window: u16,
    /// Credits that all senders of a receiver may have together.
    buffers: u64,
    adaptive: bool,
    pairs: Vec<Pair>,
    /// Credits that all senders of each rank have, or that are on their way.
    promised: Vec<u64>,
    /// Data packets that reached each rank's NI, and its host.
    hosts: Vec<(u64, u64)>,
}

/// An ordered pair of sender and receiver.
#[derive(Clone, Copy, Default)]
struct Pair {
    /// Data packets sent at the cost of a credit.
    sent: u64,
    /// Those of them that arrived.
    arrived: u64,
    /// Credits that the receiver put on the link.
    given: u64,
    /// Those of them that arrived.
    returned: u64,
    /// Credits that the sender put on the link, for others to have.
    handed_back: u64,
    /// Those of them that arrived.
    regained: u64,
}

impl Pair {
    /// Credits that the sender has, or that are on their way to it or back from it.
    fn rights(&self, first: u16) -> u64 {
        (u64::from(first) + self.given).saturating_sub(self.arrived + self.regained)
    }
}

impl Careful {
    pub fn new(settings: &Settings) -> Self {
        let ranks = usize::from(settings.ranks);
        let pairs = if settings.preset.retransmits() { 0 } else { ranks * ranks };
        let (first, window) = (settings.first_credits(), settings.window_packets);
        let buffers = settings.promised_buffers() as u64;
        let adaptive = settings.adaptive.is_some();
        Careful {
            ranks,
            first,
            window,
            buffers,
            adaptive,
            pairs: vec![Pair::default(); pairs],
            promised: vec![(ranks as u64 - 1) * u64::from(first); ranks],
            hosts: vec![(0, 0); ranks],
        }
    }

    pub fn transmitted(&mut self, from: Rank, to: Rank, header: &Header) -> Result<(), Broken> {
        match header.tag {
            Tag::Recall => return Ok(()),
            Tag::Return => self.pair(from, to).handed_back += u64::from(header.credits),
            _ => self.give(from, to, header.credits)?,
        }
        self.pair(from, to).sent += u64::from(costs_a_credit(header));
        let (first, window) = (self.first, self.window);
        let pair = self.pair(from, to);
        let (packets, credits) = (pair.sent + pair.handed_back, u64::from(first) + pair.returned);
        if packets > credits {
            let packets = packets + u64::from(window) - credits;
            return Err(Broken::Window { from, to, packets, window });
        }
        Ok(())
    }

    /// `from` gives credits of `to` back, or new ones if it may.
    fn give(&mut self, from: Rank, to: Rank, credits: u16) -> Result<(), Broken> {
        if credits == 0 {
            return Ok(());
        }
        let back = self.change(to, from, |pair| pair.given += u64::from(credits));
        let (Pair { given, arrived, .. }, rights) = (back, back.rights(self.first));
        if (given > arrived && !self.adaptive) || rights > u64::from(self.window) {
            return Err(Broken::Credits { from, to, given, packets: arrived });
        }
        let (promised, buffers) = (self.promised[from.index()], self.buffers);
        if self.adaptive && promised > buffers {
            return Err(Broken::Promised { at: from, promised, buffers });
        }
        Ok(())
    }

    pub fn received(&mut self, at: Rank, from: Rank, header: &Header) {
        match header.tag {
            Tag::Recall => {}
            Tag::Return => {
                self.change(from, at, |pair| pair.regained += u64::from(header.credits));
            }
            _ => self.pair(at, from).returned += u64::from(header.credits),
        }
        if costs_a_credit(header) {
            self.change(from, at, |pair| pair.arrived += 1);
        }
        self.hosts[at.index()].0 += u64::from(is_for_the_host(header));
    }

    pub fn copied(&mut self, at: Rank, header: &Header) {
        self.hosts[at.index()].1 += u64::from(is_for_the_host(header));
    }

    /// Error that shows when nothing is under way any more.
    pub fn in_the_end(&self) -> Option<Broken> {
        if self.pairs.is_empty() {
            return None;
        }
        let hosts = (0..).map(Rank).zip(&self.hosts);
        let mut dropped = hosts.filter(|(_, (received, copied))| received != copied);
        if let Some((at, &(received, copied))) = dropped.next() {
            return Some(Broken::Dropped { at, received, copied });
        }
        // Half a window goes back at once; fewer wait for a packet to take them along. Of a window
        // that changes, the sender has half, and so one at least.
        let least = if self.adaptive { 1 } else { u64::from(self.window / 2) + 1 };
        let is_pair = |&at: &usize| at / self.ranks != at % self.ranks;
        let mut pairs = (0..self.pairs.len()).filter(is_pair);
        let lost = pairs.find(|&at| self.pairs[at].rights(self.first) < least)?;
        let (sender, receiver) = (lost / self.ranks, lost % self.ranks);
        let kept = self.pairs[lost].arrived.saturating_sub(self.pairs[lost].given);
        Some(Broken::CreditsLost { from: Rank(receiver as u16), to: Rank(sender as u16), kept })
    }

    /// Changes what is known of a pair, and what its receiver has promised with it.
    fn change(&mut self, sender: Rank, receiver: Rank, what: impl FnOnce(&mut Pair)) -> Pair {
        let first = self.first;
        let pair = self.pair(sender, receiver);
        let before = pair.rights(first);
        what(pair);
        let changed = *pair;
        if sender != receiver {
            let promised = &mut self.promised[receiver.index()];
            *promised = *promised + changed.rights(first) - before;
        }
        changed
    }

    fn pair(&mut self, sender: Rank, receiver: Rank) -> &mut Pair {
        &mut self.pairs[sender.index() * self.ranks + receiver.index()]
    }
}

fn costs_a_credit(header: &Header) -> bool {
    header.tag.is_data() && header.channel == Channel::NONE
}

fn is_for_the_host(header: &Header) -> bool {
    matches!(header.tag, Tag::Ucast | Tag::Mcast)
}
