//! Which rings a rank polls, and how sleepers are woken.
//!
//! An empty poll must not cost more with more peers, so only a few rings are *hot* and polled. The
//! senders of the others find their bit set in the receiver's `cold` word and announce what they
//! write in its `attention` word, which is polled too. A ring that announces often becomes hot; one
//! that was quiet for long makes room for it.
//!
//! A sender writes its slot and then looks whether the receiver wants more than that (an
//! announcement, a bell). Whoever changes what is wanted does so, then makes every core pass a
//! barrier (membarrier), then looks at the rings once more: a slot written before the barrier is
//! seen by that look, and a sender that writes after it sees what is wanted. So senders need no
//! barrier of their own (DESIGN 6: the sleeper pays).

use crate::memory::View;
use crate::segment::{Control, Segment};
use rustix::thread::futex;
use std::io;
use std::sync::atomic::{AtomicU32, Ordering, compiler_fence};
use std::time::Duration;
use weft_link::bell::{Bells, Cause, Loss, Ticket, Waiter};
use weft_wire::Rank;

/// Rings that are polled.
pub(crate) const HOT: usize = 4;
/// Announcements after which a ring becomes hot.
const PROMOTE_AFTER: u8 = 4;
/// A hot ring gives way if it has not been found full for this many arrivals.
const QUIET_ARRIVALS: u64 = 256;

/// Beside the bits of the bells: the host sleeps because no frame is free.
const WANTS_FRAMES: u32 = 1 << 2;

/// Makes all cores that run ranks pass a barrier. Registration happens when a rank attaches.
pub(crate) fn barrier_on_all_cores() {
    use rustix::thread::{MembarrierCommand, membarrier};
    if membarrier(MembarrierCommand::GlobalExpedited).is_err() {
        // Slow (it waits for every core to schedule), and always there.
        let _ = membarrier(MembarrierCommand::Global);
    }
}

/// Lets the barriers of other ranks reach this process.
pub(crate) fn register_for_barriers() -> io::Result<()> {
    use rustix::thread::{MembarrierCommand, membarrier};
    Ok(membarrier(MembarrierCommand::RegisterGlobalExpedited)?)
}

/// What a sender needs of a receiver's control lines.
pub(crate) struct Doorbell {
    control: Control,
    own_bit: u64,
}

impl Doorbell {
    /// The doorbell of `segment`'s owner, as `own` presses it.
    pub fn new(segment: &Segment, own: Rank) -> Self {
        Doorbell { control: segment.control(), own_bit: 1 << own.index() }
    }

    /// A slot was written: gives the receiver what else it wants. Two loads of one line that
    /// nobody writes while the receiver polls and its hot rings stay the same.
    #[inline]
    pub fn press(&self) {
        // The looks must stay behind the slot; the processor is seen to by whoever wants something.
        compiler_fence(Ordering::SeqCst);
        if self.control.cold[0].load(Ordering::Relaxed) & self.own_bit != 0 {
            self.control.attention[0].fetch_or(self.own_bit, Ordering::SeqCst);
        }
        if self.control.wants[0].load(Ordering::Relaxed) != 0 {
            self.wake_any();
        }
    }

    /// One of the receiver's frames was given back: wakes it if it sleeps for want of one.
    #[inline]
    pub fn gave_back(&self) {
        compiler_fence(Ordering::SeqCst);
        if self.control.wants[0].load(Ordering::Relaxed) & WANTS_FRAMES != 0 {
            self.wake(Waiter::Host);
        }
    }

    /// Wakes the host if it sleeps. The caller has issued a full barrier since it wrote what the
    /// host waits for.
    #[inline]
    pub fn wake_host(&self) -> bool {
        self.control.wants[0].load(Ordering::SeqCst) & want_bit(Waiter::Host) != 0
            && self.wake(Waiter::Host)
    }

    /// Rings the bell of whoever sleeps: the host, or else the upcall thread.
    #[cold]
    fn wake_any(&self) {
        let _ = self.wake(Waiter::Host) || self.wake(Waiter::Watch);
    }

    fn wake(&self, waiter: Waiter) -> bool {
        let bit = want_bit(waiter);
        let wanted = self.control.wants[0].fetch_and(!bit, Ordering::SeqCst) & bit != 0;
        if wanted {
            ring(&self.control.bells, waiter);
        }
        wanted
    }
}

/// This rank's own doorbell: what it polls, what it wants.
pub(crate) struct Listener {
    own: usize,
    control: Control,
    hot: Vec<Hot>,
    cursor: usize,
    announced: u64,
    announcements: [u8; 64],
    arrivals: u64,
}

struct Hot {
    peer: usize,
    last_arrival: u64,
}

impl Listener {
    pub fn new(segment: &Segment, own: Rank, ranks: usize) -> Self {
        let control = segment.control();
        let peers: Vec<usize> = (0..ranks).filter(|&peer| peer != own.index()).collect();
        let mut hot = Vec::with_capacity(HOT);
        if peers.len() <= HOT {
            hot.extend(peers.into_iter().map(|peer| Hot { peer, last_arrival: 0 }));
        } else {
            control.cold[0].store(u64::MAX, Ordering::SeqCst);
            barrier_on_all_cores();
        }
        // Peers may have written before this rank said what it wants: look at every ring once.
        let announced = if ranks >= 64 { u64::MAX } else { (1 << ranks) - 1 } & !(1 << own.index());
        Listener {
            own: own.index(),
            control,
            hot,
            cursor: 0,
            announced,
            announcements: [0; 64],
            arrivals: 0,
        }
    }

    /// Calls `pop` on the rings that may hold something until one does.
    #[inline]
    pub fn find<T>(&mut self, mut pop: impl FnMut(usize) -> Option<T>) -> Option<T> {
        for _ in 0..self.hot.len() {
            if self.cursor >= self.hot.len() {
                self.cursor = 0;
            }
            let hot = &mut self.hot[self.cursor];
            if let Some(found) = pop(hot.peer) {
                // Stay on this ring: where one packet was, the next is likely.
                self.arrivals += 1;
                hot.last_arrival = self.arrivals;
                if self.arrivals.is_multiple_of(16) {
                    self.cursor += 1;
                }
                return Some(found);
            }
            self.cursor += 1;
        }
        self.find_announced(pop)
    }

    #[inline]
    fn find_announced<T>(&mut self, mut pop: impl FnMut(usize) -> Option<T>) -> Option<T> {
        if self.control.attention[0].load(Ordering::Relaxed) != 0 {
            self.announced |= self.control.attention[0].swap(0, Ordering::SeqCst);
            self.announced &= !(1 << self.own);
        }
        while self.announced != 0 {
            let peer = self.announced.trailing_zeros() as usize;
            if let Some(found) = pop(peer) {
                self.arrivals += 1;
                self.note_announcement(peer);
                return Some(found);
            }
            self.announced &= self.announced - 1;
        }
        None
    }

    #[cold]
    fn note_announcement(&mut self, peer: usize) {
        if self.hot.iter().any(|hot| hot.peer == peer) {
            return;
        }
        self.announcements[peer] += 1;
        if self.announcements[peer] >= PROMOTE_AFTER {
            self.announcements[peer] = 0;
            self.promote(peer);
        }
    }

    /// Makes `peer`'s ring hot if there is room, or one that has been quiet.
    fn promote(&mut self, peer: usize) {
        if self.hot.len() >= HOT {
            let arrivals = self.arrivals;
            let quiet = |hot: &Hot| arrivals - hot.last_arrival > QUIET_ARRIVALS;
            let Some(at) = self.hot.iter().position(quiet) else { return };
            let victim = self.hot.swap_remove(at).peer;
            self.control.cold[0].fetch_or(1 << victim, Ordering::SeqCst);
            barrier_on_all_cores();
            self.announced |= 1 << victim;
        }
        self.control.cold[0].fetch_and(!(1 << peer), Ordering::SeqCst);
        self.hot.push(Hot { peer, last_arrival: self.arrivals });
    }

    /// Whether [`Self::find`] has anything to look at, given which rings are not empty.
    #[inline]
    pub fn has_any(&mut self, full: impl Fn(usize) -> bool) -> bool {
        if self.hot.iter().any(|hot| full(hot.peer))
            || self.control.attention[0].load(Ordering::Acquire) != 0
        {
            return true;
        }
        while self.announced != 0 {
            if full(self.announced.trailing_zeros() as usize) {
                return true;
            }
            // Looked at once, and not again with every look.
            self.announced &= self.announced - 1;
        }
        false
    }

    /// Wants `waiter`'s bell rung on arrival, and the host's also when a frame is given back if
    /// this rank is `starved` of frames. `None` if something has arrived by now.
    pub fn arm(
        &mut self,
        waiter: Waiter,
        starved: bool,
        full: impl Fn(usize) -> bool,
    ) -> Option<Ticket> {
        let frames = if starved && waiter == Waiter::Host { WANTS_FRAMES } else { 0 };
        let ticket = Ticket(self.control.bells[bell_index(waiter)].load(Ordering::SeqCst));
        self.control.wants[0].fetch_or(want_bit(waiter) | frames, Ordering::SeqCst);
        barrier_on_all_cores();
        if self.has_any(full) {
            self.disarm(waiter);
            return None;
        }
        Some(ticket)
    }

    pub fn disarm(&mut self, waiter: Waiter) {
        let frames = if waiter == Waiter::Host { WANTS_FRAMES } else { 0 };
        self.control.wants[0].fetch_and(!(want_bit(waiter) | frames), Ordering::SeqCst);
    }
}

/// The bells of one rank, for its own threads.
pub(crate) struct OwnBells(Control);

impl OwnBells {
    pub fn new(segment: &Segment) -> Self {
        OwnBells(segment.control())
    }
}

impl Bells for OwnBells {
    fn wait(&self, waiter: Waiter, ticket: Ticket, limit: Duration) {
        let limit = rustix::fs::Timespec {
            tv_sec: limit.as_secs() as i64,
            tv_nsec: i64::from(limit.subsec_nanos()),
        };
        let bell = &self.0.bells[bell_index(waiter)];
        // Woken, timed out, interrupted, or rung before: the caller looks again in every case.
        let _ = futex::wait(bell, futex::Flags::empty(), ticket.0, Some(&limit));
    }

    fn ticket(&self, waiter: Waiter) -> Ticket {
        Ticket(self.0.bells[bell_index(waiter)].load(Ordering::SeqCst))
    }

    fn ring(&self, waiter: Waiter) {
        ring(&self.0.bells, waiter);
    }

    #[inline]
    fn loss(&self) -> Option<Loss> {
        match self.0.loss[0].load(Ordering::Relaxed) {
            0 => None,
            bits => decode_loss(bits),
        }
    }

    fn announce(&self, loss: Loss) {
        announce_loss(&self.0, loss);
    }
}

/// Tells the owner of a segment about `loss` and wakes all its threads. The first loss stays; says whether
/// this is the first.
pub(crate) fn announce_loss(control: &Control, loss: Loss) -> bool {
    let bits = (u64::from(loss.rank.0) + 1) | (u64::from(loss.cause.to_bits()) << 32);
    let first = control.loss[0].compare_exchange(0, bits, Ordering::SeqCst, Ordering::SeqCst);
    ring(&control.bells, Waiter::Host);
    ring(&control.bells, Waiter::Watch);
    first.is_ok()
}

fn decode_loss(bits: u64) -> Option<Loss> {
    let rank = Rank((bits as u16).checked_sub(1)?);
    Some(Loss { rank, cause: Cause::from_bits((bits >> 32) as u32)? })
}

fn ring(bells: &View<AtomicU32>, waiter: Waiter) {
    let bell = &bells[bell_index(waiter)];
    bell.fetch_add(1, Ordering::SeqCst);
    // All threads of the rank that wait there: each waits for something else.
    let _ = futex::wake(bell, futex::Flags::empty(), i32::MAX as u32);
}

fn bell_index(waiter: Waiter) -> usize {
    match waiter {
        Waiter::Host => 0,
        Waiter::Watch => 1,
    }
}

fn want_bit(waiter: Waiter) -> u32 {
    1 << bell_index(waiter)
}
