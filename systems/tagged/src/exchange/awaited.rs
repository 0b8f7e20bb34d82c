//! Object of the wait of a program for what it has begun here: receives and sends that have not
//! ended, and the messages that have come and that nobody wants.

use super::arrivals::Arrivals;
use super::inbox::Inbox;
use super::posted::Receive;
use super::sends::Sends;
use crate::matching::{Matcher, MessageEnvelope, ReceivePattern};
use crate::network::{SendSource, Sink};
use std::collections::BTreeSet;
use weft_endpoint::{Awaited, Rank, Whom};

/// Bits of a tag that MPI libraries use for the program's own; they put the communicator above.
const TAG_BITS: u64 = 0x7fff_ffff;
/// Lowest tag that MPI libraries use for messages of their own.
const LIBRARY_TAGS: i32 = -1024;
/// Most unexpected messages that are said.
const MOST_SAID: usize = 2;
/// Most posted receives that are looked at, and places for receives that go on: there may be very
/// many, and this is asked at each wait.
const MOST_LOOKED_AT: usize = 256;

/// Object of the wait of a program for its sends and receives.
pub(super) fn of<S: SendSource, D: Sink>(
    sends: &Sends<S>,
    arrivals: &Arrivals<D>,
) -> Option<Awaited> {
    let Arrivals { inbox, receives, .. } = arrivals;
    let posted = || inbox.matchers().flat_map(Matcher::posted);
    let rest_of = |receive: &Receive<D>| format!("the rest of {}", message_of(&receive.envelope));
    let taking = |to: Rank| format!("rank {to} to receive a message");
    let first = posted().next().map(receive_of);
    // A receive that goes on, if it is found soon.
    let is_short = receives.all.capacity() <= MOST_LOOKED_AT;
    let going_on = if is_short { receives.all.values().next() } else { None };
    let first = first.or_else(|| going_on.map(rest_of));
    let coming = (0..).map(Rank).zip(receives.coming()).filter(|(_, coming)| *coming > 0);
    let coming: Vec<Rank> = coming.map(|(rank, _)| rank).collect();
    let sending = (0..).map(Rank).zip(sends.sending()).filter(|(_, sending)| *sending > 0);
    let sending: Vec<Rank> = sending.map(|(rank, _)| rank).collect();
    let first = first
        .or_else(|| coming.first().map(|rank| format!("the rest of a message of rank {rank}")));
    let first = first.or_else(|| sending.first().map(|rank| taking(*rank)))?;
    let posted_count: usize = inbox.matchers().map(Matcher::posted_count).sum();
    let more = match posted_count + receives.all.len() + sends.all.len() - 1 {
        0 => String::new(),
        count => format!(", or {count} more"),
    };
    let from = posted().map(|pattern| pattern.source.map(|source| source.rank));
    let peers = coming.iter().chain(&sending).map(|rank| Some(*rank));
    let from = from.take(MOST_LOOKED_AT).chain(peers);
    let whom = if posted_count > MOST_LOOKED_AT { Whom::Unknown } else { whom(from) };
    let awaited = Awaited::new(format!("{first}{more}"), whom);
    Some(match unexpected_words(inbox) {
        Some(messages) => awaited.beside_unexpected(&messages),
        None => awaited,
    })
}

/// Words about messages that have come and that no receive wants.
fn unexpected_words<D: Sink>(inbox: &Inbox<D>) -> Option<String> {
    let all = inbox.matchers().flat_map(Matcher::unexpected_messages);
    let mut all = all.peekable();
    all.peek()?;
    let said: Vec<_> = all.by_ref().take(MOST_SAID).map(message_of).collect();
    let count: usize = inbox.matchers().map(Matcher::unexpected_count).sum();
    let more = match count - said.len() {
        0 => String::new(),
        count => format!(" and {count} more"),
    };
    Some(format!("{}{more}", said.join(", ")))
}

/// Ranks of which any may end the wait.
fn whom(ranks: impl Iterator<Item = Option<Rank>>) -> Whom {
    let Some(ranks) = ranks.collect::<Option<BTreeSet<_>>>() else { return Whom::Anyone };
    match Vec::from_iter(ranks)[..] {
        [one] => Whom::One(one),
        ref some => Whom::OneOf(some.to_vec()),
    }
}

fn receive_of(pattern: &ReceivePattern) -> String {
    let from = pattern.source.map_or("any rank".into(), |source| format!("rank {}", source.rank));
    match pattern.ignore & TAG_BITS == TAG_BITS {
        true => format!("a message of {from} with any tag{}", context(pattern.tag)),
        false => format!("a message of {from} with {}", tag(pattern.tag)),
    }
}

fn message_of(envelope: &MessageEnvelope) -> String {
    format!("a message of rank {} with {}", envelope.source.rank, tag(envelope.tag))
}

fn tag(tag: u64) -> String {
    // The libraries' own tags are negative: a collective operation's, mostly.
    match tag as u32 as i32 {
        own @ LIBRARY_TAGS..0 => format!("the library's tag {own}{}", context(tag >> 32 << 32)),
        _ => format!("tag {}{}", tag & TAG_BITS, context(tag)),
    }
}

/// Bits above the program's own tag, which say the communicator in the library's own way.
fn context(tag: u64) -> String {
    match tag & !TAG_BITS {
        0 => String::new(),
        context => format!(" (context {:#x})", context >> TAG_BITS.count_ones()),
    }
}

#[cfg(test)]
mod tests;
