//! Sleep of a rank's threads until a datagram comes: poll(2) on the socket and on a bell.
//!
//! The socket stays readable until somebody reads, so nothing is missed between the last look and
//! the sleep, and senders know nothing of sleepers. A bell is an eventfd that is written only while
//! somebody sleeps beside it, and emptied by the last who leaves: all of it under one lock, so that
//! a ring either finds a sleeper registered or is seen by whoever registers next.

use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use std::ops::RangeInclusive;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use weft_link::bell::{AnnouncedLosses, Bells, Loss, Ticket, Waiter};
use weft_link::timer::KernelTimer;

/// The bells of one rank.
pub struct DatagramBells {
    socket: Arc<dyn AsFd + Send + Sync>,
    host: Bell,
    watch: Bell,
    /// Time at which the upcall thread wakes without a ring.
    timer: KernelTimer,
    congested: AtomicBool,
    losses: AnnouncedLosses,
}

struct Bell {
    event: OwnedFd,
    rings: AtomicU32,
    /// True if an arrival counts as a ring.
    armed: AtomicBool,
    sleepers: Mutex<u32>,
}

impl Bell {
    fn new() -> std::io::Result<Self> {
        Ok(Bell {
            event: eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC)?,
            rings: AtomicU32::new(0),
            armed: AtomicBool::new(false),
            sleepers: Mutex::new(0),
        })
    }

    fn sleepers(&self) -> MutexGuard<'_, u32> {
        self.sleepers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ring(&self) {
        let sleepers = self.sleepers();
        self.rings.fetch_add(1, Ordering::SeqCst);
        if *sleepers > 0 {
            // It can only be full of rings that nobody has heard yet.
            let _ = rustix::io::write(&self.event, &1u64.to_ne_bytes());
        }
    }

    /// Registers a sleeper, unless the bell has rung since.
    fn lie_down(&self, ticket: Ticket) -> bool {
        let mut sleepers = self.sleepers();
        let silent = self.rings.load(Ordering::SeqCst) == ticket.0;
        *sleepers += u32::from(silent);
        silent
    }

    fn get_up(&self) {
        let mut sleepers = self.sleepers();
        *sleepers -= 1;
        if *sleepers == 0 {
            // Empty already, if it was not rung.
            let _ = rustix::io::read(&self.event, &mut [0; 8]);
        }
    }
}

impl DatagramBells {
    /// For a rank that hears from others through `socket`, which is readable while something is
    /// there.
    ///
    /// # Errors
    /// What the kernel says when it is asked for an eventfd.
    pub fn new(socket: Arc<dyn AsFd + Send + Sync>) -> std::io::Result<Self> {
        Ok(DatagramBells {
            socket,
            host: Bell::new()?,
            watch: Bell::new()?,
            timer: KernelTimer::new()?,
            congested: AtomicBool::new(false),
            losses: AnnouncedLosses::default(),
        })
    }

    /// A descriptor that is readable while something is there, for who sleeps beside these bells.
    ///
    /// # Errors
    /// The process has no descriptor left.
    pub fn arrivals(&self) -> std::io::Result<OwnedFd> {
        (*self.socket).as_fd().try_clone_to_owned()
    }

    fn bell(&self, waiter: Waiter) -> &Bell {
        match waiter {
            Waiter::Host => &self.host,
            Waiter::Upcall => &self.watch,
        }
    }

    /// Notes that datagrams wait until the kernel takes more: then room for one wakes sleepers too.
    #[inline]
    pub fn set_congested(&self, congested: bool) {
        self.congested.store(congested, Ordering::Relaxed);
    }

    /// True if datagrams wait until the kernel takes more.
    pub fn is_congested(&self) -> bool {
        self.congested.load(Ordering::Relaxed)
    }

    /// Prepares `waiter` to sleep: [`weft_link::Link::arm`], where `has_arrivals` looks.
    pub fn arm_unless(
        &self,
        waiter: Waiter,
        has_arrivals: impl FnOnce() -> bool,
    ) -> Option<Ticket> {
        let ticket = self.ticket(waiter);
        self.arm(waiter, true);
        if has_arrivals() {
            self.arm(waiter, false);
            return None;
        }
        Some(ticket)
    }

    /// The upcall thread, if it sleeps then, wakes within this range of times, after the one that
    /// is returned, unless this is called again before.
    pub fn ring_upcall_within(&self, after: RangeInclusive<Duration>) -> Duration {
        self.timer.set_within(after)
    }

    /// True if somebody sleeps until an arrival, or is about to.
    #[inline]
    pub fn is_armed(&self) -> bool {
        [&self.host, &self.watch].iter().any(|bell| bell.armed.load(Ordering::SeqCst))
    }

    /// Wakes threads that sleep until an arrival: the datagram was taken from the socket already.
    #[cold]
    pub fn ring_armed(&self) {
        for bell in [&self.host, &self.watch] {
            if bell.armed.swap(false, Ordering::SeqCst) {
                bell.ring();
            }
        }
    }

    /// From here on an arrival wakes `waiter`, or no longer does.
    pub fn arm(&self, waiter: Waiter, armed: bool) {
        self.bell(waiter).armed.store(armed, Ordering::SeqCst);
    }
}

impl Bells for DatagramBells {
    fn wait(&self, waiter: Waiter, ticket: Ticket, limit: Duration) {
        let bell = self.bell(waiter);
        if !bell.lie_down(ticket) {
            return;
        }
        let limit = Timespec {
            tv_sec: i64::try_from(limit.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: i64::from(limit.subsec_nanos()),
        };
        let armed = bell.armed.load(Ordering::SeqCst);
        let wanted = match self.is_congested() {
            true => PollFlags::IN | PollFlags::OUT,
            false => PollFlags::IN,
        };
        let timed = if waiter == Waiter::Upcall { PollFlags::IN } else { PollFlags::empty() };
        let mut looks = [
            PollFd::new(&bell.event, PollFlags::IN),
            PollFd::new(&self.timer, timed),
            PollFd::from_borrowed_fd((*self.socket).as_fd(), wanted),
        ];
        let looks = if armed { &mut looks[..] } else { &mut looks[..2] };
        // Rung, timed out, interrupted, a datagram or room for one: the caller looks in every case.
        let _ = poll(looks, Some(&limit));
        if armed && !looks[2].revents().is_empty() {
            bell.armed.store(false, Ordering::SeqCst);
        }
        if waiter == Waiter::Upcall {
            self.timer.take();
        }
        bell.get_up();
    }

    fn ticket(&self, waiter: Waiter) -> Ticket {
        Ticket(self.bell(waiter).rings.load(Ordering::SeqCst))
    }

    fn ring(&self, waiter: Waiter) {
        self.bell(waiter).ring();
    }

    #[inline]
    fn loss(&self) -> Option<Loss> {
        self.losses.first()
    }

    fn announce(&self, loss: Loss) {
        self.losses.add(loss);
        self.ring(Waiter::Host);
        self.ring(Waiter::Upcall);
    }

    fn take_losses(&self) -> Vec<Loss> {
        self.losses.take()
    }
}
