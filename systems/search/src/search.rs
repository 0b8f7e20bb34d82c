//! A search as its users see it: by all ranks together.

use crate::error::{Error, Result};
use crate::game::Game;
use crate::ida::Ida;
use crate::member::{Iterated, Member};
use crate::outgoing::Outgoing;
use crate::perft::Perft;
use crate::puzzle::Puzzle;
use crate::settings::Settings;
use crate::statistics::{Answer, Counted, Iteration, Solved};
use crate::table::Table;
use std::sync::Arc;
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
    outgoing: Outgoing,
    iteration: u32,
}

impl Search {
    /// The searches called `name`, by a port of that name. `team` has all ranks of the job.
    ///
    /// # Errors
    /// [`Error::Setting`], or the name is taken.
    pub fn new(engine: &Arc<Engine>, team: &Team, name: &str, settings: Settings) -> Result<Self> {
        settings.check()?;
        let mailbox = Mailbox::new(engine, name)?;
        let outgoing = Outgoing::new(engine.packets().size(), settings.jobs_per_message);
        let (engine, team) = (Arc::clone(engine), team.clone());
        Ok(Search { engine, team, mailbox, settings, outgoing, iteration: 0 })
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
        let began = self.engine.packets().now();
        let grain = self.settings.grain.unwrap_or(P::GRAIN);
        let table = Table::new(self.settings.table_bytes, self.settings.replacement);
        let worker = Ida::<P>::new(grain, table);
        let packets = self.engine.packets();
        let _polls = packets.interrupts_off();
        let (mailbox, settings) = (&self.mailbox, &self.settings);
        let mut member =
            Member::new(mailbox, packets, settings, &mut self.outgoing, worker, self.iteration);
        let mut solved = Solved::default();
        if packets.rank() == 0 {
            deepen(&mut member, start, settings.most_moves, &mut solved, after)?;
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

    /// Waits until all ranks know that the search is over: what the next one sends might overtake
    /// that.
    fn part(&self) -> Result<()> {
        Ok(self.team.barrier()?)
    }
}

/// Searches with one bound after the other, at rank 0.
fn deepen<P: Puzzle>(
    member: &mut Member<'_, Ida<P>>,
    start: &P,
    most_moves: Option<u16>,
    solved: &mut Solved,
    mut after: impl FnMut(&Iteration),
) -> Result<()> {
    let mut bound = start.lower_bound();
    if bound == 0 && start.is_goal() {
        solved.answer = Answer::Moves(Vec::new());
        return Ok(());
    }
    let job = Ida::<P>::LAYOUT.start(|bytes| start.encode(bytes));
    let mut before = Default::default();
    loop {
        if most_moves.is_some_and(|most| bound > most) {
            solved.answer = Answer::Late { at_least: bound };
            return Ok(());
        }
        let began = member.now();
        let Iterated { tallies, found, is_late } = member.iterate(bound, job)?;
        let mut iteration = Iteration::between(bound, &before, &tallies, member.now() - began);
        // The start was made by no move.
        iteration.nodes += 1;
        after(&iteration);
        solved.iterations.push(iteration);
        before = tallies;
        if let Some(moves) = found {
            check(start, &moves)?;
            solved.answer = Answer::Moves(moves);
            return Ok(());
        }
        if is_late {
            solved.answer = Answer::Late { at_least: bound };
            return Ok(());
        }
        let next = u64::from(bound).checked_add(tallies.worked.excess);
        match next.and_then(|next| u16::try_from(next).ok()) {
            Some(next) => bound = next,
            None => {
                solved.answer = Answer::Unsolvable;
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
