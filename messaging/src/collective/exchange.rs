//! What one operation sends to other members and awaits from them.

use super::operations::{DECLARATION, Members, Operations};
use super::signature::{Abort, HEADER_BYTES, Header, Signature, What};
use crate::{Error, Result, format};
use std::future::poll_fn;
use std::sync::{Arc, Weak};
use std::task::Poll;
use weft_packet::Rank;

/// An operation's connection to its peers. Members are named by their places in the team.
#[derive(Clone)]
pub(super) struct Exchange {
    operations: Weak<Operations>,
    members: Arc<Members>,
    header: Header,
    /// User bytes in a packet.
    room: usize,
    /// Packets that are sent before others' are looked at. While a rank looks for a frame to fill it
    /// runs no handlers, so what members who all send to one another have under way must leave frames
    /// for the rest, whoever reads it late.
    packets_at_once: usize,
}

#[derive(Clone, Copy)]
enum To {
    Member(Rank),
    Others,
}

impl Exchange {
    pub fn new(
        operations: &Arc<Operations>,
        team: u16,
        members: &Arc<Members>,
        signature: Signature,
        number: u32,
    ) -> Self {
        let what = What::Piece(signature);
        let packets = operations.engine().packets();
        Exchange {
            operations: Arc::downgrade(operations),
            members: Arc::clone(members),
            header: Header { team, what, last: false, number, step: 0 },
            room: format::room(packets.multicast_payload(), HEADER_BYTES),
            packets_at_once: (packets.in_flight() / 4).max(1),
        }
    }

    /// Packets that members who all send to one another send before they wait for as many.
    pub fn packets_at_once(&self) -> usize {
        self.packets_at_once
    }

    /// What fits into those.
    pub fn piece_bytes(&self) -> usize {
        self.room * self.packets_at_once
    }

    pub fn me(&self) -> usize {
        self.members.me
    }

    pub fn size(&self) -> usize {
        self.members.size
    }

    fn operations(&self) -> Result<Arc<Operations>> {
        self.operations.upgrade().ok_or(Error::Abandoned)
    }

    /// Sends `bytes` to member `to`, which [receives](Self::receive) them as one.
    pub fn send(&self, to: usize, step: u16, bytes: &[u8]) -> Result<()> {
        self.transfer(To::Member(self.members.rank(to)), step, bytes)
    }

    /// The same to all others, in one multicast.
    pub fn multicast(&self, step: u16, bytes: &[u8]) -> Result<()> {
        if self.size() == 1 {
            return Ok(());
        }
        self.transfer(To::Others, step, bytes)
    }

    /// Tells all others what this member has begun.
    pub fn declare(&self) -> Result<()> {
        self.multicast(DECLARATION, &[])
    }

    fn transfer(&self, to: To, step: u16, bytes: &[u8]) -> Result<()> {
        let operations = self.operations()?;
        let (engine, port) = (operations.engine(), operations.port()?);
        let mut left = bytes;
        for sent in 1.. {
            let (now, later) = left.split_at(left.len().min(self.room));
            left = later;
            let header = Header { step, last: left.is_empty(), ..self.header }.emit();
            let parts = [&header[..], now];
            match to {
                To::Member(rank) => port.send(rank, &parts)?,
                To::Others => port.multicast(self.members.group, &parts)?,
            }
            if left.is_empty() {
                break;
            }
            if sent % self.packets_at_once == 0 {
                // Two members that send much to each other must both take what comes.
                engine.progress()?;
            }
        }
        Ok(())
    }

    /// What member `from` has sent in `step`: the transfer that has waited longest.
    pub async fn receive(&self, from: usize, step: u16) -> Result<Vec<u8>> {
        let Header { team, number, .. } = self.header;
        let from = self.members.rank(from);
        poll_fn(|_| {
            let taken = self.operations().and_then(|all| all.take(team, number, from, step));
            taken.transpose().map_or(Poll::Pending, Poll::Ready)
        })
        .await
    }

    /// Ends all operations of the team because the program's reduction panicked here.
    pub fn abort_for_panic(&self) {
        if let Ok(operations) = self.operations() {
            let me = self.members.rank(self.me());
            operations.abort(self.header.team, &self.members, Abort::Panicked(me));
        }
    }
}
