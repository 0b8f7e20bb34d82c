//! Facts about ranks that all others must know before any can begin, gathered for many at a time.
//!
//! ```text
//! Facts:  ranks (2) x { host (16) | machine (16) | only core + 1, or 0 (2)
//!                       | cores (16) | node (text) | address (text) | MTU (2)
//!                       | link (text) | wish for a protection, or 0 (1)
//!                       | listens for TCP (1) | refused system call (text) }
//! ```
//! in the frame of [`crate::messages`].
//!
//! Cards hold more, and are fetched by those who need it: the ranks of the same host, and rank 0,
//! which hands out the secret. Of all other ranks nobody fetches anything but their facts: the
//! first rank of each group of consecutive ones reads the cards of its group, and puts their facts
//! into the store as one value.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::hash::Hasher;
use std::net::SocketAddr;

use siphasher::sip128::{Hasher128, SipHasher24};
use weft_pmi::Exchange;
use weft_seal::Protection;
use weft_wire::Rank;

use super::card::{Card, put_protection_wish, take_address, take_protection_wish};
use super::meet::MeetError;
use crate::member::JoinError;
use crate::messages::bytes::{begin, open, put_mtu, put_text};
use crate::messages::{BadMessage, cut};
use crate::mtu::Mtu;

const FACTS: u16 = 36;
/// Ranks of a group, but for the last: as many values are read by each as there are groups in the
/// largest job.
const GROUP: u16 = 32;
/// Key in the store of a card, and of the facts of a group.
const CARD: &str = "card";
const GROUP_FACTS: &str = "facts";

/// The cards that a rank knows, by rank.
pub(crate) type Cards = BTreeMap<Rank, Card>;

/// Facts about a rank.
#[derive(Clone, Debug, PartialEq, Eq)]
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
    pub node: String,
    /// Address of its socket for datagrams, if other hosts can be reached.
    pub address: Option<SocketAddr>,
    /// Longest packets from there.
    pub mtu: Mtu,
    /// The link that its environment asks for; nothing if it leaves that open.
    pub link: String,
    /// The protection that its environment asks for, if any.
    pub protection: Option<Protection>,
    /// True if it listens for TCP connections at the port of its socket.
    pub listens: bool,
    /// Answer of the system to a call that it refuses there; nothing if it refuses none.
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

/// Facts about the ranks of a group, in their order, as bytes.
pub(crate) fn emit(facts: &[Facts]) -> Vec<u8> {
    let mut bytes = begin(FACTS);
    bytes.extend((facts.len() as u16).to_le_bytes());
    for fact in facts {
        let Facts {
            host,
            machine,
            only_core,
            cores,
            node,
            address,
            mtu,
            link,
            protection,
            listens,
            refused,
        } = fact;
        bytes.extend(host.to_le_bytes());
        bytes.extend(machine.to_le_bytes());
        bytes.extend(only_core.map_or(0, |core| core + 1).to_le_bytes());
        bytes.extend(cores.to_le_bytes());
        put_text(&mut bytes, cut(node));
        put_text(&mut bytes, &address.map(|address| address.to_string()).unwrap_or_default());
        put_mtu(&mut bytes, *mtu);
        put_text(&mut bytes, cut(link));
        put_protection_wish(&mut bytes, *protection);
        bytes.push((*listens).into());
        put_text(&mut bytes, cut(refused));
    }
    bytes
}

/// The facts in `bytes`.
///
/// # Errors
/// [`BadMessage`] if there are none.
pub(crate) fn parse(bytes: &[u8]) -> Result<Vec<Facts>, BadMessage> {
    let (kind, mut body) = open(bytes)?;
    if kind != FACTS {
        return Err(BadMessage::Kind(kind));
    }
    let facts = body.list(GROUP.into(), |body| {
        Ok(Facts {
            host: u128::from_le_bytes(body.take()?),
            machine: u128::from_le_bytes(body.take()?),
            only_core: body.u16()?.checked_sub(1),
            cores: u128::from_le_bytes(body.take()?),
            node: body.text()?,
            address: take_address(body)?,
            mtu: body.mtu()?,
            link: body.text()?,
            protection: take_protection_wish(body)?,
            listens: body.flag()?,
            refused: body.text()?,
        })
    })?;
    body.end()?;
    Ok(facts)
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
    exchange: &mut dyn Exchange,
) -> Result<Cards, JoinError> {
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
        exchange.put(GROUP_FACTS, &emit(&facts))?;
    }
    Ok(cards)
}

/// Facts about all ranks, by rank; to be called once all have put there what they were to gather.
/// Of `cards` there are those of this host and of rank 0 afterwards, at least.
pub(super) fn gather(
    own: Rank,
    ranks: u16,
    cards: &mut Cards,
    exchange: &mut dyn Exchange,
) -> Result<Vec<Facts>, JoinError> {
    let mut facts = Vec::new();
    for first in (0..ranks).step_by(GROUP.into()) {
        let group = parse(&exchange.get(first.into(), GROUP_FACTS)?).map_err(MeetError::from)?;
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
    exchange: &mut dyn Exchange,
) -> Result<(), JoinError> {
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
