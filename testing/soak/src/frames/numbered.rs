//! Numbers and acknowledgements, as they can be seen on the links (thesis 8.2.2, 8.3.2).

use super::{Broken, is_numbered};
use std::collections::{BTreeMap, VecDeque};
use weft_protocol::tree::MulticastGroup;
use weft_protocol::{Acknowledging, Settings};
use weft_wire::{GroupId, Header, Rank, Tag};

/// Flows of the presets that retransmit, as far as they are known. Runs are too short for numbers
/// to wrap around.
pub(super) struct Numbered {
    ranks: usize,
    window: u16,
    /// Receivers say how much room they have.
    optimistic: bool,
    flows: Vec<Flow>,
    /// The group of all; under ACK-forward only, and only its packets are judged by that.
    everyone: Option<MulticastGroup>,
    /// Broadcast packets of a root that a rank has forwarded: by rank, root, child.
    forwarded: BTreeMap<(Rank, Rank, Rank), u64>,
    /// Broadcast packets of a root that a rank has got.
    got: BTreeMap<(Rank, Rank), u64>,
}

/// From one rank to another.
#[derive(Clone, Default)]
struct Flow {
    /// The sender's next number.
    next: u32,
    /// The next number that it knows its receiver to expect.
    acknowledged: u32,
    /// Packets that were received, up to the first that is missing.
    received: u32,
    /// The first number for which the receiver is known to have no room.
    no_room: Option<u32>,
    /// Broadcast packets among those that came and were not acknowledged: number, root, and which
    /// of the root's packets it is.
    unacknowledged: VecDeque<(u32, Rank, u64)>,
}

impl Numbered {
    pub fn new(settings: &Settings, everyone: MulticastGroup) -> Self {
        let ranks = usize::from(settings.ranks);
        let flows = if settings.preset.retransmits() { ranks * ranks } else { 0 };
        let forward = settings.preset.acknowledging() == Acknowledging::Forward;
        Numbered {
            ranks,
            window: settings.unacknowledged(),
            optimistic: settings.preset.is_optimistic(),
            flows: vec![Flow::default(); flows],
            everyone: forward.then_some(everyone),
            forwarded: BTreeMap::new(),
            got: BTreeMap::new(),
        }
    }

    pub fn transmitted(&mut self, from: Rank, to: Rank, header: &Header) -> Result<(), Broken> {
        if is_numbered(header.tag) {
            self.number(from, to, header)?;
        }
        self.acknowledge(from, to, header.acknowledgement)
    }

    pub fn received(&mut self, at: Rank, from: Rank, header: &Header) {
        let optimistic = self.optimistic;
        let back = self.flow(at, from);
        if header.acknowledgement >= back.acknowledged {
            back.acknowledged = header.acknowledgement;
            let room = u32::from(header.credits).checked_sub(1).filter(|_| optimistic);
            back.no_room = room.map(|room| header.acknowledgement + room);
        }
        let flow = self.flow(from, at);
        if !is_numbered(header.tag) || header.sequence != flow.received {
            return;
        }
        flow.received += 1;
        if header.tag == Tag::Mcast && header.tree.group() == Some(GroupId::ALL) {
            let root = header.tree.root;
            let got = self.got.entry((at, root)).or_default();
            let which = *got;
            *got += 1;
            self.flow(from, at).unacknowledged.push_back((header.sequence, root, which));
        }
    }

    /// `from` sends a packet with a number: a new one, the next, or again.
    fn number(&mut self, from: Rank, to: Rank, header: &Header) -> Result<(), Broken> {
        let window = self.window;
        let flow = self.flow(from, to);
        let number = header.sequence;
        if number > flow.next {
            return Err(Broken::Number { from, to, number, next: flow.next });
        }
        if number < flow.next {
            return Ok(());
        }
        flow.next += 1;
        let no_room = flow.no_room.filter(|first| number >= *first);
        let packets = flow.next - flow.acknowledged;
        if let Some(first) = no_room {
            return Err(Broken::NoRoom { from, to, number, first });
        }
        if packets > u32::from(window) {
            return Err(Broken::Unacknowledged { from, to, packets, window });
        }
        if header.tag == Tag::Mcast && header.tree.group() == Some(GroupId::ALL) {
            *self.forwarded.entry((from, header.tree.root, to)).or_default() += 1;
        }
        Ok(())
    }

    /// `from` tells `to` that it expects `next`.
    fn acknowledge(&mut self, from: Rank, to: Rank, next: u32) -> Result<(), Broken> {
        let flow = self.flow(to, from);
        if next > flow.received {
            return Err(Broken::Acknowledged { from, to, next, received: flow.received });
        }
        while let Some(&(number, root, which)) = self.flow(to, from).unacknowledged.front() {
            if number >= next {
                break;
            }
            self.flow(to, from).unacknowledged.pop_front();
            if !self.has_forwarded(from, root, which) {
                return Err(Broken::Unforwarded { at: from, from: to, number });
            }
        }
        Ok(())
    }

    fn has_forwarded(&self, at: Rank, root: Rank, which: u64) -> bool {
        let Some(everyone) = &self.everyone else { return true };
        let forwarded = |child| self.forwarded.get(&(at, root, child)).copied().unwrap_or(0);
        everyone.children(root, at).all(|child| forwarded(child) > which)
    }

    fn flow(&mut self, from: Rank, to: Rank) -> &mut Flow {
        &mut self.flows[from.index() * self.ranks + to.index()]
    }
}
