//! One rank as a value: the threads of its program, its upcall thread, their bells, a link over a
//! network with its timer, and the time. What each thread does next the machines of
//! [`weft_endpoint::presence`] say; what may happen next is any of the [`Happens`] that are
//! possible, so that any order of them is one that a real rank could show.
//!
//! Time passes only while every thread computes, sleeps or has ended: whoever is at work is quicker
//! than any timer. The judge looks at the clock as it moves: a packet that has arrived, or was
//! transmitted, and for whose time nobody has come breaks P1 or P2.

use std::collections::VecDeque;
use std::fmt;
use weft_endpoint::Core;
use weft_endpoint::biased::Fences;
use weft_endpoint::presence::cell::Sleepers;
use weft_endpoint::presence::coalescing::{Coalescing, FlushHint, Leaves};
use weft_endpoint::presence::constants::{
    BESIDE_SLEEPER, IDLE_LOOK, INTERRUPT_DELAY, LATE, LONGEST_SLEEP, LONGEST_WAIT,
};
use weft_endpoint::presence::fallback::{self, TimerFallback, Woken};
use weft_endpoint::presence::planted::Bug;
use weft_endpoint::presence::sleep::{self, SleepEffect};
use weft_endpoint::presence::watch::{Act, Found, Host, NetworkWatch, WatchEvent};
use weft_protocol::watchdog::HostStatus;
use weft_wire::Rank;

/// Nanoseconds.
type Time = u64;

/// Time after which a packet that has arrived must have been processed, whoever does so, counted
/// from the program's last visit: a look that is late, and all the pauses of a watchdog that
/// doubles. Far less than the sleeps that end by themselves.
const SEEN_WITHIN: Time = 2 * LATE + 16 * INTERRUPT_DELAY.as_nanos() as Time;

/// Time after which a packet that was held back must have left: the upcall thread's look, or the
/// longest pause that it was about to make when the packet was held back.
const HELD_FOR: Time = 2 * LONGEST_WAIT + 8 * INTERRUPT_DELAY.as_nanos() as Time;

/// One thing that a thread of the program does.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Do {
    /// Sends a packet; the rank is always the same.
    Launch,
    /// Looks for a packet, and processes it.
    Poll,
    /// Computes; for how long is open.
    Compute,
    /// Waits until so many packets have been processed, whoever does so.
    Await(u64),
}

/// Something that happens.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Happens {
    /// A packet arrives.
    Arrival,
    /// A thread of the program goes on.
    Thread(usize),
    /// The upcall thread goes on.
    Upcall,
    /// The time of the next timer comes.
    Time,
}

impl fmt::Display for Happens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Happens::Arrival => f.write_str("a packet arrives"),
            Happens::Thread(number) => write!(f, "thread {number} goes on"),
            Happens::Upcall => f.write_str("the upcall thread goes on"),
            Happens::Time => f.write_str("time passes"),
        }
    }
}

/// Rank to explore.
#[derive(Clone, Debug)]
pub struct RoomOptions {
    /// Programs of the threads, each in order.
    pub programs: Vec<Vec<Do>>,
    /// Packets that arrive, at any time.
    pub arrivals: u32,
    /// True if the link's timer is dear to set.
    pub timer_is_dear: bool,
    /// Times that the clock moves at most.
    pub ticks: u32,
    /// Mistake that the machines make.
    pub bug: Option<Bug>,
}

/// A thread of the program.
#[derive(Clone, Hash, Debug)]
enum Thread {
    /// At its next work, or computing before it.
    Ready,
    /// In an upcall for a packet.
    InUpcall,
    /// Going to sleep, asleep, or waking up: about to have an effect, ...
    Effect(sleep::Sleep, SleepEffect),
    /// ... or about to say what came of it.
    Outcome(sleep::Sleep, sleep::SleepEvent),
    /// Asleep until the bell rings, or this time.
    Asleep(sleep::Sleep, Time),
}

/// The upcall thread.
#[derive(Clone, Hash, Debug)]
enum Upcall {
    /// About to do this.
    Acts(Act),
    /// About to sleep on.
    Sleeps(Act, fallback::Sleep),
    /// Asleep until a ring, or this time.
    Asleep(Act, fallback::Sleep, Time),
}

/// A rank.
#[derive(Clone, Hash)]
pub struct Room {
    now: Time,
    ticks: u32,
    /// Arrivals still to come, and times of those in the link and of those taken out of it.
    to_arrive: u32,
    arrived: VecDeque<Time>,
    pending: VecDeque<Time>,
    processed: u64,
    /// Time at which a thread of the program was inside last: it puts the upcall thread's look off.
    visited: Time,
    /// Times of the packets that were transmitted and have not left.
    unflushed: Vec<Time>,
    timer: Option<Time>,
    timer_is_dear: bool,
    /// Bells that are armed: the host's, the upcall thread's.
    host_armed: bool,
    upcall_armed: bool,
    /// Threads whose tickets are old: a bell has rung since they were drawn.
    rung: Vec<bool>,
    upcall_rung: bool,
    programs: Vec<VecDeque<Do>>,
    threads: Vec<Thread>,
    upcall: Upcall,
    coalescing: Coalescing,
    fallback: TimerFallback,
    sleepers: Sleepers,
    watch: NetworkWatch,
    bug: Option<Bug>,
}

impl Room {
    /// A rank at its start.
    pub fn new(options: &RoomOptions) -> Self {
        let fallback = TimerFallback::new(200_000);
        fallback.watched();
        let programs: Vec<VecDeque<Do>> =
            options.programs.iter().map(|program| program.iter().copied().collect()).collect();
        let mut room = Room {
            // A packet of before was long ago.
            now: 1_000_000_000,
            ticks: options.ticks,
            to_arrive: options.arrivals,
            arrived: VecDeque::new(),
            pending: VecDeque::new(),
            processed: 0,
            visited: 0,
            unflushed: Vec::new(),
            timer: None,
            timer_is_dear: options.timer_is_dear,
            host_armed: false,
            upcall_armed: false,
            rung: vec![false; programs.len()],
            upcall_rung: false,
            threads: vec![Thread::Ready; programs.len()],
            programs,
            upcall: Upcall::Acts(Act::Look),
            coalescing: Coalescing::default(),
            fallback,
            sleepers: Sleepers::new(Some(Fences::new())),
            watch: NetworkWatch::new(INTERRUPT_DELAY),
            bug: options.bug,
        };
        room.plant();
        room
    }

    #[cfg(test)]
    fn plant(&mut self) {
        if let Some(bug) = self.bug {
            self.fallback.plant(bug);
        }
    }

    #[cfg(not(test))]
    fn plant(&mut self) {
        assert_eq!(self.bug, None, "tests plant bugs");
    }

    /// All that can happen next.
    pub fn possible(&self) -> Vec<Happens> {
        let mut possible = Vec::new();
        possible.extend((self.to_arrive > 0).then_some(Happens::Arrival));
        let threads = (0..self.threads.len()).filter(|&number| self.goes_on(number));
        possible.extend(threads.map(Happens::Thread));
        let upcall = self.upcall_goes_on();
        possible.extend(upcall.then_some(Happens::Upcall));
        let is_quiet = !upcall && (0..self.threads.len()).all(|number| self.lets_time_pass(number));
        possible.extend((is_quiet && self.ticks > 0).then_some(Happens::Time));
        possible
    }

    /// Has one of these happen.
    pub fn take(&mut self, what: Happens) {
        match what {
            Happens::Arrival => self.arrive(),
            Happens::Thread(number) => self.go_on(number),
            Happens::Upcall => self.upcall_acts(),
            Happens::Time => self.pass_time(),
        }
    }

    /// True if all has arrived, was processed and has left, and every program is done.
    pub fn is_done(&self) -> bool {
        let is_quiet = self.arrived.is_empty() && self.pending.is_empty();
        self.to_arrive == 0
            && is_quiet
            && self.unflushed.is_empty()
            && self.programs.iter().all(VecDeque::is_empty)
    }

    /// True if the clock has moved as often as it may.
    pub fn is_over(&self) -> bool {
        self.ticks == 0
    }
}

/// The link, and the clock.
impl Room {
    fn arrive(&mut self) {
        self.to_arrive -= 1;
        self.arrived.push_back(self.now);
        // The thread that sleeps is woken, and not the upcall thread.
        if std::mem::take(&mut self.host_armed) {
            self.ring_host();
        } else if std::mem::take(&mut self.upcall_armed) {
            self.upcall_rung = true;
        }
    }

    /// Wakes one thread that sleeps; no other that has drawn its ticket sleeps after this.
    fn ring_host(&mut self) {
        let is_asleep = |thread: &Thread| matches!(thread, Thread::Asleep(..));
        let mut wakes = true;
        for (thread, rung) in self.threads.iter().zip(&mut self.rung) {
            if !is_asleep(thread) {
                *rung = true;
            } else if wakes && !*rung {
                *rung = true;
                wakes = false;
            }
        }
    }

    fn set_timer(&mut self, within: std::ops::RangeInclusive<Time>) {
        self.upcall_armed = false;
        self.fallback.timer_is_set(self.now, &within);
        let time = if self.timer_is_dear { *within.end() } else { *within.start() };
        self.timer = Some(self.now + time);
        self.fallback.timer_set(self.now, &within, time);
    }

    /// Time of the next sleep or timer that ends by itself.
    fn next_time(&self) -> Option<Time> {
        let threads = self.threads.iter().filter_map(|thread| match thread {
            Thread::Asleep(_, until) => Some(*until),
            _ => None,
        });
        let upcall = match &self.upcall {
            Upcall::Asleep(_, _, until) => Some(*until),
            _ => None,
        };
        threads.chain(upcall).chain(self.timer).min()
    }

    fn pass_time(&mut self) {
        let Some(next) = self.next_time() else { panic!("nobody wakes by itself") };
        self.ticks -= 1;
        for &arrived in self.arrived.iter().chain(&self.pending) {
            let left_for = next.saturating_sub(arrived.max(self.visited));
            assert!(left_for <= SEEN_WITHIN, "P1 seen: a packet is left for {left_for} ns");
        }
        for held in &self.unflushed {
            let held_for = next.saturating_sub(*held);
            assert!(held_for <= HELD_FOR, "P2 flushed: one is held for {held_for} ns");
        }
        self.now = next.max(self.now);
        if self.timer.is_some_and(|timer| timer <= self.now) {
            self.timer = None;
            self.upcall_rung = true;
        }
    }
}

/// The node, as whoever is inside uses it.
impl Room {
    fn exit(&mut self, leaves: Leaves) {
        self.visited = self.now;
        match leaves {
            Leaves::Soon if !self.unflushed.is_empty() => {
                let Some(since) = self.coalescing.hold(self.now) else { return self.flush() };
                let has_packets = self.coalescing.holds_packets();
                if let Some(times) = self.fallback.holds(self.now, since, has_packets) {
                    self.set_timer(times);
                    self.fallback.looks_for_held();
                }
            }
            Leaves::AtOnce | Leaves::Soon => self.flush(),
            Leaves::WithNext => self.visit(),
        }
    }

    fn flush(&mut self) {
        self.unflushed.clear();
        if self.coalescing.has_left() {
            self.fallback.left(self.now);
        }
        self.visit();
    }

    fn visit(&mut self) {
        if self.fallback.is_visit_due(self.now)
            && let Some(times) = self.fallback.visited(self.now)
        {
            self.set_timer(times);
        }
    }

    fn drain(&mut self) -> bool {
        let any = !self.arrived.is_empty();
        self.pending.append(&mut self.arrived);
        any
    }

    /// A look of whoever: an upcall begins, or another's is under way, or nothing is there.
    fn look(&mut self) -> Looked {
        if self.sleepers.is_in_upcall() {
            self.sleepers.skip();
            return if self.drain() { Looked::Drained } else { Looked::Nothing };
        }
        if self.pending.is_empty()
            && let Some(next) = self.arrived.pop_front()
        {
            self.pending.push_back(next);
        }
        match self.pending.pop_front() {
            None => Looked::Nothing,
            Some(_) => {
                self.sleepers.begin_upcall();
                Looked::Upcall
            }
        }
    }

    fn end_upcall(&mut self) {
        self.processed += 1;
        // For what is left, and for who waits for this one: a nudge.
        if self.sleepers.end_upcall_outside() {
            self.ring_host();
        }
    }

    fn exit_after(&mut self, looked: Looked) {
        let has_more = !self.arrived.is_empty();
        let leaves = match looked {
            Looked::Nothing => self.coalescing.has_found_nothing(),
            Looked::Drained | Looked::Upcall => self.coalescing.has_found(|| has_more),
        };
        self.exit(leaves);
    }
}

/// Outcome of a look.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Looked {
    Nothing,
    Drained,
    Upcall,
}

/// The threads of the program.
impl Room {
    fn goes_on(&self, number: usize) -> bool {
        match &self.threads[number] {
            Thread::Ready => !self.programs[number].is_empty(),
            Thread::Asleep(_, until) => self.rung[number] || *until <= self.now,
            _ => true,
        }
    }

    fn lets_time_pass(&self, number: usize) -> bool {
        match &self.threads[number] {
            Thread::Ready => matches!(self.programs[number].front(), None | Some(Do::Compute)),
            _ => !self.goes_on(number),
        }
    }

    fn go_on(&mut self, number: usize) {
        match self.threads[number].clone() {
            Thread::Ready => self.work(number),
            Thread::InUpcall => {
                self.end_upcall();
                self.threads[number] = Thread::Ready;
            }
            Thread::Effect(sleep, effect) => self.sleep(number, sleep, effect),
            Thread::Asleep(sleep, _) => {
                self.threads[number] = Thread::Outcome(sleep, sleep::SleepEvent::Done);
            }
            Thread::Outcome(mut sleep, event) => {
                let effect = sleep.next(event, &self.sleepers);
                self.threads[number] = Thread::Effect(sleep, effect);
            }
        }
    }

    fn work(&mut self, number: usize) {
        match self.programs[number].front() {
            Some(Do::Launch) => {
                self.unflushed.push(self.now);
                let to = Some(Rank(1));
                let leaves = self.coalescing.launched(FlushHint::Nothing, to, self.now);
                self.exit(leaves);
                self.programs[number].pop_front();
            }
            Some(Do::Poll) => {
                self.programs[number].pop_front();
                self.poll(number);
            }
            Some(Do::Await(count)) if self.processed < *count => {
                if self.poll(number) == Looked::Nothing {
                    let mut sleep = sleep::Sleep::begin(&self.sleepers);
                    self.plant_in(&mut sleep);
                    self.threads[number] = Thread::Effect(sleep, SleepEffect::Arm);
                }
            }
            Some(Do::Compute | Do::Await(_)) | None => drop(self.programs[number].pop_front()),
        }
    }

    #[cfg(test)]
    fn plant_in(&self, sleep: &mut sleep::Sleep) {
        if let Some(bug) = self.bug {
            sleep.plant(bug);
        }
    }

    #[cfg(not(test))]
    fn plant_in(&self, _: &mut sleep::Sleep) {}

    fn poll(&mut self, number: usize) -> Looked {
        let looked = self.look();
        if looked == Looked::Upcall {
            self.threads[number] = Thread::InUpcall;
        }
        self.exit_after(looked);
        looked
    }

    fn sleep(&mut self, number: usize, sleep: sleep::Sleep, effect: SleepEffect) {
        let event = match effect {
            SleepEffect::Arm => {
                let may_arm = self.arrived.is_empty();
                self.host_armed |= may_arm;
                self.rung[number] = false;
                sleep::SleepEvent::Armed(may_arm)
            }
            SleepEffect::Look => self.last_look(number),
            SleepEffect::Sleep => {
                let until = self.now + LONGEST_SLEEP.as_nanos() as Time;
                self.threads[number] = Thread::Asleep(sleep, until);
                return;
            }
            SleepEffect::Disarm => {
                self.host_armed = false;
                self.exit(Leaves::AtOnce);
                sleep::SleepEvent::Done
            }
            SleepEffect::Ring => {
                self.ring_host();
                sleep::SleepEvent::Done
            }
            SleepEffect::Over { .. } => {
                self.threads[number] = Thread::Ready;
                return;
            }
        };
        self.threads[number] = Thread::Outcome(sleep, event);
    }

    /// The look of a thread that has armed its bell, which processes at once the packets that it
    /// finds.
    fn last_look(&mut self, number: usize) -> sleep::SleepEvent {
        let awaits = self.programs[number].front();
        if matches!(awaits, Some(Do::Await(count)) if self.processed >= *count) {
            return sleep::SleepEvent::Found;
        }
        let looked = self.look();
        if looked == Looked::Upcall {
            self.end_upcall();
        }
        self.exit_after(looked);
        if looked == Looked::Nothing {
            sleep::SleepEvent::FoundNothing
        } else {
            sleep::SleepEvent::Found
        }
    }
}

/// The upcall thread.
impl Room {
    fn upcall_goes_on(&self) -> bool {
        match &self.upcall {
            Upcall::Asleep(_, _, until) => self.upcall_rung || *until <= self.now,
            _ => true,
        }
    }

    fn upcall_acts(&mut self) {
        match self.upcall.clone() {
            Upcall::Acts(Act::Look) => self.upcall_looks(),
            Upcall::Acts(Act::Pause(time)) => {
                self.upcall_rung = false;
                let sleep = self.fallback.unarmed(self.now, time);
                self.upcall = Upcall::Sleeps(Act::Pause(time), sleep);
            }
            Upcall::Acts(Act::Interrupt) => {
                if self.look() == Looked::Upcall {
                    self.end_upcall();
                }
                self.next_act(WatchEvent::Interrupted);
            }
            Upcall::Acts(Act::Sleep) => unreachable!("a look says how"),
            Upcall::Sleeps(act, sleep) => match self.fallback.part(self.now) {
                None => self.wake(act, Woken::Time),
                Some(part) => {
                    let until = self.now + part.limit.as_nanos() as Time;
                    self.upcall = Upcall::Asleep(act, sleep, until);
                }
            },
            Upcall::Asleep(act, sleep, _) => {
                self.upcall_rung = false;
                match self.fallback.rang(sleep, self.now) {
                    true => self.wake(act, Woken::Ring),
                    false => self.upcall = Upcall::Sleeps(act, sleep),
                }
            }
        }
    }

    fn wake(&mut self, act: Act, woken: Woken) {
        self.fallback.awake();
        let event = if act == Act::Sleep { WatchEvent::Woken(woken) } else { WatchEvent::Paused };
        self.next_act(event);
    }

    fn next_act(&mut self, event: WatchEvent) {
        let host = self.host();
        self.upcall = Upcall::Acts(self.watch.next(event, &host));
    }

    fn host(&self) -> Host {
        let status = HostStatus { packets_processed: self.processed, interrupts_disabled: false };
        Host { status, activity: 0, is_eager: false, core: Core::Own }
    }

    fn upcall_looks(&mut self) {
        self.drain();
        self.unflushed.clear();
        self.coalescing.has_left();
        if !self.pending.is_empty() {
            if self.sleepers.are_any() {
                self.ring_host();
            }
            return self.next_act(WatchEvent::Looked(Found::Waits));
        }
        self.upcall_rung = false;
        let limit = match self.sleepers.are_any_at_bell() {
            true => BESIDE_SLEEPER,
            false => {
                self.upcall_armed = true;
                IDLE_LOOK
            }
        };
        self.timer = Some(self.now + limit.as_nanos() as Time);
        let sleep = self.fallback.armed(self.now, limit, true);
        self.next_act(WatchEvent::Looked(Found::Nothing));
        if let Upcall::Acts(act) = self.upcall {
            self.upcall = Upcall::Sleeps(act, sleep);
        }
    }
}
