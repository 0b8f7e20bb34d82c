//! Facts about ranks that all others must know before any can begin, gathered for many at a time.
//!
//! Cards hold more, and are fetched by those who need it: the ranks of the same host, and rank 0,
//! which hands out the secret. Of all other ranks nobody fetches anything but their facts: the
//! first rank of each group of consecutive ones reads the cards of its group, and puts their facts
//! into the store as one value.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::hash::Hasher;
use std::net::SocketAddr;

use crate::pmi::PmiClient;
use serde::{Deserialize, Serialize};
use siphasher::sip128::{Hasher128, SipHasher24};
use weft_datagram::seal::Protection;
use weft_wire::Rank;

use super::card::Card;
use super::error::{ManagedError, MeetError};
use crate::messages::parts::text;
use crate::messages::{BadMessage, Message, at_most, check_protection};
use crate::mtu::Mtu;

/// Ranks of a group, but for the last: as many values are read by each as there are groups in the
/// largest job.
const GROUP: u16 = 32;
/// Key in the store of a card, and of the facts of a group.
const CARD: &str = "card";
const GROUP_FACTS: &str = "facts";

/// The cards that a rank knows, by rank.
pub(crate) type Cards = BTreeMap<Rank, Card>;

/// Facts about a rank.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Facts {
    /// Number of its host, the same for ranks of one host and for no others.
    pub host: u128,
    /// Number of its machine, which may be several hosts.
    pub machine: u128,
    /// The core that it is bound to, if it may use one only.
    pub only_core: Option<u16>,
    /// Number of the set of cores that it may use.
    pub cores: u128,
    /// The host's name, for people.
    #[serde(with = "text")]
    pub node: String,
    /// Address of its socket for datagrams, if other hosts can be reached.
    pub address: Option<SocketAddr>,
    /// Longest packets from there.
    pub mtu: Mtu,
    /// The link that its environment asks for; nothing if it leaves that open.
    #[serde(with = "text")]
    pub link: String,
    /// The protection that its environment asks for, if any.
    pub protection: Option<Protection>,
    /// True if it listens for TCP connections at the port of its socket.
    pub listens: bool,
    /// Answer of the system to a call that it refuses there; nothing if it refuses none.
    #[serde(with = "text")]
    pub refused: String,
}

impl Facts {
    /// Those on a card.
    pub fn of(card: &Card) -> Self {
        Facts {
            host: hash(&card.host),
            machine: hash(card.machine()),
            only_core: card.only_core(),
            cores: hash(&card.cores),
            node: card.node.clone(),
            address: card.address,
            mtu: card.mtu,
            link: card.link.clone(),
            protection: card.protection,
            listens: card.listens,
            refused: card.refused.clone(),
        }
    }
}

fn hash(name: &str) -> u128 {
    let mut hasher = SipHasher24::new();
    hasher.write(name.as_bytes());
    hasher.finish128().as_u128()
}

/// Facts about the ranks of a group, in their order.
impl Message for Vec<Facts> {
    const KIND: u16 = 8;

    fn check(&self) -> Result<(), BadMessage> {
        at_most(self, GROUP.into())?;
        self.iter().filter_map(|facts| facts.protection).try_for_each(check_protection)
    }
}

/// Ranks of the group of a rank, which is its first; `None` if it is the first of none.
fn group(first: Rank, ranks: u16) -> Option<impl Iterator<Item = Rank>> {
    let end = first.0.saturating_add(GROUP).min(ranks);
    first.0.is_multiple_of(GROUP).then(|| (first.0..end).map(Rank))
}

/// Puts this rank's card into the store, and, once those of others are there, what it is to gather
/// from them. Returns the cards that it knows: rank 0 those of all.
///
/// Blocks until all ranks are here.
pub(super) fn publish(
    (own, ranks): (Rank, u16),
    card: &Card,
    exchange: &mut dyn PmiClient,
) -> Result<Cards, ManagedError> {
    exchange.put(CARD, &card.emit())?;
    exchange.fence()?;
    let mut cards = Cards::from([(own, card.clone())]);
    if own == Rank(0) {
        fetch(&mut cards, (0..ranks).map(Rank), exchange)?;
    }
    if let Some(group) = group(own, ranks) {
        let group: Vec<Rank> = group.collect();
        fetch(&mut cards, group.iter().copied(), exchange)?;
        let facts: Vec<Facts> = group.iter().map(|rank| Facts::of(&cards[rank])).collect();
        exchange.put(GROUP_FACTS, &facts.emit())?;
    }
    Ok(cards)
}

/// Facts about all ranks, by rank; to be called once all have put there what they were to gather.
/// Of `cards` there are those of this host and of rank 0 afterwards, at least.
pub(super) fn gather(
    own: Rank,
    ranks: u16,
    cards: &mut Cards,
    exchange: &mut dyn PmiClient,
) -> Result<Vec<Facts>, ManagedError> {
    let mut facts = Vec::new();
    for first in (0..ranks).step_by(GROUP.into()) {
        let group = exchange.get(first.into(), GROUP_FACTS)?;
        let group = Vec::<Facts>::parse(&group).map_err(MeetError::from)?;
        if group.len() != usize::from(GROUP.min(ranks - first)) {
            return Err(MeetError::from(BadMessage::Range("number of facts")).into());
        }
        facts.extend(group);
    }
    let host = facts[own.index()].host;
    let here = (0..).map(Rank).zip(&facts).filter(|(_, facts)| facts.host == host);
    let here: Vec<Rank> = here.map(|(rank, _)| rank).chain([Rank(0)]).collect();
    fetch(cards, here, exchange)?;
    match cards.iter().all(|(rank, card)| Facts::of(card) == facts[rank.index()]) {
        true => Ok(facts),
        false => Err(MeetError::from(BadMessage::Range("set of facts")).into()),
    }
}

fn fetch(
    cards: &mut Cards,
    ranks: impl IntoIterator<Item = Rank>,
    exchange: &mut dyn PmiClient,
) -> Result<(), ManagedError> {
    for rank in ranks {
        if let Entry::Vacant(unknown) = cards.entry(rank) {
            let bytes = exchange.get(rank.0.into(), CARD)?;
            unknown.insert(Card::parse(&bytes).map_err(MeetError::from)?);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
