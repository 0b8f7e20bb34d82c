//! Every interleaving of a small world.
//!
//! Each host sends what its program says, in that order; otherwise anything that is possible may
//! happen next. All invariants are checked in every state, and every end must be quiescent: what
//! [`explore`] says of a world is true of all its runs.
//!
//! # Processing at once
//!
//! A packet that its host need not re-inject is processed as part of the step that delivered it, or
//! that brought it to the head of its queue. This loses no end and no broken invariant: the
//! processing only adds to what the host keeps, and commutes with every other step. An arrival adds
//! to the queue behind the packet, a send does not look at it, a release concerns another one, none
//! of them can keep it from being processed, and what happens at other ranks meets this one only on
//! the wires, which it does not touch. So any run can be reordered into one in which the packet is
//! processed at once, and that ends in the same state. A packet that the host re-injects spends
//! credits: it is processed at any time.
//!
//! # Credits at once
//!
//! [`Runs::CreditsAtOnce`] explores what is possible if credit packets may overtake data packets,
//! which is more than is possible on real wires: what never happens there never happens. Then
//! releasing a packet, and the arrival of the credit that this gives back, commute with every other
//! step, and are taken as soon as they can be:
//!
//! - With at most two credits a pair, each release gives back its own credit in a packet of its
//!   own, and nothing is left to piggyback. So it does not matter which data packets leave before
//!   it.
//! - A credit that arrives before a packet is to be sent lets it leave then; one that arrives after
//!   that lets it leave then; in the end it has left, behind the packets that waited before it.
//! - The buffer of a forwarded packet is free when its host and its last forward are done,
//!   whichever is first.
//!
//! What is left to choose is when hosts send, when data arrives, and when hosts re-inject.

use crate::deadlock::Deadlock;
use crate::host::Host;
use crate::run::Programs;
use crate::step::Step;
use crate::world::World;
use weft_model::explore::{Counterexample, Explored, Model, digest};
use weft_protocol::{Recovery, Settings};
use weft_wire::Rank;

/// Runs of a world that are explored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Runs {
    /// All: hosts release a packet at any time after they have processed it, in any order.
    All,
    /// Those in which hosts process and release a packet as it is delivered, as a program does that
    /// polls all the time and whose upcall keeps nothing (thesis 3.1.4). There are far fewer.
    Prompt,
    /// The ends of all, and of some that take other wires; see above. For windows of one or two
    /// packets, without recovery and atomic operations.
    CreditsAtOnce,
}

/// Explores `world` while its hosts send `sends`.
///
/// # Errors
/// The shortest way into a deadlock, or to a broken invariant. What happens at once is not listed.
///
/// # Panics
/// If there are more than `most_states`, or if `runs` do not stand for all of this world's.
pub fn explore(
    world: World,
    sends: &[Step],
    runs: Runs,
    most_states: usize,
) -> Result<Explored, Counterexample<Step, Deadlock>> {
    let Settings { ranks, window_packets, recovery, adaptive, .. } = world.options().settings;
    if runs == Runs::CreditsAtOnce {
        assert!(window_packets <= 2, "of a larger window, credits are given back together");
        assert_eq!(adaptive, None, "a grant gives credits back together");
        assert_eq!(recovery, Recovery::Off, "recovery begins where a credit is late");
        let asks = sends.iter().any(|send| matches!(send, Step::Atomic { .. }));
        assert!(!asks, "answers to atomic operations take credits along");
    }
    let programs = Programs::new(ranks, sends);
    let start = State { world, programs };
    weft_model::explore::explore(&SmallWorld { start, runs }, most_states)
}

struct SmallWorld {
    start: State,
    runs: Runs,
}

#[derive(Clone)]
struct State {
    world: World,
    programs: Programs,
}

impl SmallWorld {
    /// All that happens as soon as it can.
    fn drain(&self, world: &mut World) {
        loop {
            for at in world.ranks() {
                self.drain_host(at, world);
            }
            if self.runs != Runs::CreditsAtOnce || !world.take_credits() {
                return;
            }
        }
    }

    fn drain_host(&self, at: Rank, world: &mut World) {
        while self.is_ripe(world.host(at)) {
            world.take_unchecked(Step::Process { at });
            if self.runs == Runs::Prompt {
                world.take_unchecked(Step::Release { at, index: 0 });
            }
        }
        while self.runs == Runs::CreditsAtOnce && world.host(at).kept() > 0 {
            world.take_unchecked(Step::Release { at, index: 0 });
        }
    }

    /// True if `host` processes its next packet at once.
    fn is_ripe(&self, host: &Host) -> bool {
        let next = host.delivered.front().filter(|_| host.allows_upcalls());
        next.is_some_and(|next| self.runs == Runs::Prompt || !next.wants_reinjection())
    }
}

impl Model for SmallWorld {
    type State = State;
    type Step = Step;
    type Deadlock = Deadlock;

    fn start(&self) -> State {
        self.start.clone()
    }

    fn steps(&self, State { world, programs }: &State) -> Vec<Step> {
        let mut steps = world.possible();
        steps.extend(programs.ready(world));
        steps
    }

    fn take(&self, state: &mut State, step: &Step) {
        state.programs.took(step);
        state.world.take_unchecked(*step);
        self.drain(&mut state.world);
    }

    fn check(&self, state: &State) {
        state.world.check();
    }

    fn digest(&self, State { world, programs }: &State) -> u64 {
        digest(&(world, programs.left()))
    }

    fn is_done(&self, state: &State) -> bool {
        if !self.steps(state).is_empty() {
            return false;
        }
        assert!(state.programs.are_done(), "a host waits for a send buffer for ever");
        state.world.assert_quiescent();
        true
    }

    fn deadlock(&self, state: &State) -> Option<Deadlock> {
        state.world.deadlock_if(self.steps(state).is_empty())
    }
}
