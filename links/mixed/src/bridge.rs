//! One bell for the arrivals of both links: the near one's.
//!
//! A thread waits for the far link's descriptor and rings the near link's bells, if anybody sleeps.
//! Only then is the descriptor in its set, where whoever goes to sleep puts it: the kernel calls
//! back for every datagram otherwise, on its sender's time, whether or not anybody is interested.
//! So near arrivals wake a sleeper as fast as without a far link; far ones cost one more switch
//! between threads, and each sleep two calls of `epoll_ctl`, of some 300 ns each.
//!
//! A program that polls may take every datagram before the thread, which each of them wakes, gets
//! to see that there was one. So the thread that takes one rings in its place. A packet that comes
//! by another way is heard once, if the thread gets to see it; a program that takes some packets
//! while nobody sleeps has it heard no more.

use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::event::{EventfdFlags, eventfd};
use rustix::io::Errno;
use std::io;
use std::ops::RangeInclusive;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;
use weft_link::bell::{Bells, Waiter};
use weft_link::timer::KernelTimer;

const STACK_BYTES: usize = 128 * 1024;
const ARRIVAL: u64 = 0;
const STOP: u64 = 1;
const TIMER: u64 = 2;
const MORE: u64 = 3;

/// Interest in a descriptor that is heard once.
const ONCE: EventFlags = EventFlags::IN.union(EventFlags::ONESHOT);
/// Packets that a program takes until it is at work and not about to sleep: a call of `epoll_ctl`
/// takes as long as a third of one.
const AT_WORK: u32 = 8;

pub(crate) struct Bridge {
    shared: Arc<Shared>,
    stop: OwnedFd,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    epoll: OwnedFd,
    /// Readable while something has arrived.
    arrivals: OwnedFd,
    /// Readable while something has arrived by another way. It is in the set always, and heard once
    /// each time that somebody goes to sleep.
    more: Option<OwnedFd>,
    /// Time at which the upcall thread's bell rings without an arrival.
    timer: KernelTimer,
    interest: Mutex<Interest>,
    /// True if the descriptor is in the set. Written with the lock held.
    listens: AtomicBool,
    /// True if `more` was heard since, or is not to be. Written with the lock held.
    heard_more: AtomicBool,
    /// Packets that were taken before it was.
    taken: AtomicU32,
    bells: Arc<dyn Bells>,
}

/// Sleepers and those about to sleep: a bit for each.
#[derive(Default)]
struct Interest {
    sleepers: u8,
    /// True if they also wait for room to send.
    room: bool,
}

impl Bridge {
    /// Rings `bells` when `arrivals` becomes readable while somebody sleeps, or writable if that
    /// was asked for.
    pub fn start(
        arrivals: OwnedFd,
        more: Option<OwnedFd>,
        bells: Arc<dyn Bells>,
    ) -> io::Result<Self> {
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        let stop = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        epoll::add(&epoll, &stop, EventData::new_u64(STOP), EventFlags::IN)?;
        let timer = KernelTimer::new()?;
        epoll::add(&epoll, &timer, EventData::new_u64(TIMER), EventFlags::IN)?;
        if let Some(more) = &more {
            epoll::add(&epoll, more, EventData::new_u64(MORE), ONCE)?;
        }
        let is_alone = more.is_none();
        let shared = Arc::new(Shared {
            epoll,
            arrivals,
            more,
            timer,
            interest: Mutex::default(),
            listens: AtomicBool::new(false),
            heard_more: AtomicBool::new(is_alone),
            taken: AtomicU32::new(0),
            bells,
        });
        let watched = Arc::clone(&shared);
        let thread = std::thread::Builder::new().name("weft-arrivals".into());
        let thread = thread.stack_size(STACK_BYTES).spawn(move || watched.ring_on_arrivals())?;
        Ok(Bridge { shared, stop, thread: Some(thread) })
    }

    /// An arrival from here on, or that nobody has taken, rings the bell of `waiter`; so does room
    /// for what it has to send, if it waits for any.
    pub fn arm(&self, waiter: Waiter, wants_room: bool) {
        let mut interest = self.shared.interest();
        interest.sleepers |= bit(waiter);
        if wants_room && !interest.room {
            self.shared.ignore(&interest);
            interest.room = true;
        }
        self.shared.listen(&interest);
        self.shared.listen_for_more(&interest);
    }

    /// The bell of the upcall thread rings within this range of times, after the one that is
    /// returned, unless this is called again before.
    pub fn ring_upcall_within(&self, after: RangeInclusive<Duration>) -> Duration {
        self.shared.timer.set_within(after)
    }

    /// Something has arrived, and was taken.
    #[inline]
    pub fn arrived(&self) {
        if self.shared.listens.load(Ordering::Relaxed) {
            self.shared.ring();
        } else if !self.shared.heard_more.load(Ordering::Relaxed) {
            self.shared.took_unheard();
        }
    }

    /// `waiter` is awake.
    pub fn disarm(&self, waiter: Waiter) {
        let mut interest = self.shared.interest();
        interest.sleepers &= !bit(waiter);
        if interest.sleepers == 0 {
            interest.room = false;
            self.shared.ignore(&interest);
        }
    }
}

impl Drop for Bridge {
    fn drop(&mut self) {
        // It cannot be full: nobody else writes to it.
        let _ = rustix::io::write(&self.stop, &1u64.to_ne_bytes());
        if let Some(thread) = self.thread.take() {
            // A panic of the thread has been reported as it happened.
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn interest(&self) -> MutexGuard<'_, Interest> {
        self.interest.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn listen(&self, held: &Interest) {
        if self.listens.load(Ordering::Relaxed) {
            return;
        }
        let flags = if held.room { EventFlags::IN | EventFlags::OUT } else { EventFlags::IN };
        let added = epoll::add(&self.epoll, &self.arrivals, EventData::new_u64(ARRIVAL), flags);
        // Without it sleepers look by themselves, if late.
        self.listens.store(added.is_ok(), Ordering::Relaxed);
    }

    /// From here on an arrival, or one that is there, is heard once.
    fn listen_for_more(&self, _held: &Interest) {
        if let Some(more) = &self.more
            && self.heard_more.swap(false, Ordering::Relaxed)
        {
            // Without it sleepers look by themselves, if late.
            let _ = epoll::modify(&self.epoll, more, EventData::new_u64(MORE), ONCE);
            self.taken.store(0, Ordering::Relaxed);
        }
    }

    /// The program has taken a packet, and `more` would still be heard. Threads that count at once
    /// may miss some.
    #[cold]
    fn took_unheard(&self) {
        let taken = self.taken.load(Ordering::Relaxed) + 1;
        self.taken.store(taken, Ordering::Relaxed);
        if taken < AT_WORK {
            return;
        }
        let interest = self.interest();
        if let Some(more) = &self.more
            && interest.sleepers == 0
            && !self.heard_more.swap(true, Ordering::Relaxed)
        {
            let nothing = EventFlags::ONESHOT;
            let _ = epoll::modify(&self.epoll, more, EventData::new_u64(MORE), nothing);
        }
    }

    fn ignore(&self, _held: &Interest) {
        if self.listens.swap(false, Ordering::Relaxed) {
            let removed = epoll::delete(&self.epoll, &self.arrivals);
            debug_assert!(removed.is_ok(), "the descriptor was added: {removed:?}");
        }
    }

    /// Rings for all that sleep.
    #[cold]
    fn ring(&self) {
        let mut interest = self.interest();
        let Interest { sleepers, .. } = std::mem::take(&mut *interest);
        self.ignore(&interest);
        drop(interest);
        let waiters = [Waiter::Host, Waiter::Upcall].into_iter();
        let asleep = waiters.filter(|waiter| sleepers & bit(*waiter) != 0);
        asleep.for_each(|waiter| self.bells.ring(waiter));
    }

    fn ring_on_arrivals(&self) {
        let mut events = Vec::with_capacity(4);
        loop {
            events.clear();
            match epoll::wait(&self.epoll, rustix::buffer::spare_capacity(&mut events), None) {
                Ok(_) | Err(Errno::INTR) => {}
                // Sleepers look by themselves, if late.
                Err(_) => return,
            }
            let has = |what| events.iter().any(|event: &Event| event.data.u64() == what);
            if has(STOP) {
                return;
            }
            if has(MORE) {
                let _held = self.interest();
                self.heard_more.store(true, Ordering::Relaxed);
            }
            if has(ARRIVAL) || has(MORE) {
                self.ring();
            }
            // It may have been set again just now.
            if has(TIMER) && self.timer.take() {
                self.bells.ring(Waiter::Upcall);
            }
        }
    }
}

fn bit(waiter: Waiter) -> u8 {
    match waiter {
        Waiter::Host => 1,
        Waiter::Upcall => 2,
    }
}

#[cfg(test)]
mod tests;
