//! A search as its users see it: by all ranks together.

use crate::astar::AStar;
use crate::error::{Error, Result};
use crate::game::Game;
use crate::ida::Ida;
use crate::job::Job;
use crate::member::{Iterated, Member};
use crate::minimax::{self, Until, Values};
use crate::outgoing::OutgoingJobs;
use crate::perft::Perft;
use crate::puzzle::Puzzle;
use crate::settings::Settings;
use crate::statistics::{Counted, Iteration, SearchAnswer, Solved};
use crate::table::Table;
use crate::verdict::{self, Deepened, Judged, Longer, Plan};
use crate::worker::Worker;
use std::any::TypeId;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use weft_messaging::collective::Team;
use weft_messaging::{Engine, Mailbox};

/// One rank's part in searches, one after the other. A search is collective: all ranks begin the
/// same searches in the same order, and compute until it is over. They look for messages by
/// themselves, and leave interrupts off meanwhile.
pub struct Search {
    engine: Arc<Engine>,
    team: Team,
    mailbox: Mailbox,
    settings: Settings,
    outgoing: OutgoingJobs,
    iteration: u32,
    stop: Option<Arc<AtomicBool>>,
    /// Table of values, and the game whose positions are in it.
    values: Option<(TypeId, Values)>,
}

/// Word to a search of values that it is to end with what it knows. At rank 0; others do not look.
#[derive(Clone, Debug)]
pub struct Stopper(Arc<AtomicBool>);

impl Stopper {
    /// Ends the search that is under way, within milliseconds, or the one that begins next.
    pub fn stop(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Search {
    /// The searches called `name`, by a port of that name. `team` has all ranks of the job.
    ///
    /// # Errors
    /// [`Error::Setting`], or the name is taken.
    pub fn new(engine: &Arc<Engine>, team: &Team, name: &str, settings: Settings) -> Result<Self> {
        settings.check()?;
        engine.packets().check_founder("searches").map_err(weft_messaging::Error::from)?;
        let mailbox = Mailbox::new(engine, name)?;
        let outgoing = OutgoingJobs::new(engine.packets().size(), settings.jobs_per_message);
        let (engine, team) = (Arc::clone(engine), team.clone());
        Ok(Search {
            engine,
            team,
            mailbox,
            settings,
            outgoing,
            iteration: 0,
            stop: None,
            values: None,
        })
    }

    /// Finds a shortest solution by IDA*. Rank 0 says what is to be solved, and calls `after` for
    /// each iteration; all ranks get the answer. Of several shortest solutions it is any.
    ///
    /// Without a table, the nodes of each iteration but that in which a solution was found are
    /// those of a sequential IDA*, whatever the settings and the number of ranks.
    ///
    /// # Errors
    /// A lost rank; [`Error::Format`] if a peer sends what is no message of a search.
    pub fn solve<P: Puzzle>(&mut self, start: &P, after: impl FnMut(&Iteration)) -> Result<Solved> {
        let deadline = self.settings.deadline;
        self.solve_from(start, start.lower_bound(), deadline, after)
    }

    /// Finds a shortest solution by best-first search (A*): positions are kept
    /// by the ranks that own them, in so many bytes at each rank. If they do not suffice,
    /// [`Self::solve`] goes on from the bound that it has come to, as [`Solved::full_at`] says.
    ///
    /// Where a move makes the lower bound smaller by no more than one, no position is searched
    /// twice.
    ///
    /// # Errors
    /// Those of [`Self::solve`].
    pub fn best_first<P: Puzzle>(
        &mut self,
        start: &P,
        bytes: usize,
        mut after: impl FnMut(&Iteration),
    ) -> Result<Solved> {
        let (worker, deadline) = (AStar::<P>::new(bytes), self.settings.deadline);
        let mut solved = self.deepened(worker, start, start.lower_bound(), deadline, &mut after)?;
        let Some(bound) = solved.full_at else { return Ok(solved) };
        let deadline = deadline.map(|time| time.saturating_sub(solved.time));
        let more = self.solve_from(start, bound, deadline, after)?;
        solved.iterations.extend(more.iterations);
        let time = solved.time + more.time;
        Ok(Solved { answer: more.answer, time, ..solved })
    }

    fn solve_from<P: Puzzle>(
        &mut self,
        start: &P,
        bound: u16,
        deadline: Option<Duration>,
        after: impl FnMut(&Iteration),
    ) -> Result<Solved> {
        let grain = self.settings.grain.unwrap_or(P::GRAIN);
        let table = Table::new(self.settings.table_bytes, self.settings.replacement);
        self.deepened(Ida::<P>::new(grain, table), start, bound, deadline, after)
    }

    /// Searches with one bound after the other, as rank 0 says, until there is an answer.
    fn deepened<P: Puzzle, W: Worker>(
        &mut self,
        worker: W,
        start: &P,
        bound: u16,
        deadline: Option<Duration>,
        after: impl FnMut(&Iteration),
    ) -> Result<Solved> {
        let began = self.engine.packets().now();
        let packets = self.engine.packets();
        let _polls = packets.interrupts_off();
        let settings = Settings { deadline, ..self.settings };
        let (mailbox, outgoing) = (&self.mailbox, &mut self.outgoing);
        let mut member = Member::new(mailbox, packets, &settings, outgoing, worker, self.iteration);
        let mut solved = Solved::default();
        if packets.rank() == 0 {
            deepen(&mut member, start, bound, &mut solved, after)?;
            member.end()?;
        } else {
            member.serve()?;
        }
        self.iteration = member.iteration();
        solved.time = packets.now() - began;
        let solved = solved.spread(&self.team)?;
        self.part()?;
        Ok(solved)
    }

    /// Counts the lines of `depth` moves from `start`, which rank 0 says; a line that ends earlier
    /// does not count. All ranks get the answer.
    ///
    /// # Errors
    /// Those of [`Self::solve`].
    pub fn perft<G: Game>(&mut self, start: &G, depth: u16) -> Result<Counted> {
        let packets = self.engine.packets();
        let began = packets.now();
        let worker = Perft::<G>::new(self.settings.grain.unwrap_or(G::GRAIN));
        let _polls = packets.interrupts_off();
        let (mailbox, settings) = (&self.mailbox, &self.settings);
        let mut member =
            Member::new(mailbox, packets, settings, &mut self.outgoing, worker, self.iteration);
        let mut counted = Counted::default();
        if packets.rank() == 0 {
            let job = Perft::<G>::LAYOUT.start(|bytes| start.encode(bytes));
            let Iterated { tallies, is_late, .. } = member.iterate(depth, job)?;
            let time = packets.now() - began;
            counted.lines = (!is_late).then_some(tallies.worked.leaves);
            counted.work = Iteration::between(depth, &Default::default(), &tallies, time);
            member.end()?;
        } else {
            member.serve()?;
        }
        self.iteration = member.iteration();
        let counted = counted.spread(&self.team)?;
        self.part()?;
        Ok(counted)
    }

    /// Finds the best move, and the value of `start` as minimax has it: by iterative deepening,
    /// with as long a look ahead as the plan says and [`Settings::deadline`] allows. Rank 0 says
    /// what is to be searched, and calls `after` for each depth, which may end it; all ranks get
    /// the answer.
    ///
    /// The value is that of a sequential minimax to [`Judged::depth`], whatever the settings and
    /// the number of ranks. Of several best moves it is any. The table keeps what was searched for
    /// the next call, if that is about the same type of game: until [`Self::forget`].
    ///
    /// # Errors
    /// Those of [`Self::solve`]; [`Error::Longer`].
    pub fn best_move<G: Game>(
        &mut self,
        start: &G,
        plan: Plan,
        after: impl FnMut(&Deepened) -> ControlFlow<()>,
    ) -> Result<Judged> {
        let packets = self.engine.packets();
        let began = packets.now();
        let _polls = packets.interrupts_off();
        let (mailbox, settings) = (&self.mailbox, &self.settings);
        self.iteration = self.iteration.wrapping_add(1);
        let game = TypeId::of::<G>();
        let known = self.values.take_if(|(of, _)| *of == game);
        let new = || (game, Values::new(settings.table_bytes, settings.replacement));
        let (_, values) = self.values.insert(known.unwrap_or_else(new));
        let (outgoing, number) = (&mut self.outgoing, self.iteration);
        let mut member = minimax::Member::new(mailbox, packets, settings, outgoing, values, number);
        let mut outcome = Ok(Judged::default());
        if packets.rank() == 0 {
            let deadline = settings.deadline.map(|time| began.saturating_add(time));
            let until = Until { deadline, stop: self.stop.as_deref() };
            outcome = minimax::deepen(&mut member, start, plan, until, after)?;
            let tallies = member.end()?;
            let time = packets.now() - began;
            if let Ok(judged) = &mut outcome {
                judged.work = Iteration::between(judged.depth, &Default::default(), &tallies, time);
            }
            if let Some(stop) = &self.stop {
                stop.store(false, Ordering::Relaxed);
            }
        } else {
            member.serve()?;
        }
        let outcome = verdict::spread(outcome, &self.team)?;
        self.part()?;
        outcome.map_err(|Longer(moves)| Error::Longer { moves })
    }

    /// Empties this rank's table of values. Where a type has positions of several games, whoever
    /// goes on to another one of these has to call it: on all ranks.
    pub fn forget(&mut self) {
        self.values = None;
    }

    /// A handle by which another thread of rank 0, or a signal, ends [`Self::best_move`].
    pub fn stopper(&mut self) -> Stopper {
        Stopper(Arc::clone(self.stop.get_or_insert_default()))
    }

    /// Waits until all ranks know that the search is over: what the next one sends might overtake
    /// that.
    fn part(&self) -> Result<()> {
        Ok(self.team.barrier()?)
    }
}

/// Searches with one bound after the other, at rank 0.
fn deepen<P: Puzzle, W: Worker>(
    member: &mut Member<'_, W>,
    start: &P,
    mut bound: u16,
    solved: &mut Solved,
    mut after: impl FnMut(&Iteration),
) -> Result<()> {
    if bound == 0 && start.is_goal() {
        solved.answer = SearchAnswer::Moves(Vec::new());
        return Ok(());
    }
    let job: Job = Ida::<P>::LAYOUT.start(|bytes| start.encode(bytes));
    let mut before = Default::default();
    loop {
        if member.most_moves().is_some_and(|most| bound > most) {
            solved.answer = SearchAnswer::Late { at_least: bound };
            return Ok(());
        }
        let began = member.now();
        let Iterated { tallies, found, is_late } = member.iterate(bound, job)?;
        let mut iteration = Iteration::between(bound, &before, &tallies, member.now() - began);
        // The start was made by no move.
        iteration.nodes = iteration.nodes.saturating_add(1);
        after(&iteration);
        solved.iterations.push(iteration);
        before = tallies;
        if let Some(moves) = found {
            check(start, &moves)?;
            solved.answer = SearchAnswer::Moves(moves);
            return Ok(());
        }
        let is_full = tallies.worked.dropped > 0;
        if is_late || is_full {
            solved.answer = SearchAnswer::Late { at_least: bound };
            solved.full_at = (!is_late).then_some(bound);
            return Ok(());
        }
        let next = u64::from(bound).checked_add(tallies.worked.excess);
        match next.and_then(|next| u16::try_from(next).ok()) {
            Some(next) => bound = next,
            None => {
                solved.answer = SearchAnswer::Unsolvable;
                return Ok(());
            }
        }
    }
}

/// Checks the moves that some rank says are a solution.
fn check<P: Puzzle>(start: &P, moves: &[u8]) -> Result<()> {
    let mut position = *start;
    for by in moves {
        if !position.moves(None).any(|legal| legal == *by) {
            return Err(Error::NoSolution);
        }
        position = position.play(*by);
    }
    if position.is_goal() { Ok(()) } else { Err(Error::NoSolution) }
}
