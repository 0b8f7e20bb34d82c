//! State of an NI about each of its peers, made when the first packet goes there or comes from
//! there.
//!
//! A rank of a large job talks to few others: its parents and children in trees, its neighbours. In
//! pages a job of 10,000 ranks needs megabytes where a flat table for every pair would need
//! gigabytes. The table of a small job is flat: it is looked at for every packet.

use crate::credit::{ReceiveCredits, SendCredits};
use crate::departure::Departure;
use crate::hearing::Hearing;
use crate::sequence::Flow;
use crate::settings::{Settings, Silence};
use crate::timer::{Nanoseconds, Timer};
use std::fmt::{self, Debug};
use std::hash::{Hash, Hasher};
use std::ops::{Index, IndexMut};
use weft_wire::{Header, Rank};

/// Peers of a page.
const PAGE: usize = 16;
/// Ranks of a job whose table is flat, at most, where credits are all there is.
const FEW: usize = 64;

/// One peer, seen from here.
#[derive(Debug, Clone, Hash)]
pub(crate) struct Peer<B> {
    pub outgoing: SendCredits<Departure<B>>,
    pub incoming: ReceiveCredits,
    /// Numbers and what is unacknowledged, where packets may be lost between the two; `None` where
    /// the link loses nothing, and credits are all there is.
    pub flow: Option<Box<Flow<B>>>,
}

impl<B> Peer<B> {
    /// True if nothing was sent there or came from there.
    pub fn is_fresh(&self, settings: &Settings) -> bool {
        let floor = settings.floor(self.flow.is_some());
        let first = floor.unwrap_or(self.outgoing.window());
        let idle = self.outgoing.is_fresh(first)
            && self.incoming == ReceiveCredits::new(self.incoming.window());
        idle && self.flow.as_ref().is_none_or(|flow| flow.is_fresh())
    }
}

/// All peers.
#[derive(Clone)]
pub(crate) struct Peers<B> {
    /// All peers, in small jobs; else none.
    flat: Box<[Peer<B>]>,
    pages: Vec<Option<Box<[Peer<B>; PAGE]>>>,
    ranks: usize,
    fresh: Fresh,
}

/// Initial state of a peer.
#[derive(Debug, Clone, Copy)]
struct Fresh {
    /// Credits, or packets that may be unacknowledged.
    window: u16,
    numbered: bool,
    /// Credits of a peer between whom and this rank nothing is lost.
    careful_window: u16,
    /// Those that there are to begin with, where windows follow demand.
    floor: Option<u16>,
    /// Packets that may be under way to begin with, where they are numbered and the network may be
    /// congested.
    numbered_floor: Option<u16>,
    /// Peers that are there from the beginning.
    founders: usize,
}

impl Fresh {
    fn of(settings: &Settings) -> Self {
        let numbered = settings.preset.retransmits();
        let window = if numbered { settings.unacknowledged() } else { settings.window_packets };
        let (floor, numbered_floor) = (settings.floor(false), settings.floor(true));
        let careful_window = settings.window_packets;
        let founders = settings.founders.into();
        Fresh { window, numbered, careful_window, floor, numbered_floor, founders }
    }

    /// Credits to begin with.
    fn first_credits(self) -> u16 {
        let floor = if self.numbered { self.numbered_floor } else { self.floor };
        floor.unwrap_or(self.window)
    }

    fn peer<B>(self, rank: usize) -> Peer<B> {
        let hearing = Hearing::of(rank < self.founders);
        let flow = || Box::new(Flow { hearing, ..Flow::default() });
        Peer {
            outgoing: SendCredits::with(self.first_credits(), self.window),
            incoming: ReceiveCredits::new(self.floor.unwrap_or(self.window)),
            flow: self.numbered.then(flow),
        }
    }
}

impl<B> Peer<B> {
    /// The header of a packet that leaves now for this peer, with the credits that are owed to it;
    /// where windows follow demand it may ask for some.
    #[inline(always)]
    pub fn return_credits(&mut self, mut header: Header, is_adaptive: bool) -> Header {
        header.credits = self.incoming.collect();
        header.asks = is_adaptive && self.outgoing.is_short();
        header
    }
}

impl<B> Peers<B> {
    /// Those that exist so far, in the order of their ranks; some of them may be unused.
    pub fn iter(&self) -> impl Iterator<Item = (Rank, &Peer<B>)> {
        let pages = self.pages.iter().enumerate();
        let pages = pages.filter_map(|(number, page)| Some((number * PAGE, page.as_ref()?)));
        let paged = pages.flat_map(|(first, page)| (first..).zip(page.iter()));
        let peers = self.flat.iter().enumerate().chain(paged);
        // The last page may be for more than there are.
        peers
            .take_while(|(rank, _)| *rank < self.ranks)
            .map(|(rank, peer)| (Rank(rank as u16), peer))
    }
}

impl<B> Peers<B> {
    /// Those whose packets have numbers.
    pub fn flows(&self) -> impl Iterator<Item = (Rank, &Flow<B>)> {
        self.iter().filter_map(|(rank, peer)| Some((rank, peer.flow.as_deref()?)))
    }

    /// Those of whom something is expected.
    pub fn met(&self) -> impl Iterator<Item = Rank> {
        self.flows().filter(|(_, flow)| flow.hearing.is_expected()).map(|(rank, _)| rank)
    }

    /// The first timer of all, where peers may keep silent for so long.
    pub fn earliest_timer(&self, silence: Option<Silence>) -> Option<(Nanoseconds, Timer)> {
        let deadlines = self.flows().flat_map(|(_, flow)| {
            let Flow { sending, receiving, hearing } = flow;
            let resend = sending.deadline.map(|at| (at, Timer::Retransmit));
            let look = silence.and_then(|silence| hearing.deadline(silence));
            let look = look.map(|at| (at, Timer::Silence));
            [resend, receiving.deadline.map(|at| (at, Timer::Acknowledge)), look]
        });
        deadlines.flatten().min()
    }
}

impl<B: Clone> Peers<B> {
    pub fn new(settings: &Settings) -> Self {
        let ranks = usize::from(settings.ranks);
        let fresh = Fresh::of(settings);
        // What is numbered is as large as a page in any case.
        let is_flat = ranks <= if fresh.numbered { PAGE } else { FEW };
        let (few, many) = if is_flat { (ranks, 0) } else { (0, ranks) };
        let flat = (0..few).map(|rank| fresh.peer(rank)).collect();
        let pages = (0..many.div_ceil(PAGE)).map(|_| None).collect();
        Peers { flat, pages, ranks, fresh }
    }

    /// Ranks in the job, this one included.
    #[inline]
    pub fn len(&self) -> usize {
        self.ranks
    }

    /// `peer`, if anything was ever sent there or came from there.
    #[inline]
    pub fn get(&self, peer: Rank) -> Option<&Peer<B>> {
        let index = peer.index();
        let paged = || self.pages.get(index / PAGE)?.as_ref().map(|page| &page[index % PAGE]);
        self.flat.get(index).or_else(paged)
    }

    /// True if `peer` has ended, in good order: what is sent there reaches nobody.
    pub fn is_gone(&self, peer: Rank) -> bool {
        let flow = self.get(peer).and_then(|peer| peer.flow.as_ref());
        flow.is_some_and(|flow| flow.hearing.gone)
    }

    /// True if packets between `peer` and this rank are numbered, because they may be lost.
    #[inline]
    pub fn is_numbered(&self, peer: Rank) -> bool {
        self.get(peer).map_or(self.fresh.numbered, |peer| peer.flow.is_some())
    }

    /// Nothing is lost between `peer` and this rank: credits will do.
    pub fn set_lossless(&mut self, peer: Rank) {
        let fresh = Fresh { window: self.fresh.careful_window, numbered: false, ..self.fresh };
        self[peer] = fresh.peer(peer.index());
    }

    /// The credits, or places in the window, that a peer has to begin with.
    pub fn first_credits(&self) -> u16 {
        self.fresh.first_credits()
    }

    /// Hashes every peer, whether it exists or not: one that does not is like a fresh one.
    pub fn hash_all<H: Hasher>(&self, state: &mut H)
    where
        B: Hash,
    {
        for rank in (0..self.ranks).map(|rank| Rank(rank as u16)) {
            match self.get(rank) {
                Some(peer) => peer.hash(state),
                None => self.fresh.peer::<B>(rank.index()).hash(state),
            }
        }
    }

    /// State of what passes between `peer` and this rank, whose packets are numbered.
    #[inline]
    pub fn flow(&mut self, peer: Rank) -> &mut Flow<B> {
        match &mut self[peer].flow {
            Some(flow) => flow,
            None => unreachable!("what is numbered has a flow"),
        }
    }

    /// `peer`, if there is such a rank.
    #[inline(always)]
    pub fn get_mut(&mut self, peer: Rank) -> Option<&mut Peer<B>> {
        let index = peer.index();
        if index < self.flat.len() { Some(&mut self.flat[index]) } else { self.in_page(index) }
    }

    #[inline(never)]
    fn in_page(&mut self, index: usize) -> Option<&mut Peer<B>> {
        if self.pages.get(index / PAGE)?.is_none() {
            self.open_page(index / PAGE);
        }
        let page = self.pages[index / PAGE].as_mut().filter(|_| index < self.ranks)?;
        Some(&mut page[index % PAGE])
    }

    #[cold]
    fn open_page(&mut self, number: usize) {
        let fresh = self.fresh;
        self.pages[number] =
            Some(Box::new(std::array::from_fn(|index| fresh.peer(number * PAGE + index))));
    }
}

/// Shows the peers that are not as they started, whether the others exist or not.
impl<B: Debug> Debug for Peers<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_used = |&(rank, peer): &(Rank, &Peer<B>)| {
            format!("{peer:?}") != format!("{:?}", self.fresh.peer::<B>(rank.index()))
        };
        f.debug_map().entries(self.iter().filter(is_used)).finish()
    }
}

impl<B: Clone> Index<Rank> for Peers<B> {
    type Output = Peer<B>;

    fn index(&self, peer: Rank) -> &Peer<B> {
        self.get(peer).expect("a peer is looked at before it was ever written to")
    }
}

impl<B: Clone> IndexMut<Rank> for Peers<B> {
    #[inline(always)]
    fn index_mut(&mut self, peer: Rank) -> &mut Peer<B> {
        self.get_mut(peer).expect("a peer is a rank of the job")
    }
}
