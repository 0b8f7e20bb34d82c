//! Credits, as they can be seen on the links.

use super::Broken;
use weft_protocol::Settings;
use weft_wire::{Channel, Header, Rank, Tag};

/// What is known of the careful presets' credits.
pub(super) struct Careful {
    ranks: usize,
    window: u16,
    pairs: Vec<Pair>,
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
}

impl Careful {
    pub fn new(settings: &Settings) -> Self {
        let ranks = usize::from(settings.ranks);
        let pairs = if settings.preset.retransmits() { 0 } else { ranks * ranks };
        let window = settings.window_packets;
        Careful { ranks, window, pairs: vec![Pair::default(); pairs], hosts: vec![(0, 0); ranks] }
    }

    pub fn transmitted(&mut self, from: Rank, to: Rank, header: &Header) -> Result<(), Broken> {
        let window = self.window;
        let back = self.pair(to, from);
        back.given += u64::from(header.credits);
        if back.given > back.arrived {
            let (given, packets) = (back.given, back.arrived);
            return Err(Broken::Credits { from, to, given, packets });
        }
        if costs_a_credit(header) {
            let pair = self.pair(from, to);
            pair.sent += 1;
            let packets = pair.sent - pair.returned;
            if packets > u64::from(window) {
                return Err(Broken::Window { from, to, packets, window });
            }
        }
        Ok(())
    }

    pub fn received(&mut self, at: Rank, from: Rank, header: &Header) {
        self.pair(at, from).returned += u64::from(header.credits);
        self.pair(from, at).arrived += u64::from(costs_a_credit(header));
        self.hosts[at.index()].0 += u64::from(is_for_the_host(header));
    }

    pub fn copied(&mut self, at: Rank, header: &Header) {
        self.hosts[at.index()].1 += u64::from(is_for_the_host(header));
    }

    /// What is wrong when nothing is under way any more.
    pub fn in_the_end(&self) -> Option<Broken> {
        if self.pairs.is_empty() {
            return None;
        }
        let hosts = (0..).map(Rank).zip(&self.hosts);
        let mut dropped = hosts.filter(|(_, (received, copied))| received != copied);
        if let Some((at, &(received, copied))) = dropped.next() {
            return Some(Broken::Dropped { at, received, copied });
        }
        // Half a window goes back at once; fewer wait for a packet to take them along.
        let half = u64::from(self.window.div_ceil(2));
        let lost = self.pairs.iter().position(|pair| pair.arrived - pair.given >= half)?;
        let (sender, receiver) = (lost / self.ranks, lost % self.ranks);
        let kept = self.pairs[lost].arrived - self.pairs[lost].given;
        Some(Broken::CreditsLost { from: Rank(receiver as u16), to: Rank(sender as u16), kept })
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
