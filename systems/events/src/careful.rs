//! The careful protocol (careful-protocols 5.3): static windows of frames, and nothing is sent
//! again.
//!
//! Every frame fills a receive buffer, window updates too. A node sends data to another while its
//! window there is two frames or more, so that the frame that closes a window is always an update
//! (theorem 1). A buffer whose frame is done with is *owed*, and goes back with whatever is sent
//! there next, or in an update once half a window of them is owed. A broadcast takes along what is
//! owed to all.

use crate::invariants::{broadcast_owes_no_more, careful_window};
use weft_endpoint::Rank;

/// Windows smaller than this cannot be: half of two is one, and updates would answer updates for
/// ever.
pub(crate) const LEAST_WINDOW: u16 = 3;

/// The windows of one node.
#[derive(Clone, Debug)]
pub(crate) struct Careful {
    local: usize,
    window: u16,
    peers: Vec<Peer>,
}

/// State that a node keeps for one other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Peer {
    /// Frames that may be sent there.
    open: u16,
    /// Frames from there that fill buffers.
    held: u16,
    /// Buffers to be advertised to it again.
    owed: u16,
}

/// A peer sent what its window did not allow, or advertised more than there is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct BeyondWindow;

impl Careful {
    pub fn new(local: Rank, ranks: usize, window: u16) -> Self {
        assert!(window >= LEAST_WINDOW, "a window of {window} frames: it takes {LEAST_WINDOW}");
        let peer = Peer { open: window, held: 0, owed: 0 };
        Careful { local: local.index(), window, peers: vec![peer; ranks] }
    }

    fn others(&self) -> impl Iterator<Item = usize> + use<> {
        let local = self.local;
        (0..self.peers.len()).filter(move |&peer| peer != local)
    }

    /// From so many on, buffers owed pay for an update.
    fn half(&self) -> u16 {
        self.window.div_ceil(2)
    }

    /// True if data may be sent to `to`, or to everyone.
    pub fn may_send(&self, to: Option<Rank>) -> bool {
        match to {
            Some(to) => self.peers[to.index()].open >= 2,
            None => self.others().all(|peer| self.peers[peer].open >= 2),
        }
    }

    /// Sends data, which [`Self::may_send`] allowed. Returns the window update that it takes along.
    pub fn send(&mut self, to: Option<Rank>) -> u16 {
        debug_assert!(self.may_send(to), "data would close a window");
        match to {
            Some(to) => {
                let peer = &mut self.peers[to.index()];
                peer.open -= 1;
                std::mem::take(&mut peer.owed)
            }
            None => {
                let least = self.others().map(|peer| self.peers[peer].owed).min().unwrap_or(0);
                for index in self.others() {
                    let peer = &mut self.peers[index];
                    broadcast_owes_no_more(least, peer.owed);
                    peer.open -= 1;
                    peer.owed -= least;
                }
                least
            }
        }
    }

    /// A frame has come with a window update. If it is data, it fills its buffer until
    /// [`Self::released`]; an update's is free at once.
    ///
    /// # Errors
    /// [`BeyondWindow`]: no correct node sends this.
    pub fn received(&mut self, from: Rank, update: u16, is_data: bool) -> Result<(), BeyondWindow> {
        let (window, peer) = (self.window, &mut self.peers[from.index()]);
        let open = peer.open.checked_add(update).filter(|&open| open <= window);
        if peer.held + peer.owed >= window {
            return Err(BeyondWindow);
        }
        peer.open = open.ok_or(BeyondWindow)?;
        if is_data {
            peer.held += 1;
        } else {
            peer.owed += 1;
        }
        careful_window(peer.open, peer.held, peer.owed, window);
        Ok(())
    }

    /// True if a fragment that was just received from there is to be copied out of its buffer: with
    /// about half a window kept unread, what is left, less what may be owed and not told yet, lets
    /// no more data through, and this program may be waiting for its sender, as its sender for it.
    pub fn is_pressed(&self, from: Rank) -> bool {
        self.peers[from.index()].held + self.half() + 1 > self.window
    }

    /// A buffer that data filled is free.
    pub fn released(&mut self, from: Rank) {
        let peer = &mut self.peers[from.index()];
        peer.held -= 1;
        peer.owed += 1;
    }

    /// The update that is due to `to` in a frame of its own, which fills a buffer there as any
    /// other.
    pub fn update(&mut self, to: Rank) -> Option<u16> {
        let half = self.half();
        let peer = &mut self.peers[to.index()];
        if peer.owed < half || peer.open == 0 {
            return None;
        }
        peer.open -= 1;
        Some(std::mem::take(&mut peer.owed))
    }

    /// Frames that may be sent to a peer, fill buffers for it, and are owed to it.
    #[cfg(test)]
    pub fn accounts(&self, peer: Rank) -> (u16, u16, u16) {
        let Peer { open, held, owed } = self.peers[peer.index()];
        (open, held, owed)
    }
}

#[cfg(test)]
mod tests;
