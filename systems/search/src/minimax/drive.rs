//! Rank 0's part: it searches to one depth after the other, and asks for the line of best play.

use super::alone::Found;
use super::{Member, Window};
use crate::error::Result;
use crate::game::Game;
use crate::verdict::{Deepened, Judged, Longer, Outcome, Plan, Strategy};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Longest time until rank 0 looks whether it is to stop.
const LOOK: Duration = Duration::from_millis(5);

/// Time after which it looks where nobody can stop it.
const LONG: Duration = Duration::from_secs(60);

/// Bounds of a search.
pub(crate) struct Until<'a> {
    /// Time of the deadline.
    pub deadline: Option<Duration>,
    /// Word to end at once.
    pub stop: Option<&'a AtomicBool>,
}

impl Until<'_> {
    /// Time for which rank 0 may wait now; `None` if there is no more.
    fn time(&self, now: Duration) -> Option<Duration> {
        if self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
            return None;
        }
        let look = if self.stop.is_some() { LOOK } else { LONG };
        match self.deadline {
            Some(deadline) => (now < deadline).then(|| look.min(deadline - now)),
            None => Some(look),
        }
    }
}

/// Value of a position searched to a depth, with its best move.
struct Known {
    value: i16,
    best: u8,
    probes: u32,
    nodes: u64,
    /// True if there is an estimate in the value.
    is_cut: bool,
}

/// A search by rank 0.
struct Drive<'a, 'b, G: Game> {
    member: &'a mut Member<'b, G>,
    until: Until<'a>,
}

/// Searches a position as planned, and calls `after` for each depth, which may end it. A depth to
/// which no estimate is in the value is the last: it is a proof. Where [`Game::longest`] says that
/// there is such a depth, and there is not, that is returned instead of a result.
pub(crate) fn deepen<G: Game>(
    member: &mut Member<'_, G>,
    start: &G,
    plan: Plan,
    until: Until<'_>,
    mut after: impl FnMut(&Deepened) -> ControlFlow<()>,
) -> Result<Outcome> {
    let mut judged = Judged { value: start.value(), ..Judged::default() };
    let Some(first) = start.moves().next() else {
        judged.is_exact = true;
        return Ok(Ok(judged));
    };
    judged.line = vec![first];
    let mut drive = Drive { member, until };
    let last = plan.depth.min(start.longest());
    for depth in 1..=last {
        let began = drive.member.now();
        // Values of odd depths are like those of odd ones.
        let guess = judged.depths.iter().nth_back(1).map_or(judged.value, |before| before.value);
        let Some(known) = drive.value(start, depth, plan.strategy, guess)? else {
            judged.is_late = true;
            break;
        };
        let Known { value, best, probes, nodes, is_cut } = known;
        let best = if probes == 0 || value == -G::MOST { first } else { best };
        let time = drive.member.now() - began;
        let deepened = Deepened { depth, value, best, probes, nodes, time };
        (judged.value, judged.depth, judged.line) = (value, depth, vec![best]);
        judged.depths.push(deepened);
        judged.is_exact = !is_cut;
        if is_cut && depth == start.longest() {
            return Ok(Err(Longer(depth)));
        }
        if after(&deepened).is_break() {
            judged.is_late = depth < last && is_cut;
            break;
        }
        if !is_cut {
            break;
        }
    }
    drive.follow(start, &mut judged)?;
    Ok(Ok(judged))
}

impl<G: Game> Drive<'_, '_, G> {
    /// Value of a position; `None` if there is no more time.
    fn value(
        &mut self,
        position: &G,
        depth: u16,
        strategy: Strategy,
        guess: i16,
    ) -> Result<Option<Known>> {
        match strategy {
            Strategy::MtdF => self.mtd(position, depth, guess),
            Strategy::AlphaBeta => {
                let found = self.probe(position, depth, Window::all(G::MOST))?;
                Ok(found.map(|(found, nodes)| {
                    let best = found.best.unwrap_or_default();
                    Known { value: found.value, best, probes: 1, nodes, is_cut: found.is_cut }
                }))
            }
        }
    }

    /// Closes in on the value from a guess, by searches with null windows. Steps in one direction
    /// grow, so that a guess that is far off costs few.
    fn mtd(&mut self, position: &G, depth: u16, guess: i16) -> Result<Option<Known>> {
        let (mut lower, mut upper) = (-i32::from(G::MOST), i32::from(G::MOST));
        let mut known = Known { value: -G::MOST, best: 0, probes: 0, nodes: 0, is_cut: false };
        let (mut bound, mut step) = (i32::from(guess).clamp(lower + 1, upper), 1);
        let mut has_risen = None;
        while lower < upper {
            let window = Window::at_least(bound as i16);
            let Some((found, nodes)) = self.probe(position, depth, window)? else {
                return Ok(None);
            };
            known.probes += 1;
            known.nodes += nodes;
            known.is_cut |= found.is_cut;
            let value = i32::from(found.value);
            let rises = value >= bound;
            step = if has_risen == Some(rises) { step * 2 } else { 1 };
            has_risen = Some(rises);
            if rises {
                lower = value;
                known.best = found.best.unwrap_or(known.best);
                bound = (lower + step).min(upper);
            } else {
                upper = value;
                bound = (upper + 1 - step).max(lower + 1);
            }
        }
        known.value = lower as i16;
        Ok(Some(known))
    }

    /// Continues the line behind its first move: at each position a search asks for a move that
    /// keeps the value, of which the table knows most.
    fn follow(&mut self, start: &G, judged: &mut Judged) -> Result<()> {
        let Some(&first) = judged.line.first().filter(|_| judged.depth > 0) else { return Ok(()) };
        let (mut position, mut value) = (start.play(first), -judged.value);
        for depth in (1..judged.depth).rev() {
            let Some(mut by) = position.moves().next() else { return Ok(()) };
            if value > -G::MOST {
                let Some((found, _)) = self.probe(&position, depth, Window::at_least(value))?
                else {
                    return Ok(());
                };
                match found.best.filter(|_| found.value == value) {
                    Some(best) => by = best,
                    None => return Ok(()),
                }
            }
            judged.line.push(by);
            (position, value) = (position.play(by), -value);
        }
        Ok(())
    }

    fn probe(&mut self, position: &G, depth: u16, window: Window) -> Result<Option<(Found, u64)>> {
        let until = &self.until;
        self.member.probe(position, depth, window, |now| until.time(now))
    }
}
