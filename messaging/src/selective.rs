//! Selective receives: of the messages that wait at a mailbox the first of one sender, or with one
//! key.
//!
//! A key is a header of eight bytes, so that it travels in the first packet of its message and who
//! does not look for it does not see it. Nothing is sorted by senders or keys: a receive looks at
//! the messages that wait, in their order.

use crate::arrived::Arrived;
use crate::parts::Parts;
use crate::poll::Poller;
use crate::wait::Polls;
use crate::{Mailbox, Message, Port, Result};
use std::time::Duration;
use weft_endpoint::{Awaited, Packets, Rank, Whom};

/// Bytes of a key.
const KEY_BYTES: usize = size_of::<u64>();

/// Choice of messages: those of one sender, those with one key, or both; of neither, any.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Selection {
    /// Their sender; `None` for any.
    pub source: Option<Rank>,
    /// Their key; `None` for any, and for messages without one.
    pub key: Option<u64>,
}

impl Selection {
    /// Messages of one sender.
    pub fn from(source: impl Into<Rank>) -> Self {
        Selection { source: Some(source.into()), key: None }
    }

    /// Messages with one key.
    pub fn with_key(key: u64) -> Self {
        Selection { source: None, key: Some(key) }
    }

    fn takes(self, arrived: &Arrived, packets: &Packets) -> bool {
        self.source.is_none_or(|source| arrived.body.from == source)
            && self.key.is_none_or(|key| key_in(arrived.headers(packets)) == Some(key))
    }
}

/// The header that is a key.
pub(crate) fn emit_key(key: u64) -> [u8; KEY_BYTES] {
    key.to_le_bytes()
}

/// The key in the headers of a message, if they are one.
fn key_in(headers: &[u8]) -> Option<u64> {
    let key: [u8; KEY_BYTES] = headers.try_into().ok()?;
    Some(u64::from_le_bytes(key))
}

impl Port {
    /// Sends a message with a key, by which a receiver may [select](Mailbox::receive_selected) it;
    /// otherwise like [`Self::send`]. It takes eight bytes of the message's first packet.
    ///
    /// # Errors
    /// Those of [`Self::send`].
    pub fn send_keyed(
        &self,
        to: impl Into<Rank>,
        key: u64,
        parts: &(impl Parts + ?Sized),
    ) -> Result<()> {
        self.send_with(to, &emit_key(key), parts)
    }
}

impl Message {
    /// The key that it was [sent](Port::send_keyed) with, if it has one; as long as its first
    /// packet is not read to its end.
    pub fn key(&mut self) -> Option<u64> {
        key_in(self.headers().as_bytes())
    }
}

impl Mailbox {
    /// The message that has waited longest of those that `selection` takes; blocks until the first
    /// packet of one is there. Others stay, in their order, for receives that take them. Other
    /// ports' handlers run meanwhile.
    ///
    /// Messages that nobody takes count towards their senders' windows ([`crate::WINDOW_BYTES`]): a
    /// sender that has filled one with them waits, and what is looked for may be behind them.
    /// Looking takes time with the number of messages that wait.
    ///
    /// # Errors
    /// A rank that does not exist, or was lost.
    pub fn receive_selected(&self, selection: Selection) -> Result<Message> {
        match self.select_until(selection, None)? {
            Some(message) => Ok(message),
            None => unreachable!("a wait without a deadline ends with a message"),
        }
    }

    /// Does what [`Self::receive_selected`] does, for `time` at most: `None` if nothing came.
    ///
    /// # Errors
    /// Those of [`Self::receive_selected`].
    pub fn receive_selected_within(
        &self,
        selection: Selection,
        time: Duration,
    ) -> Result<Option<Message>> {
        self.select_until(selection, Some(self.messages.packets.now().saturating_add(time)))
    }

    /// The message that has waited longest of those that `selection` takes, if there is one. Polls
    /// once, never blocks.
    ///
    /// # Errors
    /// A lost rank.
    pub fn try_receive_selected(&self, selection: Selection) -> Result<Option<Message>> {
        if let Some(message) = self.selected(selection) {
            return Ok(Some(message));
        }
        Poller::new(&self.messages).progress()?;
        Ok(self.selected(selection))
    }

    fn select_until(
        &self,
        selection: Selection,
        deadline: Option<Duration>,
    ) -> Result<Option<Message>> {
        let ranks = self.messages.packets.room();
        if let Some(rank) = selection.source.filter(|source| source.index() >= ranks) {
            return Err(weft_endpoint::Error::NoSuchRank { rank, ranks }.into());
        }
        let what = || self.awaited_of(selection);
        let poller = Poller::new(&self.messages);
        // The thread that queues a message wakes one receiver, which need not be the one that takes
        // it: so nobody is to wake this one.
        poller.watch_until(&what, deadline, || match self.selected(selection) {
            None => {
                let losses = self.messages.packets.losses();
                selection.source.map_or(Ok(()), |source| losses.check_lives(source))?;
                Ok(None)
            }
            found => Ok(found),
        })
    }

    fn selected(&self, selection: Selection) -> Option<Message> {
        let packets = &self.messages.packets;
        let mut state = self.messages.state.enter();
        let arrived =
            state.dispatch.take_queued(self.slot, |arrived| selection.takes(arrived, packets))?;
        drop(state);
        Some(self.open(arrived))
    }

    /// Object of a selective receive.
    fn awaited_of(&self, Selection { source, key }: Selection) -> Awaited {
        let key = key.map(|key| format!(" with key {key}")).unwrap_or_default();
        let whom = source.map_or(Whom::Anyone, Whom::One);
        Awaited::new(format!("a message{key} on port '{}'", self.name()), whom)
    }
}
