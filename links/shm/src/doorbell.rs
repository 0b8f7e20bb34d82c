//! Selection of the rings that a rank polls, and wake-up of sleepers.
//!
//! An empty poll must not cost more with more peers, so only a few rings are *hot* and polled. The
//! senders of the others find their bit set in the receiver's `cold` words and announce what they
//! write in its `attention` word, which is polled too. With more than 64 ranks they do so in the
//! word of their group, and `attention` says which groups to look at. A ring that announces often
//! becomes hot. One that was quiet for long makes room for it.
//!
//! Memory is made with all senders marked as cold, where not all are hot from the beginning: what
//! they write before their receiver is there is announced, and none of their rings is looked at, or
//! takes memory, before something is in it.
//!
//! A sender writes its slot and then checks whether the receiver wants more than that: an
//! announcement, or its bell. A receiver that changes this does so, then makes every core pass a
//! barrier (membarrier), then polls the rings once more. That poll sees a slot that was written
//! before the barrier, and a sender that writes after it sees the change. So senders need no
//! barrier of their own: the sleeper pays.

use crate::control::{Control, GROUP, bit_of};
use crate::futex;
use crate::memory::{MappedWord, View};
use crate::rings::Rings;
use std::sync::Arc;
use std::time::Duration;
use weft_link::bell::{Bells, Loss, Ticket, Waiter};
use weft_link::sync::{AtomicU32, AtomicU64, Ordering, Scope, light_fence};
use weft_wire::Rank;

/// Largest number of hot rings, which are polled.
pub(crate) const HOT: usize = 4;
/// Number of announcements after which a ring becomes hot.
const PROMOTE_AFTER: u8 = 4;
/// Turn of a ring: largest number of its packets that are taken in a row. It is short, because a
/// sender that runs meanwhile writes more into it, and one that shares the receiver's core does
/// not.
const TURN: u32 = 4;
const _: () = assert!(TURN <= weft_link::TURN);
/// Number of arrivals without a turn of a hot ring after which it gives way to another.
const QUIET_ARRIVALS: u64 = 256;

/// Bit of `armed`, beside those of the bells: the host sleeps because no frame is free.
const FRAME_WANTED: u32 = 1 << 2;

/// True if so many ranks are so few that each polls the rings from all others.
pub(crate) const fn all_are_hot(ranks: usize) -> bool {
    ranks <= HOT + 1
}

/// Doorbell of a receiver: its control words, as a sender uses them.
pub(crate) struct Doorbell {
    bells: View<AtomicU32>,
    armed: MappedWord<AtomicU32>,
    /// Word of the sender's group of those whose rings are not polled.
    cold: MappedWord<AtomicU64>,
    /// Word for the sender's announcement.
    announcements: MappedWord<AtomicU64>,
    own_bit: u64,
    /// Word for that of its group, and its bit there, with so many ranks that there are several.
    group: Option<(MappedWord<AtomicU64>, u64)>,
}

impl Doorbell {
    /// Returns the doorbell of the owner of `control`, which `own` presses.
    pub fn new(control: &Control, own: Rank) -> Self {
        let group = own.index() / GROUP;
        let attention = control.attention.clone();
        let (announcements, group_bit) = match control.announcements.get(group) {
            Some(announcements) => (announcements.clone(), Some((attention, bit_of(group)))),
            None => (attention, None),
        };
        Doorbell {
            bells: control.bells.clone(),
            armed: control.armed.clone(),
            cold: control.cold[group].clone(),
            announcements,
            own_bit: bit_of(own.index()),
            group: group_bit,
        }
    }

    /// Notifies the receiver of a written slot, if it wants that. Costs two loads of one line that
    /// nobody writes while the receiver polls and its hot rings stay the same.
    #[inline(always)]
    pub fn press(&self) {
        // The compiler must keep these loads behind the store to the slot. The receiver's barrier
        // does so for the processor.
        light_fence();
        if self.cold.load(Ordering::Relaxed) & self.own_bit != 0 {
            self.announcements.fetch_or(self.own_bit, Ordering::SeqCst);
            // Behind it: who finds the bit of the group finds what it stands for.
            if let Some((attention, group)) = &self.group {
                attention.fetch_or(*group, Ordering::SeqCst);
            }
            // And the load of what is armed behind the announcement.
            light_fence();
        }
        if self.armed.load(Ordering::Relaxed) != 0 {
            self.wake_any();
        }
    }

    /// Wakes the owner of a frame that was released, if it sleeps for want of one.
    #[inline]
    pub fn wake_for_frame(&self) {
        light_fence();
        if self.armed.load(Ordering::Relaxed) & FRAME_WANTED != 0 {
            self.wake(Waiter::Host);
        }
    }

    /// Wakes the host if it sleeps. The caller has issued a full barrier since it wrote what the
    /// host waits for.
    #[inline]
    pub fn wake_host(&self) -> bool {
        self.armed.load(Ordering::SeqCst) & bell_bit(Waiter::Host) != 0 && self.wake(Waiter::Host)
    }

    /// Rings the bell of the thread that sleeps: the host, or else the upcall thread.
    #[cold]
    fn wake_any(&self) {
        let _ = self.wake(Waiter::Host) || self.wake(Waiter::Upcall);
    }

    fn wake(&self, waiter: Waiter) -> bool {
        let bit = bell_bit(waiter);
        let wanted = self.armed.fetch_and(!bit, Ordering::SeqCst) & bit != 0;
        if wanted {
            ring(&self.bells, waiter);
        }
        wanted
    }
}

/// Listener at the doorbell of this rank: the rings that it polls, and their order.
///
/// It is fair (I15): rings are served in rounds, and in each round every ring with packets has one
/// turn of at most [`TURN`] packets: first all that were announced, then the hot ones. One that
/// becomes hot had its turn in the round before, so that none has two while another waits.
pub(crate) struct Listener {
    /// The other ranks, a bit each, a word a group; what others set beside these means nothing.
    others: Box<[u64]>,
    control: Control,
    rings: Arc<Rings>,
    /// Ring whose turn it is, and the packets left of its turn.
    current: usize,
    turn_left: u32,
    /// Packets of a whole turn.
    turn: u32,
    /// Hot ring that has its turn next, by its number among those.
    cursor: usize,
    /// Groups of which announced rings have their turn before the hot rings have another, a bit
    /// each.
    round: u64,
    /// Group whose announced rings have their turn, and those that are left of them, a bit each.
    group: usize,
    group_left: u64,
    last_arrival: [u64; HOT],
    /// Announcements of each ring.
    announcements: Box<[u8]>,
    /// Ring that becomes hot when the round ends.
    risen: Option<usize>,
    arrivals: u64,
}

impl Listener {
    pub fn new(control: Control, own: Rank, ranks: usize, rings: Arc<Rings>) -> Self {
        let peers = (0..ranks).filter(|&peer| peer != own.index());
        let mut others: Box<[u64]> = control.cold.iter().map(|_| 0).collect();
        peers.clone().for_each(|peer| others[peer / GROUP] |= bit_of(peer));
        if all_are_hot(ranks) {
            peers.enumerate().for_each(|(at, peer)| rings.set_hot(at, peer));
        }
        Listener {
            others,
            control,
            rings,
            current: 0,
            turn_left: 0,
            // One sender alone need not take turns.
            turn: if ranks > 2 { TURN } else { u32::MAX },
            cursor: 0,
            round: 0,
            group: 0,
            group_left: 0,
            last_arrival: [0; HOT],
            announcements: vec![0; ranks].into(),
            risen: None,
            arrivals: 0,
        }
    }

    /// Sender in whose ring the next packet most likely is, if it is still its turn.
    #[inline(always)]
    pub fn likely(&self) -> Option<usize> {
        (self.turn_left > 0).then_some(self.current)
    }

    /// Counts a packet of the [likely](Self::likely) sender, which was taken.
    #[inline(always)]
    pub fn spend_turn(&mut self) {
        self.turn_left -= 1;
    }

    /// Sender in whose ring the next packet to be taken is, if there is one.
    #[inline(always)]
    pub fn next(&mut self) -> Option<usize> {
        // Where one packet was, the next is likely.
        if self.turn_left > 0 && self.rings.has_packet(self.current) {
            self.turn_left -= 1;
            return Some(self.current);
        }
        self.next_turn()
    }

    #[inline(never)]
    fn next_turn(&mut self) -> Option<usize> {
        self.collect_announcements();
        // The rest of a round, the hot rings, and all announced ones: each ring once at least.
        for _ in 0..self.rings.hot_count() + 2 {
            if let Some(peer) = self.next_announced() {
                self.begin_turn(peer);
                self.count_announcement(peer);
                return Some(peer);
            }
            let Some(peer) = self.rings.hot().nth(self.cursor) else {
                self.begin_round();
                continue;
            };
            self.cursor += 1;
            if self.rings.has_packet(peer) {
                self.last_arrival[self.cursor - 1] = self.arrivals;
                self.begin_turn(peer);
                return Some(peer);
            }
        }
        None
    }

    #[inline]
    fn begin_round(&mut self) {
        if let Some(peer) = self.risen.take() {
            self.promote(peer);
        }
        (self.cursor, self.round) = (0, self.rings.announced());
    }

    fn begin_turn(&mut self, peer: usize) {
        self.current = peer;
        self.turn_left = self.turn - 1;
        self.arrivals += u64::from(TURN);
    }

    fn collect_announcements(&mut self) {
        if self.control.attention.load(Ordering::Relaxed) != 0 {
            let attention = self.control.attention.swap(0, Ordering::SeqCst);
            if self.control.announcements.is_empty() {
                self.add_announced(0, attention);
            } else {
                self.collect_groups(attention);
            }
        }
    }

    /// Collects announcements of these groups, a bit each.
    #[inline(never)]
    fn collect_groups(&mut self, mut groups: u64) {
        while groups != 0 {
            let group = groups.trailing_zeros() as usize;
            groups &= groups - 1;
            // Peers may name a group that there is not.
            if let Some(announcements) = self.control.announcements.get(group) {
                self.add_announced(group, announcements.swap(0, Ordering::SeqCst));
            }
        }
    }

    fn add_announced(&self, group: usize, announced: u64) {
        // One that became hot while its sender announced it has its turn among the hot ones.
        let hot = self.rings.hot().filter(|sender| sender / GROUP == group);
        let hot = hot.fold(0, |hot, sender| hot | bit_of(sender));
        let announced = announced & self.others[group] & !hot;
        self.rings.set_announced(group, self.rings.announced_in(group) | announced);
    }

    fn next_announced(&mut self) -> Option<usize> {
        loop {
            while self.group_left != 0 {
                let peer = self.group * GROUP + self.group_left.trailing_zeros() as usize;
                self.group_left &= self.group_left - 1;
                if self.rings.has_packet(peer) {
                    return Some(peer);
                }
                self.pass_over(peer);
            }
            if self.round == 0 {
                return None;
            }
            self.group = self.round.trailing_zeros() as usize;
            self.round &= self.round - 1;
            self.group_left = self.rings.announced_in(self.group);
        }
    }

    /// Takes the ring of `peer` out of those that were announced.
    fn pass_over(&self, peer: usize) {
        let group = peer / GROUP;
        self.rings.set_announced(group, self.rings.announced_in(group) & !bit_of(peer));
    }

    #[cold]
    fn count_announcement(&mut self, peer: usize) {
        self.announcements[peer] += 1;
        if self.announcements[peer] >= PROMOTE_AFTER {
            self.announcements[peer] = 0;
            self.risen = Some(peer);
        }
    }

    /// Makes the ring of `peer` hot, if there is room, or in place of one that has been quiet. It
    /// had its turn before those that are hot.
    fn promote(&mut self, peer: usize) {
        let mut at = self.rings.hot_count();
        if at >= HOT {
            let quiet = |last: &u64| self.arrivals - last > QUIET_ARRIVALS;
            let Some(found) = self.last_arrival.iter().position(quiet) else { return };
            let Some(victim) = self.rings.hot().nth(found) else { return };
            at = found;
            self.control.cold[victim / GROUP].fetch_or(bit_of(victim), Ordering::SeqCst);
            Scope::Host.heavy_fence();
            let group = victim / GROUP;
            self.rings.set_announced(group, self.rings.announced_in(group) | bit_of(victim));
        }
        self.control.cold[peer / GROUP].fetch_and(!bit_of(peer), Ordering::SeqCst);
        self.rings.put_first(peer, at);
        self.pass_over(peer);
        self.last_arrival.copy_within(..at, 1);
        self.last_arrival[0] = self.arrivals;
    }

    /// True if [`Self::next`] may find a packet.
    #[inline]
    pub fn has_any(&mut self) -> bool {
        self.rings.has_hot_packet()
            || self.control.attention.load(Ordering::Acquire) != 0
            || (self.rings.announced() != 0 && self.has_announced())
    }

    #[inline(never)]
    fn has_announced(&mut self) -> bool {
        let mut groups = self.rings.announced();
        while groups != 0 {
            let group = groups.trailing_zeros() as usize;
            groups &= groups - 1;
            let mut announced = self.rings.announced_in(group);
            while announced != 0 {
                let peer = group * GROUP + announced.trailing_zeros() as usize;
                if self.rings.has_packet(peer) {
                    break;
                }
                // Polled once, and not again with every poll.
                announced &= announced - 1;
            }
            self.rings.set_announced(group, announced);
            if announced != 0 {
                return true;
            }
        }
        false
    }

    /// Arms the bell of `waiter` for arrivals, and that of the host also for the release of a frame
    /// if this rank is `starved` of frames. `None` if something has arrived by now.
    pub fn arm(&mut self, waiter: Waiter, starved: bool) -> Option<Ticket> {
        let frames = if starved && waiter == Waiter::Host { FRAME_WANTED } else { 0 };
        let ticket = Ticket(self.control.bells[bell_index(waiter)].load(Ordering::SeqCst));
        self.control.armed.fetch_or(bell_bit(waiter) | frames, Ordering::SeqCst);
        Scope::Host.heavy_fence();
        if self.has_any() {
            self.disarm(waiter);
            return None;
        }
        Some(ticket)
    }

    pub fn disarm(&mut self, waiter: Waiter) {
        let frames = if waiter == Waiter::Host { FRAME_WANTED } else { 0 };
        self.control.armed.fetch_and(!(bell_bit(waiter) | frames), Ordering::SeqCst);
    }
}

/// Bells of one rank, for its own threads.
pub(crate) struct OwnBells(Control);

impl OwnBells {
    pub fn new(control: Control) -> Self {
        OwnBells(control)
    }
}

impl Bells for OwnBells {
    fn wait(&self, waiter: Waiter, ticket: Ticket, limit: Duration) {
        futex::wait(&self.0.bells[bell_index(waiter)], ticket.0, limit);
    }

    fn ticket(&self, waiter: Waiter) -> Ticket {
        Ticket(self.0.bells[bell_index(waiter)].load(Ordering::SeqCst))
    }

    fn ring(&self, waiter: Waiter) {
        ring(&self.0.bells, waiter);
    }

    #[inline]
    fn loss(&self) -> Option<Loss> {
        match self.0.loss.load(Ordering::Relaxed) {
            0 => None,
            bits => Loss::from_bits(bits),
        }
    }

    fn announce(&self, loss: Loss) {
        announce_loss(&self.0, loss);
    }

    fn take_losses(&self) -> Vec<Loss> {
        // Before the look at all: what is announced meanwhile is found here, or left there.
        self.0.loss.store(0, Ordering::SeqCst);
        let there = self.0.losses.iter().filter(|word| word.load(Ordering::SeqCst) != 0);
        there.filter_map(|word| Loss::from_bits(word.swap(0, Ordering::SeqCst))).collect()
    }
}

/// Announces `loss` to the owner of a segment and wakes all its threads. Returns true if it has
/// taken all that were announced before.
pub(crate) fn announce_loss(control: &Control, loss: Loss) -> bool {
    let bits = loss.to_bits();
    let put = |word: &AtomicU64| {
        let free = word.compare_exchange(0, bits, Ordering::SeqCst, Ordering::SeqCst);
        free.is_ok() || free == Err(bits)
    };
    // One that finds no room is one of thousands that nobody has taken: such a job is over.
    let _ = control.losses.iter().any(put);
    let first = control.loss.compare_exchange(0, bits, Ordering::SeqCst, Ordering::SeqCst);
    ring(&control.bells, Waiter::Host);
    ring(&control.bells, Waiter::Upcall);
    first.is_ok()
}

pub(crate) fn ring(bells: &View<AtomicU32>, waiter: Waiter) {
    let bell = &bells[bell_index(waiter)];
    bell.fetch_add(1, Ordering::SeqCst);
    // Wakes all threads of the rank that wait there: each waits for something else.
    futex::wake_all(bell);
}

fn bell_index(waiter: Waiter) -> usize {
    match waiter {
        Waiter::Host => 0,
        Waiter::Upcall => 1,
    }
}

fn bell_bit(waiter: Waiter) -> u32 {
    1 << bell_index(waiter)
}

#[cfg(test)]
#[cfg(loom)]
mod tests;
