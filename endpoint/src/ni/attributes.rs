//! Attributes of a node: what is fixed when it is made, and needs no lock.

use std::sync::Arc;
use weft_link::bell::Bells;
use weft_link::{Capabilities, Link, Services, ShortPackets, ShortWords};
use weft_protocol::Settings;
use weft_wire::Rank;

/// Attributes of a node.
pub(crate) struct Attributes {
    /// This rank.
    pub local: Rank,
    /// Number of ranks in the job, those among them that come later.
    pub ranks: usize,
    /// Number of ranks that the job begins with.
    pub founders: usize,
    /// Guarantees and sizes of the link.
    pub capabilities: Capabilities,
    /// Bells of this rank.
    pub bells: Arc<dyn Bells>,
    /// Services of the link beside frames.
    pub services: Services,
    /// Credits of each ordered pair: `W`.
    pub window_packets: usize,
    /// True if all invariants are checked after each packet.
    pub checks_all: bool,
    /// By rank, user bytes of a packet to it alone, at most; `None` if they are as for any.
    pub payloads: Option<Arc<[u16]>>,
    /// Largest payload of a short packet, in bytes; 0 on links on which frames cost nothing.
    pub short_payload: usize,
    /// By rank: packets there may be short.
    short_to: Box<[bool]>,
}

impl Attributes {
    pub fn new<L: Link>(local: Rank, settings: &Settings, link: &mut L) -> Self {
        let takes_short =
            |rank| L::SHORT.is_some_and(|short| short.are_taken_by(&*link, Rank(rank)));
        let short_to = (0..settings.ranks).map(takes_short).collect();
        Attributes {
            local,
            ranks: usize::from(settings.ranks),
            founders: usize::from(settings.founders),
            capabilities: *link.capabilities(),
            bells: link.bells(),
            services: link.services(),
            window_packets: usize::from(settings.first_credits()),
            checks_all: settings.checks_all,
            payloads: payloads(link, settings.ranks),
            short_payload: if L::SHORT.is_some() { size_of::<ShortWords>() } else { 0 },
            short_to,
        }
    }

    /// True if the job has this rank.
    pub fn has_rank(&self, rank: Rank) -> bool {
        rank.index() < self.ranks
    }

    /// True if packets to `to` may be short.
    #[inline]
    pub fn takes_short(&self, to: Rank) -> bool {
        self.short_to.get(to.index()).is_some_and(|takes| *takes)
    }
}

/// User bytes of a packet to each rank alone, at most; `None` where they are as for any rank.
fn payloads<L: Link>(link: &mut L, ranks: u16) -> Option<Arc<[u16]>> {
    let usual = link.capabilities().max_payload;
    let paths = link.paths()?;
    let own = |rank| paths.payload_to(Rank(rank));
    let any = (0..ranks).any(|rank| own(rank).is_some());
    let most = |rank| u16::try_from(own(rank).unwrap_or(usual)).unwrap_or(u16::MAX);
    any.then(|| (0..ranks).map(most).collect())
}
