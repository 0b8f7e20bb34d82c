//! The state of a simulated network: virtual time, what will happen when, and every rank's parts.

use crate::agenda::Agenda;
use crate::coroutine::Strand;
use crate::faults::Injector;
use crate::frames::{Frame, Owner, Slots, Spare};
use crate::machine::MachineModel;
use crate::medium::Token;
use crate::trace::{FrameEvent, Trace};
use fragile::Fragile;
use std::cell::{RefCell, RefMut};
use std::collections::VecDeque;
use std::time::Instant;
use weft_link::bell::Loss;
use weft_link::clock::Nanoseconds;
use weft_link::ni::NiEvent;
use weft_wire::{Header, Rank};

/// Number of a rank's first coroutine: when it ends, its program has ended.
pub(crate) const MAIN: u32 = 0;

/// Something that will happen.
pub(crate) enum Event {
    /// A coroutine of the rank's program goes on, unless it did already since this was scheduled.
    Resume(Rank, u32),
    /// One of them wanted to wait no longer.
    TimeUp(Rank, u32),
    /// The NI has something to do.
    Post(Rank, NiEvent),
    /// A copy to the host is complete.
    Copied(Rank),
    /// The NI is free to do it.
    Serve(Rank),
    /// A frame is at the end of the wire.
    Arrive(Rank, Box<Frame>),
    /// It has left the wire, where others were before it.
    Arrived(Rank, Box<Frame>),
    /// The link is done with a send buffer that was freed.
    FrameBack(Rank, weft_link::Buffer),
    /// The time that the NI asked to be woken at.
    Deadline(Rank),
    /// The rank stops.
    Crash(Rank),
    /// The others learn that it did.
    Announce(Loss),
}

impl Event {
    /// True if nothing but the passing of time makes it happen.
    fn is_timer(&self) -> bool {
        matches!(self, Event::TimeUp(..) | Event::Deadline(_))
    }
}

/// Reason why a rank's program does not run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Waiting {
    /// It runs, has not begun, or has ended.
    Not,
    /// The others have to catch up with it.
    Sync,
    /// All of its coroutines sleep until their bell rings.
    Bell,
    /// It has rung, for one of them at least.
    Rung,
    /// It computes.
    Computing,
}

/// A coroutine that does not have its rank's processor.
pub(crate) struct Off {
    pub strand: u32,
    /// Its epoch, which no other coroutine of the rank has or had.
    pub epoch: u32,
    /// Time from which on it is ready to run; `None` while it sleeps.
    pub ready_at: Option<Nanoseconds>,
}

/// Stage of a rank's program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Life {
    /// Nobody spawned one.
    None,
    Alive,
    /// It has returned.
    Ended,
    /// It crashed.
    Crashed,
}

/// The parts of one rank's node.
pub(crate) struct Parts {
    /// The time of the host processor, which runs ahead of the others until it looks at them.
    pub local: Nanoseconds,
    pub waiting: Waiting,
    /// The coroutine that has the processor, and its epoch, which changes whenever one goes on.
    pub strand: u32,
    pub epoch: u32,
    pub last_epoch: u32,
    /// Those that do not have it, in the order in which they gave it away.
    pub off: Vec<Off>,
    /// Those that the network has not seen yet, and the number of all that there ever were.
    pub newborn: Vec<(u32, Strand)>,
    pub strands: u32,
    /// True while coroutines that are left over are unwound.
    pub unwinding: bool,
    /// Time that the NI has taken of the host's since the program was last looked at, where both
    /// are one processor; and what was taken of the computation under way.
    pub stolen: Nanoseconds,
    pub delayed: Nanoseconds,
    pub life: Life,
    /// Number of the losses that it has taken.
    pub heard_losses: usize,
    /// True if its program has said that it ended badly.
    pub failed: bool,
    /// Since when its program has run, in real time, where that is charged.
    pub running_since: Option<Instant>,
    /// Cost of its host work, relative to the machine.
    pub slowness: f64,
    pub rings: u32,
    pub armed: bool,
    pub interrupted: bool,
    pub in_interrupt: bool,
    pub has_ni: bool,
    /// The time within the NI event that is being processed, and what follows its critical part.
    pub cursor: Nanoseconds,
    pub after: Nanoseconds,
    /// Work left to do for the last packet that was transmitted, where that comes after the next
    /// transmission, if one is queued.
    pub owed: Nanoseconds,
    pub ni_free: Nanoseconds,
    /// Time at which the host sees what the NI shows it in this event, if before the NI is done.
    pub shown_at: Option<Nanoseconds>,
    pub ni_queue: VecDeque<NiEvent>,
    pub serving: bool,
    pub bus_free: Nanoseconds,
    /// Time for which it has brought packets, with those that wait for it.
    pub bus_brought: Nanoseconds,
    pub out_free: Nanoseconds,
    pub in_free: Nanoseconds,
    pub arrived: VecDeque<Frame>,
    /// Receive buffers that the NI had in use at a time, at most; and those that hold what arrived.
    pub most_received: usize,
    pub arrived_frames: usize,
    /// The headers of the frames on the bus.
    pub copying: VecDeque<Option<Header>>,
    pub slots: Slots,
    pub starved: bool,
    pub deadline: Option<Nanoseconds>,
    /// The earliest deadline event that is under way.
    pub deadline_event: Option<Nanoseconds>,
}

impl Parts {
    /// Adds a coroutine, which is ready to run now. Returns its epoch.
    pub fn add(&mut self, strand: u32) -> u32 {
        let epoch = if strand == MAIN { 0 } else { self.next_epoch() };
        self.off.push(Off { strand, epoch, ready_at: Some(self.local) });
        epoch
    }

    fn next_epoch(&mut self) -> u32 {
        self.last_epoch = self.last_epoch.wrapping_add(1);
        self.last_epoch
    }

    /// True if no coroutine has the processor.
    fn is_free(&self) -> bool {
        matches!(self.waiting, Waiting::Bell | Waiting::Rung)
    }

    /// The coroutine that is to go on next.
    fn next_ready(&self) -> Option<(Nanoseconds, u32)> {
        let ready = self.off.iter().filter_map(|off| Some((off.ready_at?, off.epoch)));
        // Of those of one time, the one that gave the processor away first.
        ready.min_by_key(|(time, _)| *time)
    }

    fn new() -> Self {
        Parts {
            local: 0,
            waiting: Waiting::Not,
            strand: MAIN,
            epoch: 0,
            last_epoch: 0,
            off: Vec::new(),
            newborn: Vec::new(),
            strands: 0,
            unwinding: false,
            stolen: 0,
            delayed: 0,
            life: Life::None,
            heard_losses: 0,
            failed: false,
            running_since: None,
            slowness: 1.0,
            rings: 0,
            armed: false,
            interrupted: false,
            in_interrupt: false,
            has_ni: false,
            cursor: 0,
            after: 0,
            owed: 0,
            ni_free: 0,
            shown_at: None,
            ni_queue: VecDeque::new(),
            serving: false,
            bus_free: 0,
            bus_brought: 0,
            out_free: 0,
            in_free: 0,
            arrived: VecDeque::new(),
            most_received: 0,
            arrived_frames: 0,
            copying: VecDeque::new(),
            slots: Slots::default(),
            starved: false,
            deadline: None,
            deadline_event: None,
        }
    }
}

/// Next step of the scheduler.
pub(crate) enum Next {
    Event(Event),
    /// Nothing will happen any more.
    Nothing,
    /// No program has got on for too long.
    NoProgress,
    /// The time limit has passed.
    Limit,
}

pub(crate) struct State {
    pub machine: MachineModel,
    /// Token of the medium, where the links are one medium.
    pub token: Token,
    pub now: Nanoseconds,
    events: Agenda<Event>,
    /// Events under way that are not timers.
    pub lively: usize,
    pub ranks: Vec<Parts>,
    /// The rank whose NI is processing an event.
    pub at_ni: Option<Rank>,
    /// Every program has to end.
    pub stopping: bool,
    /// The last time that a program got on: it sent, took a packet, or computed. Looking for
    /// packets is no progress, nor is what protocols do among themselves.
    pub progress_at: Nanoseconds,
    pub limit: Nanoseconds,
    pub stuck_after: Nanoseconds,
    /// Stack of each coroutine.
    pub stack_bytes: usize,
    /// Losses that are known, in the order in which they happened.
    pub losses: Vec<Loss>,
    pub spare: Spare,
    pub injector: Injector,
    pub trace: Trace,
}

impl State {
    pub fn new(machine: MachineModel, ranks: u16, injector: Injector, trace: Trace) -> Self {
        State {
            machine,
            token: Token::default(),
            now: 0,
            events: Agenda::default(),
            lively: 0,
            ranks: (0..ranks).map(|_| Parts::new()).collect(),
            at_ni: None,
            stopping: false,
            progress_at: 0,
            limit: Nanoseconds::MAX,
            stuck_after: Nanoseconds::MAX,
            stack_bytes: 0,
            losses: Vec::new(),
            spare: Spare::default(),
            injector,
            trace,
        }
    }

    pub fn rank(&mut self, rank: Rank) -> &mut Parts {
        &mut self.ranks[rank.index()]
    }

    /// The time for whoever acts at `rank`: its NI, or else its host.
    pub fn time_of(&self, rank: Rank) -> Nanoseconds {
        let parts = &self.ranks[rank.index()];
        if self.at_ni == Some(rank) { parts.cursor } else { parts.local.max(self.now) }
    }

    pub fn schedule(&mut self, time: Nanoseconds, event: Event) {
        self.lively += usize::from(!event.is_timer());
        self.events.add(time.max(self.now), event);
    }

    /// True if nothing happens up to `time`, that included, and nobody looks at the limits.
    pub fn is_idle_until(&self, time: Nanoseconds) -> bool {
        self.events.earliest().is_none_or(|next| next > time) && !self.is_over(time)
    }

    fn is_over(&self, time: Nanoseconds) -> bool {
        time > self.limit || time - self.progress_at.min(time) > self.stuck_after
    }

    /// The next event, at whose time it is then.
    // Inlined, so that it is not copied in parts to be read as a whole.
    #[inline(always)]
    pub fn next(&mut self) -> Next {
        let Some(earliest) = self.events.earliest() else { return Next::Nothing };
        if earliest > self.limit {
            return Next::Limit;
        }
        let Some((time, event)) = self.events.take() else { return Next::Nothing };
        // The end of a computation is when it was all progress.
        let computed = matches!(event, Event::Resume(rank, _)
            if self.ranks[rank.index()].waiting == Waiting::Computing);
        if !computed && self.is_over(time) {
            return Next::NoProgress;
        }
        self.lively -= usize::from(!event.is_timer());
        self.now = time;
        Next::Event(event)
    }

    /// Rings the bell of a rank's host, which wakes those of its coroutines that sleep.
    pub fn ring(&mut self, rank: Rank, time: Nanoseconds) {
        let parts = self.rank(rank);
        parts.rings = parts.rings.wrapping_add(1);
        parts.off.iter_mut().for_each(|off| off.ready_at = off.ready_at.or(Some(time)));
        if parts.waiting == Waiting::Bell {
            self.resume_next(rank);
        }
    }

    /// The coroutine of `rank` that had the processor sleeps, until the bell rings or `end`.
    pub fn sleep(&mut self, rank: Rank, end: Option<Nanoseconds>) {
        let parts = self.rank(rank);
        let (strand, epoch) = (parts.strand, parts.epoch);
        parts.off.push(Off { strand, epoch, ready_at: None });
        if let Some(end) = end {
            self.schedule(end, Event::TimeUp(rank, epoch));
        }
        self.resume_next(rank);
    }

    /// No coroutine of `rank` has the processor: the next one goes on when its time has come.
    pub fn resume_next(&mut self, rank: Rank) {
        let parts = self.rank(rank);
        let Some((time, epoch)) = parts.next_ready() else {
            parts.waiting = Waiting::Bell;
            return;
        };
        parts.waiting = Waiting::Rung;
        self.schedule(time, Event::Resume(rank, epoch));
    }

    /// The coroutine of `rank` that sleeps since `epoch` wants to wait no longer. Says whether it
    /// is to go on at once.
    pub fn time_is_up(&mut self, rank: Rank, epoch: u32) -> bool {
        let now = self.now;
        let parts = self.rank(rank);
        if !parts.is_free() {
            let sleeper = parts.off.iter_mut().find(|off| off.epoch == epoch);
            sleeper.into_iter().for_each(|off| off.ready_at = off.ready_at.or(Some(now)));
            return false;
        }
        self.wake(rank, epoch)
    }

    /// The coroutine of `rank` that waits since `epoch` is to go on, unless it did since, or
    /// another has the processor. Says whether it is.
    pub fn wake(&mut self, rank: Rank, epoch: u32) -> bool {
        let now = self.now;
        let parts = self.rank(rank);
        let off = parts.off.iter().position(|off| parts.is_free() && off.epoch == epoch);
        let has_processor = matches!(parts.waiting, Waiting::Sync | Waiting::Computing);
        let goes_on = off.is_some() || has_processor && parts.epoch == epoch;
        if !goes_on || parts.life != Life::Alive {
            return false;
        }
        if let Some(later) = self.held_up(rank) {
            self.schedule(later, Event::Resume(rank, epoch));
            return false;
        }
        let parts = self.rank(rank);
        if let Some(off) = off {
            parts.strand = parts.off.remove(off).strand;
        }
        parts.epoch = parts.next_epoch();
        parts.waiting = Waiting::Not;
        parts.local = parts.local.max(now);
        true
    }

    /// Until when the NI keeps the program of `rank` from going on, where both are one processor:
    /// what the NI does is then done in interrupts.
    fn held_up(&mut self, rank: Rank) -> Option<Nanoseconds> {
        let now = self.now;
        let parts = self.rank(rank);
        let stolen = std::mem::take(&mut parts.stolen);
        if parts.waiting == Waiting::Computing {
            parts.delayed += stolen;
        }
        parts.local += if parts.local >= now { stolen } else { 0 };
        let asleep = matches!(parts.waiting, Waiting::Bell | Waiting::Rung);
        let free = if asleep { parts.ni_free } else { now + stolen };
        (self.machine.ni.at_host && free > now).then_some(free)
    }

    /// The NI of `rank` was busy from `begin` on.
    fn took_time(&mut self, rank: Rank, begin: Nanoseconds) {
        let at_host = self.machine.ni.at_host;
        let parts = self.rank(rank);
        let asleep = matches!(parts.waiting, Waiting::Bell | Waiting::Rung);
        // A host that is about to sleep is not asleep before its time.
        if at_host && (!asleep || begin < parts.local) {
            parts.stolen += parts.ni_free - begin;
        }
    }

    /// Interrupts the host of `rank`, now if it computes, or else when it next does.
    pub fn interrupt(&mut self, rank: Rank) {
        let time = self.time_of(rank);
        let parts = self.rank(rank);
        parts.interrupted = true;
        if parts.waiting == Waiting::Computing {
            let epoch = parts.epoch;
            self.schedule(time, Event::Resume(rank, epoch));
        }
    }

    /// A frame has left the wire.
    pub fn accept(&mut self, to: Rank, frame: Frame) {
        let now = self.now;
        let parts = self.rank(to);
        if parts.life == Life::Crashed {
            return;
        }
        parts.arrived_frames += usize::from(frame.fills_a_buffer());
        let in_use = parts.arrived_frames + parts.slots.count(Owner::Ni);
        parts.most_received = parts.most_received.max(in_use);
        parts.arrived.push_back(frame);
        if parts.has_ni {
            self.post(to, NiEvent::Received);
        } else if std::mem::take(&mut parts.armed) {
            self.ring(to, now);
        }
    }

    /// Gives the NI of `rank` something to do.
    pub fn post(&mut self, rank: Rank, event: NiEvent) {
        let now = self.now;
        let parts = self.rank(rank);
        if !parts.has_ni || parts.life == Life::Crashed {
            return;
        }
        parts.ni_queue.push_back(event);
        if !parts.serving {
            parts.serving = true;
            let free = parts.ni_free.max(now);
            self.schedule(free, Event::Serve(rank));
        }
    }

    /// Time at which the NI of `rank` is done, and has its memory to itself.
    fn ni_free(&self, rank: Rank) -> Nanoseconds {
        let parts = &self.ranks[rank.index()];
        if self.machine.ni.one_port { parts.ni_free.max(parts.out_free) } else { parts.ni_free }
    }

    /// The NI of `rank` begins with its oldest event, if it is free.
    pub fn begin_step(&mut self, rank: Rank) -> Option<NiEvent> {
        let (now, free) = (self.now, self.ni_free(rank));
        let parts = self.rank(rank);
        if free > now {
            self.schedule(free, Event::Serve(rank));
            return None;
        }
        let Some(event) = parts.ni_queue.pop_front() else {
            parts.serving = false;
            return None;
        };
        parts.cursor = now;
        parts.after = 0;
        self.at_ni = Some(rank);
        Some(event)
    }

    /// It is done with it.
    pub fn end_step(&mut self, rank: Rank) {
        self.at_ni = None;
        let parts = self.rank(rank);
        parts.ni_free = parts.cursor + parts.after;
        if parts.ni_queue.front() != Some(&NiEvent::Request) {
            parts.ni_free += std::mem::take(&mut parts.owed);
        }
        parts.serving = !parts.ni_queue.is_empty();
        if parts.serving {
            let free = parts.ni_free;
            self.schedule(free, Event::Serve(rank));
        }
        self.took_time(rank, self.now);
    }

    /// A copy to the host of `rank` is complete. The host sees it at once, because the bus has set
    /// a flag in its memory; what the NI has to do about it comes after what it is doing. Says
    /// whether there is an NI to do it.
    pub fn begin_copied(&mut self, rank: Rank) -> bool {
        let (now, copied_ns) = (self.now, self.machine.ni.copied_ns);
        let free = self.ni_free(rank);
        let parts = self.rank(rank);
        if parts.life == Life::Crashed {
            return false;
        }
        parts.cursor = free.max(now) + copied_ns;
        parts.after = 0;
        parts.shown_at = Some(now);
        let header = parts.copying.pop_front().flatten();
        self.at_ni = Some(rank);
        if let Some(header) = header {
            self.trace.note(now, rank, FrameEvent::Copied, Some((header.source, &header)));
        }
        true
    }

    /// The NI has done it.
    pub fn end_copied(&mut self, rank: Rank) {
        let now = self.now;
        self.at_ni = None;
        let parts = self.rank(rank);
        parts.shown_at = None;
        let begin = parts.ni_free.max(now);
        parts.ni_free = parts.cursor + std::mem::take(&mut parts.owed);
        self.took_time(rank, begin);
    }

    /// The time that the NI asked for has come, unless it has changed its mind.
    pub fn deadline(&mut self, rank: Rank) {
        let now = self.now;
        let parts = self.rank(rank);
        parts.deadline_event = None;
        match parts.deadline {
            Some(deadline) if deadline <= now => {
                parts.deadline = None;
                self.post(rank, NiEvent::Timeout);
            }
            Some(deadline) => self.set_deadline(rank, Some(deadline)),
            None => {}
        }
    }

    pub fn set_deadline(&mut self, rank: Rank, deadline: Option<Nanoseconds>) {
        let parts = self.rank(rank);
        parts.deadline = deadline;
        let Some(deadline) = deadline else { return };
        if parts.deadline_event.is_none_or(|under_way| deadline < under_way) {
            parts.deadline_event = Some(deadline);
            self.schedule(deadline, Event::Deadline(rank));
        }
    }
}

/// The state, shared by the links and clocks of all ranks. One thread runs all of them, the one
/// that made it; links may be moved elsewhere, as links have to be, but not be used there.
pub(crate) struct Shared(Fragile<RefCell<State>>);

impl Shared {
    pub fn new(state: State) -> Self {
        Shared(Fragile::new(RefCell::new(state)))
    }

    pub fn borrow(&self) -> RefMut<'_, State> {
        self.0.get().borrow_mut()
    }
}
