//! Record of what has passed between the NI under test and its peers, kept from outside.

use std::collections::{BTreeMap, BTreeSet};
use weft_protocol::Settings;
use weft_wire::{Channel, GroupId, Header, Rank, Tag, TreeId};

/// All that is known about all peers.
#[derive(Clone)]
pub struct Ledger {
    local: Rank,
    window: u16,
    /// Credits say how much room there is (Pupa 2.2.2).
    tells_room: bool,
    pairs: Vec<Pair>,
    pub channels: Channels,
}

/// One peer: credits where packets are sent carefully, numbers where they are sent again.
#[derive(Clone, Default)]
pub struct Pair {
    pub credits: Credits,
    pub numbers: Numbers,
}

/// Data packets that cost a credit, and credits for them.
#[derive(Clone, Default)]
pub struct Credits {
    /// Packets transmitted to the peer.
    sent: u32,
    /// Credits that it returned for them.
    returned: u32,
    /// Packets accepted from it.
    accepted: u32,
    /// Credits given back to it.
    given: u32,
    /// Credits for it that were handed back when it asked.
    handed_back: u32,
    /// Its credits that it has handed back.
    got_back: u32,
    /// The credits that it was asked for, and has not answered about.
    pub asked: Option<u16>,
}

/// Go-back-N in both directions. Scripts are too short for numbers to wrap around.
#[derive(Clone, Default)]
pub struct Numbers {
    /// The number of the next packet to the peer.
    pub next: u32,
    /// The peer has acknowledged all before this one.
    pub acknowledged: u32,
    /// The number that is accepted next from the peer.
    pub expected: u32,
    /// The host has seen all before this one.
    pub seen: u32,
    /// Packets after these that count as seen: they wait for their group, not for the host.
    early: BTreeSet<u32>,
    /// The acknowledgement that the peer was sent last.
    pub told: u32,
    /// The peer has said farewell: it need not acknowledge anything any more.
    pub gone: bool,
}

/// Recovery channels (I7).
#[derive(Clone, Default)]
pub struct Channels {
    /// By owner, those on which a packet came: from whom, of which tree.
    open: BTreeMap<Rank, (Rank, TreeId)>,
    /// Children that were sent a packet on the channel of an owner, and have not cleared it.
    pub below: BTreeSet<(Rank, Rank)>,
}

impl Ledger {
    pub fn new(local: Rank, settings: &Settings) -> Self {
        let pairs = vec![Pair::default(); usize::from(settings.ranks)];
        let (window, preset) = (settings.unacknowledged(), settings.preset);
        let tells_room = preset.is_optimistic();
        Ledger { local, window, tells_room, pairs, channels: Channels::default() }
    }

    pub fn pair(&self, peer: Rank) -> &Pair {
        &self.pairs[peer.index()]
    }

    /// Those who may be heard of: everybody but the NI under test.
    pub fn peers(&self) -> impl Iterator<Item = Rank> + use<> {
        let local = self.local;
        (0..self.pairs.len() as u16).map(Rank).filter(move |&peer| peer != local)
    }

    /// The NI is about to get a packet, under a careful preset.
    pub fn arrives(&mut self, header: &Header) {
        let Some(pair) = self.pairs.get_mut(header.source.index()) else { return };
        match header.tag {
            Tag::Recall => {}
            Tag::Return => {
                pair.credits.asked = None;
                pair.credits.got_back += u32::from(header.credits);
            }
            _ => pair.credits.returned += u32::from(header.credits),
        }
        match (header.tag, header.channel.0) {
            (Tag::ChannelClear, Some(owner)) => {
                self.channels.below.remove(&(header.source, owner));
            }
            (tag, Some(owner)) if tag.is_data() => {
                self.channels.open.insert(owner, (header.source, header.tree));
            }
            (tag, _) => pair.credits.accepted += u32::from(tag.is_data()),
        }
    }

    /// Whoever acknowledges is about to look at a packet, under a preset that retransmits.
    pub fn acknowledges(&mut self, header: &Header) {
        let Some(Pair { numbers, .. }) = self.pairs.get_mut(header.source.index()) else { return };
        if (numbers.acknowledged..=numbers.next).contains(&header.acknowledgement) {
            numbers.acknowledged = header.acknowledgement;
        }
    }

    /// A numbered packet was accepted.
    pub fn accepted(&mut self, header: &Header) {
        let numbers = &mut self.pairs[header.source.index()].numbers;
        assert_eq!(header.sequence, numbers.expected, "I3 order: {header:?} was accepted");
        numbers.expected += 1;
        numbers.gone |= header.tag == Tag::Farewell;
    }

    /// The host got to it.
    pub fn seen(&mut self, header: &Header) {
        let numbers = &mut self.pairs[header.source.index()].numbers;
        assert_eq!(header.sequence, numbers.seen, "I3 order: the host was shown {header:?}");
        numbers.seen += 1;
        numbers.pass_early();
    }

    /// The NI keeps it until its group is there. It may be acknowledged.
    pub fn received_early(&mut self, header: &Header) {
        let numbers = &mut self.pairs[header.source.index()].numbers;
        numbers.early.insert(header.sequence);
        numbers.pass_early();
    }

    /// The host got to what its NI had accepted: in order, but for what had come early.
    pub fn reached_host(&mut self, header: &Header) {
        let numbers = &self.pairs[header.source.index()].numbers;
        let early = header.tag == Tag::Mcast && header.tree.group() != Some(GroupId::ALL);
        if !early || header.sequence >= numbers.seen && !numbers.early.contains(&header.sequence) {
            self.seen(header);
        }
    }

    /// The NI transmits a packet, under a careful preset.
    pub fn transmitted_carefully(&mut self, to: Rank, header: &Header) {
        let credits = &mut self.pairs[to.index()].credits;
        match header.tag {
            Tag::Recall => {
                assert_eq!(credits.asked, None, "{to:?} is asked twice");
                credits.asked = Some(header.credits);
            }
            Tag::Return => credits.handed_back += u32::from(header.credits),
            _ => credits.given += u32::from(header.credits),
        }
        match header.channel.0 {
            None => credits.sent += u32::from(header.tag.is_data()),
            Some(owner) if header.tag.is_data() => {
                self.channels.used(self.local, owner, to, header)
            }
            Some(owner) => self.channels.cleared(owner, to, header),
        }
    }

    /// The NI transmits a packet, under a preset that retransmits.
    pub fn transmitted_numbered(&mut self, to: Rank, header: &Header) {
        assert_eq!(header.channel, Channel::NONE, "{header:?}");
        assert!(header.credits == 0 || self.tells_room, "{header:?}");
        let window = u32::from(self.window);
        let numbers = &mut self.pairs[to.index()].numbers;
        if is_numbered(header.tag) && header.sequence == numbers.next {
            numbers.next += 1;
            let unacknowledged = numbers.next - numbers.acknowledged;
            assert!(
                unacknowledged <= window || numbers.gone,
                "I9 bounded: {unacknowledged} in a window of {window}"
            );
        } else if is_numbered(header.tag) {
            let unacknowledged = numbers.acknowledged..numbers.next;
            assert!(
                unacknowledged.contains(&header.sequence),
                "{header:?} is neither the next packet nor one of {unacknowledged:?}"
            );
        }
        assert!(header.acknowledgement >= numbers.told, "{header:?} after {}", numbers.told);
        numbers.told = header.acknowledgement;
    }

    /// Between events: nothing is acknowledged early, and a window holds what is not.
    pub fn check(&self) {
        for Pair { numbers, .. } in &self.pairs {
            let Numbers { expected, seen, told, .. } = *numbers;
            assert!(told <= seen, "I8 exactly once: {told} acknowledged, {seen} seen");
            assert!(seen <= expected, "{seen} of {expected} accepted packets seen");
            let open = expected - told;
            assert!(open <= u32::from(self.window), "I9 bounded: {open} packets kept in mind");
        }
    }
}

impl Numbers {
    fn pass_early(&mut self) {
        while self.early.remove(&self.seen) {
            self.seen += 1;
        }
    }
}

impl Credits {
    /// Credits for the peer that are not here, less those that came besides.
    pub fn spent(&self) -> i64 {
        i64::from(self.sent) + i64::from(self.handed_back) - i64::from(self.returned)
    }

    /// The peer's credits that are here, less those that it got besides.
    pub fn filled(&self) -> i64 {
        i64::from(self.accepted) + i64::from(self.got_back) - i64::from(self.given)
    }
}

impl Channels {
    /// The owners of the channels that `local` should be on.
    pub fn owners(&self, local: Rank) -> BTreeSet<Rank> {
        let own = self.below.iter().map(|&(_, owner)| owner).filter(|&owner| owner == local);
        own.chain(self.open.keys().copied()).collect()
    }

    fn used(&mut self, local: Rank, owner: Rank, to: Rank, header: &Header) {
        if owner == local {
            let going_on = self.below.iter().any(|&(_, other)| other == local);
            assert!(!going_on, "I7 recovery: {header:?} begins a second one");
        } else {
            let tree = self.open.get(&owner).map(|&(_, tree)| tree);
            assert_eq!(tree, Some(header.tree), "I7 recovery: {header:?} is not of its tree");
        }
        assert!(self.below.insert((to, owner)), "I7 recovery: {header:?} goes to {to:?} twice");
    }

    fn cleared(&mut self, owner: Rank, to: Rank, header: &Header) {
        let parent = self.open.remove(&owner).map(|(parent, _)| parent);
        assert_eq!(parent, Some(to), "I7 recovery: {header:?} is no parent's to hear");
        let below = self.below.iter().any(|&(_, other)| other == owner);
        assert!(!below, "I7 recovery: {header:?} is too early");
    }
}

/// True if packets of this kind are numbered under presets that retransmit.
pub fn is_numbered(tag: Tag) -> bool {
    tag.is_data() || matches!(tag, Tag::FaReply | Tag::Farewell)
}
