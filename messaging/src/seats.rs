//! Seats of the threads that wait: one leads, and polls; the others follow it (thesis 6.2.2).

use std::task::Waker;

/// Threads of one rank that wait, by what they do meanwhile. No thread has the number 0.
#[derive(Default)]
pub(crate) struct Seats {
    /// The thread that polls; others are woken by it.
    leader: usize,
    /// Number of its waits that are nested.
    depth: u32,
    followers: Vec<(usize, Waker)>,
    /// Threads that wait for a future.
    blocked: Vec<usize>,
}

impl Seats {
    /// True if some thread leads.
    pub fn is_led(&self) -> bool {
        self.leader != 0
    }

    /// Makes thread `me` lead, unless another does. Each time ends with a [`Self::resign`].
    pub fn lead(&mut self, me: usize) -> bool {
        if self.leader != 0 && self.leader != me {
            return false;
        }
        self.leader = me;
        self.depth += 1;
        true
    }

    /// The leader ends a wait. True if nobody leads any more.
    pub fn resign(&mut self) -> bool {
        self.depth -= 1;
        if self.depth == 0 {
            self.leader = 0;
        }
        self.depth == 0
    }

    /// Makes thread `me` follow, unless nobody leads; it is woken through `waker`.
    pub fn follow(&mut self, me: usize, waker: &Waker) -> bool {
        if self.leader != 0 {
            self.followers.push((me, waker.clone()));
        }
        self.leader != 0
    }

    /// Thread `me` follows no more.
    pub fn leave(&mut self, me: usize) {
        self.followers.retain(|(thread, _)| *thread != me);
    }

    /// The follower that is to lead, woken by who calls; `None` if somebody leads, or nobody waits.
    pub fn successor(&mut self) -> Option<Waker> {
        if self.leader != 0 {
            return None;
        }
        self.followers.pop().map(|(_, waker)| waker)
    }

    /// Those through which followers are woken.
    pub fn followers(&self) -> Vec<Waker> {
        self.followers.iter().map(|(_, waker)| waker.clone()).collect()
    }

    /// Thread `me` waits for a future, until [`Self::unblock`].
    pub fn block(&mut self, me: usize) {
        self.blocked.push(me);
    }

    pub fn unblock(&mut self, me: usize) {
        if let Some(place) = self.blocked.iter().rposition(|thread| *thread == me) {
            self.blocked.swap_remove(place);
        }
    }

    /// True if thread `me` leads, or follows the leader.
    pub fn waits(&self, me: usize) -> bool {
        self.leader == me || self.blocked.contains(&me)
    }
}

#[cfg(test)]
mod tests;
