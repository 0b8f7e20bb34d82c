use std::collections::VecDeque;

use bytemuck::Pod;
use weft::prelude::{Mailbox, Message, Rank, Weft};

/// Bytes between the ranks of a job, received from a *named* rank in the order it sent them.
///
/// A program that waits for its neighbour, or for the owner of a row, waits for that rank and no
/// other, so it needs no numbers inside its messages. `send` and `broadcast` may block until the
/// receivers make room, `receive` until the message has arrived.
pub trait Exchange {
    /// This rank.
    fn rank(&self) -> usize;

    /// Number of ranks.
    fn size(&self) -> usize;

    /// Sends to one rank.
    fn send(&mut self, to: usize, bytes: &[u8]) -> Result<(), Error>;

    /// Sends to every rank but this one.
    fn broadcast(&mut self, bytes: &[u8]) -> Result<(), Error>;

    /// Receives the next message of `from`, which must have exactly the length of `bytes`.
    fn receive(&mut self, from: usize, bytes: &mut [u8]) -> Result<(), Error>;

    /// Declares that this rank has done so many steps of its inner loop: see [`Weft::work`].
    fn work(&mut self, steps: usize) {
        let _ = steps;
    }

    /// Takes what has arrived, without waiting.
    fn poll(&mut self) -> Result<(), Error> {
        Ok(())
    }

    /// Brings every rank's values to rank 0: there `Some`, in rank order; elsewhere `None`.
    /// `length_of(rank)` is how many values that rank brings.
    fn gather<T: Pod>(
        &mut self,
        mine: &[T],
        length_of: impl Fn(usize) -> usize,
    ) -> Result<Option<Vec<Vec<T>>>, Error> {
        assert_eq!(mine.len(), length_of(self.rank()), "a rank brings what it announced");
        if self.rank() != 0 {
            self.send(0, bytemuck::cast_slice(mine))?;
            return Ok(None);
        }
        let mut all = vec![mine.to_vec()];
        for from in 1..self.size() {
            let mut values = vec![T::zeroed(); length_of(from)];
            self.receive(from, bytemuck::cast_slice_mut(&mut values))?;
            all.push(values);
        }
        Ok(Some(all))
    }

    /// Gives every rank the values of rank 0, in place.
    fn spread<T: Pod>(&mut self, values: &mut [T]) -> Result<(), Error> {
        if self.rank() == 0 {
            self.broadcast(bytemuck::cast_slice(values))
        } else {
            self.receive(0, bytemuck::cast_slice_mut(values))
        }
    }
}

/// Reason why an exchange failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Weft could not send or receive.
    #[error(transparent)]
    Weft(#[from] weft::Error),
    /// A shared object failed, where ranks exchange by one.
    #[error(transparent)]
    Object(#[from] weft_object::Error),
    /// The ranks disagree about what is being exchanged.
    #[error("rank {from} sent {found} bytes where {expected} were expected")]
    Length {
        /// The sender.
        from: usize,
        /// Bytes this rank had room for.
        expected: usize,
        /// Bytes that came.
        found: usize,
    },
    /// The other end has ended.
    #[error("rank {0} has left")]
    Left(usize),
}

/// An exchange through a Weft mailbox.
///
/// A mailbox delivers in arrival order, so what other ranks sent is set aside until it is asked
/// for. How much that can be is up to the program: at most what ranks send ahead of its needs.
pub struct Mailboxes {
    mailbox: Mailbox,
    weft: Weft,
    rank: usize,
    size: usize,
    aside: Vec<VecDeque<Vec<u8>>>,
}

impl Mailboxes {
    /// Opens the mailbox `name` on this rank.
    pub fn open(weft: &Weft, name: &str) -> Result<Self, Error> {
        let size = weft.size();
        let aside = (0..size).map(|_| VecDeque::new()).collect();
        let (mailbox, rank) = (weft.mailbox(name)?, weft.rank().index());
        Ok(Self { mailbox, weft: weft.clone(), rank, size, aside })
    }
}

impl Exchange for Mailboxes {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn work(&mut self, steps: usize) {
        self.weft.work(steps as u64);
    }

    fn poll(&mut self) -> Result<(), Error> {
        self.weft.poll()?;
        Ok(())
    }

    fn send(&mut self, to: usize, bytes: &[u8]) -> Result<(), Error> {
        let to = u16::try_from(to).map_err(|_| Error::Left(to))?;
        Ok(self.mailbox.send(Rank(to), bytes).map_err(weft::Error::from)?)
    }

    fn broadcast(&mut self, bytes: &[u8]) -> Result<(), Error> {
        if self.size == 1 {
            return Ok(());
        }
        Ok(self.mailbox.broadcast(bytes).map_err(weft::Error::from)?)
    }

    fn receive(&mut self, from: usize, bytes: &mut [u8]) -> Result<(), Error> {
        if let Some(message) = self.aside[from].pop_front() {
            return copy(from, &message, bytes);
        }
        loop {
            let mut message = self.mailbox.receive().map_err(weft::Error::from)?;
            let source = message.source().index();
            if source == from {
                return read(&mut message, bytes);
            }
            self.aside[source].push_back(message.read_to_vec().map_err(weft::Error::from)?);
        }
    }
}

/// The exchange of a job of one rank, where there is nobody to talk to.
#[derive(Debug, Clone, Copy, Default)]
pub struct Alone;

impl Exchange for Alone {
    fn rank(&self) -> usize {
        0
    }

    fn size(&self) -> usize {
        1
    }

    fn send(&mut self, to: usize, _bytes: &[u8]) -> Result<(), Error> {
        Err(Error::Left(to))
    }

    fn broadcast(&mut self, _bytes: &[u8]) -> Result<(), Error> {
        Ok(())
    }

    fn receive(&mut self, from: usize, _bytes: &mut [u8]) -> Result<(), Error> {
        Err(Error::Left(from))
    }
}

/// Copies a whole message that was kept as bytes.
pub(crate) fn copy(from: usize, message: &[u8], bytes: &mut [u8]) -> Result<(), Error> {
    expect_length(from, bytes.len(), message.len())?;
    bytes.copy_from_slice(message);
    Ok(())
}

fn read(message: &mut Message, bytes: &mut [u8]) -> Result<(), Error> {
    expect_length(message.source().index(), bytes.len(), message.len())?;
    Ok(message.read_exact(bytes).map_err(weft::Error::from)?)
}

fn expect_length(from: usize, expected: usize, found: usize) -> Result<(), Error> {
    if expected == found { Ok(()) } else { Err(Error::Length { from, expected, found }) }
}

#[cfg(test)]
mod tests;
