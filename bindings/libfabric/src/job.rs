//! This process's place in its job. A process has one, so this is the one thing that is the
//! process's: whoever opens a domain has a part in it, and the last to close one leaves it.

use crate::address::JobName;
use crate::published_wait::PublishedWait;
use crate::refusal::{Refusal, Result};
use crate::state::{State, refusal};
use crate::transfer::{EndNotice, ReceiveOp};
use std::ffi::c_int;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;
use weft::PacketJob;
use weft_endpoint::biased::{Biased, Entered};
use weft_endpoint::presence::polls::Countdown;
use weft_endpoint::{Awaited, HeldPacket, Inspect, Packets, Progress, Protocol};
use weft_endpoint::{Rank, Step, Taken, Whom};
use weft_tagged::Receiver;

/// Time limit of a program that gives it in milliseconds: for ever, if the number is negative.
pub(crate) fn limit(timeout_ms: c_int) -> Option<Duration> {
    u64::try_from(timeout_ms).ok().map(Duration::from_millis)
}

/// Longest time for which a rank that leaves has its last packets go on. Its endpoints have ended
/// their messages before, if they were closed.
const LEAVE_LIMIT: Duration = Duration::from_secs(10);
/// Time between two looks for ranks that have left, while messages to them go on.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// Longest time for which a rank that leaves waits after that for others to take its packets: one
/// that stands still may go on.
const FLUSH_LIMIT: Duration = Duration::from_secs(10);

/// Looks in vain between two yields while memory is on its way in one piece.
const LOOKS_WHILE_CARRIED: u32 = 32;

/// The outcome of a look at what has arrived.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Look {
    Nothing,
    /// Packets, which the reader was given, or the state.
    Something,
}

/// The job, as the objects of this process share it.
pub(crate) struct Job {
    packets: Packets,
    state: Biased<State>,
    /// False if the state [is not](State::is_pending). Changed inside of its lock only: whoever
    /// enters sets it, but for those whose calls leave nothing to do.
    is_pending: AtomicBool,
    /// Place in the job, taken when it is left.
    place: Mutex<Option<PacketJob>>,
    /// The ranks that share memory with this one. No farewell of the network's tells of their end.
    near: Vec<Rank>,
    /// Name of the job in addresses.
    name: JobName,
    domains: AtomicUsize,
    /// Empty polls until the next pause.
    polls: Countdown,
    /// True if something was found since the last pause.
    has_found: AtomicBool,
    /// Wait of a program that polls in vain, as others learn of it.
    wait: PublishedWait,
    /// Threads that wait for something. What one of them waits for another one may take from the
    /// network.
    waiting: AtomicUsize,
    /// Callback by which the packet layer makes progress while it waits, as long as there is a job.
    _progress: Arc<Progress>,
}

static JOB: Mutex<Weak<Job>> = Mutex::new(Weak::new());

/// A look at packets while the network is entered: most messages go where they belong there.
struct Placer<'a, R> {
    job: &'a Job,
    reader: &'a mut R,
}

impl<R: Receiver<ReceiveOp>> Inspect for Placer<'_, R> {
    #[inline(always)]
    fn inspect(&mut self, from: Rank, bytes: &[u8]) -> bool {
        // Inside of the network nobody waits for the state, because others send inside of it.
        match self.job.state.enter_at_once() {
            Some(mut state) => self.job.place(&mut state, from, bytes, self.reader),
            None => false,
        }
    }
}

impl Job {
    /// A part in the job, which this process joins if it has not yet. Blocks until all ranks are
    /// there.
    pub fn open() -> Result<Arc<Self>> {
        let mut known = JOB.lock().unwrap_or_else(PoisonError::into_inner);
        let job = match known.upgrade().filter(|job| job.domains.load(Ordering::Relaxed) > 0) {
            Some(job) => job,
            None => Job::join()?,
        };
        job.domains.fetch_add(1, Ordering::Relaxed);
        *known = Arc::downgrade(&job);
        Ok(job)
    }

    /// The job, if this process has a part in it.
    pub fn current() -> Option<Arc<Self>> {
        let known = JOB.lock().unwrap_or_else(PoisonError::into_inner);
        known.upgrade().filter(|job| job.domains.load(Ordering::Relaxed) > 0)
    }

    fn join() -> Result<Arc<Self>> {
        let place = weft::join_packets().map_err(|error| {
            error.say();
            Refusal::UNREACHABLE
        })?;
        let packets = place.packets().of(Protocol::TAGGED);
        // Most of what a sender may have under way is for other things.
        let keeps = packets.in_flight() / 8;
        let name = JobName { ranks: packets.size(), number: place.number() };
        let (crowded, near) = (!place.cores_suffice(), place.near_ranks().to_vec());
        packets.presence().set_patient();
        Ok(Arc::new_cyclic(|this: &Weak<Job>| {
            let job = this.clone();
            let progress: Arc<Progress> =
                Arc::new(move || job.upgrade().map_or(Ok(false), |job| job.interrupted()));
            packets.system().progress_by(&progress);
            Job {
                state: Biased::new(State::new(&packets, keeps, crowded)),
                is_pending: AtomicBool::new(true),
                place: Mutex::new(Some(place)),
                near,
                name,
                domains: AtomicUsize::new(0),
                polls: Countdown::default(),
                has_found: AtomicBool::new(true),
                wait: PublishedWait::default(),
                waiting: AtomicUsize::new(0),
                _progress: progress,
                packets,
            }
        }))
    }

    /// Gives a part up. The last to do so leaves the job, once all that was sent has left.
    pub fn close(&self) {
        let _known = JOB.lock().unwrap_or_else(PoisonError::into_inner);
        if self.domains.fetch_sub(1, Ordering::Relaxed) > 1 {
            return;
        }
        let place = self.place.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(place) = place else { return };
        self.wait.end();
        let deadline = self.packets.now() + LEAVE_LIMIT;
        let mut says_so = false;
        while self.packets.now() < deadline {
            let is_idle = {
                let mut state = self.enter();
                let Ok(any) = state.progress(&self.packets) else { break };
                !any && state.exchange.is_idle() && state.remote.is_idle()
            };
            if is_idle && self.packets.is_flushed() {
                if says_so {
                    break;
                }
                says_so = true;
                self.enter().exchange.leave(self.near.iter().copied());
            }
            std::thread::yield_now();
        }
        self.enter().call_off(&self.packets);
        if let Err(error) = place.leave_beside_others(FLUSH_LIMIT) {
            eprintln!("weft: {error}");
        }
    }

    /// Waits until all operations of an endpoint have ended, because their memory is about to be
    /// the program's again. Others take their messages when they get to it; of those that have left
    /// the job nothing is expected.
    pub fn end_operations(&self, endpoint: u8) {
        let is_free = |state: &mut State| {
            let State { exchange, remote, .. } = state;
            (!exchange.is_busy(endpoint) && !remote.is_busy(endpoint)).then_some(())
        };
        let what = || self.awaited();
        // After another error nothing goes on any more.
        while self.wait_beside(Some(LOOK_EVERY), &what, is_free, || ()) == Err(Refusal::AGAIN) {
            self.give_up_on_others();
        }
    }

    /// Ends operations with ranks that have left the job, or are lost where it goes on.
    fn give_up_on_others(&self) {
        let all = || (0..self.packets.size() as u16).map(Rank);
        let left: Vec<Rank> = all().filter(|rank| self.packets.has_left(*rank)).collect();
        let mut state = self.enter();
        self.give_up_on_lost(&mut state);
        // First, what they have said before they left.
        while let Ok(true) = state.progress(&self.packets) {}
        let State { exchange, remote, .. } = &mut *state;
        left.into_iter().for_each(|rank| exchange.give_up(rank));
        all().filter(|rank| exchange.has_left(*rank)).for_each(|rank| remote.give_up(rank));
        state.tell();
    }

    /// Ends operations with ranks that are lost, where the job goes on: nobody receives what they
    /// were sent. That they are lost the program hears from whoever started it.
    #[cold]
    pub fn give_up_on_lost(&self, state: &mut State) {
        let State { exchange, remote, .. } = state;
        for lost in self.packets.losses().all() {
            if !exchange.has_left(lost.rank) {
                exchange.give_up(lost.rank);
                remote.give_up(lost.rank);
            }
        }
        state.tell();
    }

    /// Has threads use the job that exclude each other by nothing but the job's lock.
    pub fn share(&self) {
        self.packets.share();
        self.state.share();
    }

    /// Ends messages, because something has panicked that may have changed half of the state.
    pub fn break_off(&self) {
        self.enter().break_off();
    }

    /// The job's name in addresses.
    pub fn name(&self) -> JobName {
        self.name
    }

    /// The packets below.
    #[inline]
    pub fn packets(&self) -> &Packets {
        &self.packets
    }

    /// The state, locked.
    #[inline]
    pub fn enter(&self) -> Entered<'_, State> {
        let state = self.state.enter();
        self.set_pending();
        state
    }

    /// Does what [`Self::enter`] does, for a call that says itself if it leaves something pending.
    #[inline(always)]
    pub fn enter_quietly(&self) -> Entered<'_, State> {
        self.state.enter()
    }

    /// True if there may be more to do than to look at what has arrived.
    #[inline(always)]
    pub fn is_pending(&self) -> bool {
        self.is_pending.load(Ordering::Relaxed)
    }

    /// Notes that something is pending; called inside the lock.
    #[inline(always)]
    pub fn set_pending(&self) {
        self.is_pending.store(true, Ordering::Relaxed);
    }

    /// Notes whether something is pending, after what may have changed that.
    pub fn note_pending(&self, state: &State) {
        self.is_pending.store(state.is_pending(), Ordering::Relaxed);
    }

    /// One look at what has arrived, for a program that reads a queue while nothing is
    /// [pending](Self::is_pending).
    #[inline(always)]
    pub fn look(&self, reader: &mut impl Receiver<ReceiveOp>) -> Look {
        let mut held = HeldPacket::default();
        match self.packets.take_unless(Placer { job: self, reader }, &mut held) {
            Ok(Taken::Nothing) => Look::Nothing,
            Ok(Taken::AtOnce) if !self.is_pending() => Look::Something,
            Ok(Taken::AtOnce) => self.looked(|state, packets| state.send_what_waits(packets)),
            Ok(Taken::Held) => self.looked(|state, packets| state.take_held(packets, &mut held)),
            Err(error) => self.looked(|state, _| state.fail_at(error)),
        }
    }

    /// Puts a message where it belongs, while the network is entered. False if the packet is none
    /// of messages.
    #[inline(always)]
    fn place(
        &self,
        state: &mut State,
        from: Rank,
        packet: &[u8],
        reader: &mut impl Receiver<ReceiveOp>,
    ) -> bool {
        // Another thread may have ended something meanwhile, and what ended first is read first.
        if self.is_pending() || !state.exchange.arrive_expected(from, packet, reader) {
            self.set_pending();
            let is_message = state.arrive(from, packet);
            self.packets.trace().record_unexpected(state.exchange.unexpected_count());
            return is_message;
        }
        if state.exchange.has_answers() {
            self.set_pending();
        }
        true
    }

    /// A look has brought what was not done at once.
    #[inline(never)]
    fn looked(&self, work: impl FnOnce(&mut State, &Packets)) -> Look {
        let mut state = self.enter();
        work(&mut state, &self.packets);
        self.note_pending(&state);
        Look::Something
    }

    /// Makes progress, and looks at what is there.
    #[inline]
    pub fn progress(&self) -> Result<Entered<'_, State>> {
        let mut state = self.enter();
        self.progress_in(&mut state)?;
        Ok(state)
    }

    /// Makes progress; called inside the lock.
    pub fn progress_in(&self, state: &mut State) -> Result {
        match state.progress(&self.packets) {
            Ok(true) => {
                self.found_something();
                Ok(())
            }
            Ok(false) => Ok(()),
            Err(error) => match refusal(&error) {
                Refusal::AGAIN => Ok(()),
                other => Err(other),
            },
        }
    }

    /// Something was there for who looked.
    #[inline(always)]
    pub fn found_something(&self) {
        self.has_found.store(true, Ordering::Relaxed);
        self.polls.begin();
        self.wait.end();
        self.nudge_others(0);
    }

    /// Nothing was there for who looked, and most likely looks again at once: where others want the
    /// core, one of them may have to run first. Threads that look at once may miss some.
    #[inline(always)]
    pub fn look_in_vain(&self) {
        if self.polls.is_pause_due() {
            self.pause();
        }
    }

    /// Pause of a program that has looked in vain. It finds what comes meanwhile, an error too,
    /// when it looks again.
    #[cold]
    fn pause(&self) {
        if self.enter().exchange.may_carry() && self.packets.memory().carries() {
            // The rank that it comes from may share the core.
            std::thread::yield_now();
            return self.polls.paused(LOOKS_WHILE_CARRIED);
        }
        let mut step = || {
            let mut state = self.enter();
            let any = !matches!(state.progress(&self.packets), Ok(false));
            self.note_pending(&state);
            Ok(Step::of(any || state.has_news()))
        };
        if self.packets.losses().goes_on() && self.packets.losses().are_any() {
            self.give_up_on_lost(&mut self.enter());
        }
        let begins = self.has_found.swap(false, Ordering::Relaxed);
        self.wait.pauses(begins, &self.packets, || self.awaited());
        let polls = self.packets.presence().pause(begins, &mut step).unwrap_or(1);
        self.polls.paused(polls);
    }

    /// The program has got what it waited for.
    #[inline]
    pub fn wait_ends(&self) {
        self.polls.begin();
    }

    /// Object of the wait of a program for whatever it has begun.
    fn awaited(&self) -> Awaited {
        let awaited = self.enter().exchange.awaited();
        awaited.unwrap_or_else(|| Awaited::of_unknown("completions"))
    }

    /// Makes progress until `look` finds something, or the time is up. Sleeps in between.
    pub fn wait<T>(
        &self,
        limit: Option<Duration>,
        look: impl FnMut(&mut State) -> Option<T>,
    ) -> Result<T> {
        let what = || match limit {
            None => self.awaited(),
            Some(_) => Awaited { whom: Whom::Unknown, ..self.awaited() },
        };
        self.wait_beside(limit, &what, look, || ())
    }

    /// Does what [`Self::wait`] does, for calls with an error of their own if the time is up.
    pub fn wait_in_time<T>(
        &self,
        limit: Option<Duration>,
        look: impl FnMut(&mut State) -> Option<T>,
    ) -> Result<T> {
        self.wait(limit, look).map_err(|why| match why {
            Refusal::AGAIN => Refusal::TIMED_OUT,
            why => why,
        })
    }

    /// Does what [`Self::wait`] does, for a thread that is in the way of those that read
    /// completions: calls `beside` while there are some. Lets others know `what` it waits for.
    pub fn wait_beside<T>(
        &self,
        limit: Option<Duration>,
        what: &dyn Fn() -> Awaited,
        mut look: impl FnMut(&mut State) -> Option<T>,
        beside: impl Fn(),
    ) -> Result<T> {
        let deadline = limit.map(|limit| self.packets.now() + limit);
        let mut found = Err(Refusal::AGAIN);
        self.waiting.fetch_add(1, Ordering::SeqCst);
        self.wait.end();
        let waited = self.packets.presence().wait_for(what, deadline, &mut || {
            let mut state = self.enter();
            // Others may have brought it, with no packet.
            if let Some(seen) = look(&mut state) {
                found = Ok(seen);
                return Ok(Step::Done);
            }
            let any = match state.progress(&self.packets) {
                Ok(any) => any,
                Err(weft_tagged::Error::Packet(error)) => return Err(error),
                Err(error) => {
                    found = Err(refusal(&error));
                    return Ok(Step::Done);
                }
            };
            if any {
                self.nudge_others(1);
            }
            if let Some(seen) = look(&mut state) {
                found = Ok(seen);
                return Ok(Step::Done);
            }
            if deadline.is_some_and(|deadline| self.packets.now() >= deadline) {
                return Ok(Step::Done);
            }
            if state.has_news() {
                drop(state);
                beside();
            }
            Ok(Step::of(any))
        });
        self.waiting.fetch_sub(1, Ordering::SeqCst);
        match waited {
            Ok(()) => found,
            Err(error) => Err(refusal(&error.into())),
        }
    }

    /// Tells whoever has started operations which of them have ended. Called outside of the lock,
    /// where the program reads completions.
    pub fn tell_ended(&self) {
        while let Some(EndNotice { ended, context }) = self.next_ended() {
            ended(context);
        }
    }

    fn next_ended(&self) -> Option<EndNotice> {
        let mut state = self.enter_quietly();
        let ended = state.started.ended();
        state.note_started();
        ended
    }

    /// Wakes those that wait, if they are more than the caller's own `waiting`, because this thread
    /// has taken packets.
    #[inline]
    fn nudge_others(&self, waiting: usize) {
        if self.waiting.load(Ordering::SeqCst) > waiting {
            self.packets.presence().nudge();
        }
    }

    /// Before the program waits for a descriptor, and makes no progress itself any more: what
    /// `quiet` finds after what has arrived.
    pub fn prepare_to_wait(&self, quiet: impl FnOnce(&mut State) -> bool) -> Result<bool> {
        self.packets.presence().set_eager();
        let mut state = self.progress()?;
        if state.has_to_transmit() {
            // Only a new pending work wakes the upcall thread, and this one may be noted already,
            // in silence: it is taken back first.
            self.packets.system().note_pending_work(false);
            self.packets.system().set_pending_work(true);
        }
        Ok(quiet(&mut state))
    }

    /// Wakes a thread that waits, because what it waits for may be there.
    pub fn nudge(&self) {
        self.packets.presence().nudge();
    }

    /// Serves the upcall thread when the program does not poll.
    fn interrupted(&self) -> weft_endpoint::Result<bool> {
        let outcome = self.enter().progress(&self.packets);
        match outcome {
            Ok(any) => {
                if any {
                    self.nudge();
                }
                Ok(any)
            }
            Err(weft_tagged::Error::Packet(error)) => Err(error),
            // The next poll returns it.
            Err(_) => Ok(false),
        }
    }
}

#[cfg(test)]
mod tests;
