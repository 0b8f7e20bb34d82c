//! Losses of ranks, as a program has them whose job goes on.

use crate::ni::Attendance;
use crate::{Error, Result};
use std::sync::Arc;
use weft_link::bell::Loss;
use weft_wire::Rank;

/// Losses of ranks: by default the first of them ends the job, and all waits with an error.
#[derive(Clone, Copy)]
pub struct Losses<'a> {
    attendance: &'a Attendance,
}

impl<'a> Losses<'a> {
    #[inline]
    pub(crate) fn new(attendance: &'a Attendance) -> Self {
        Losses { attendance }
    }

    /// Has the job go on: from here on a loss ends only what waits for the lost rank. All ranks ask
    /// for it, before the first packet, and have trees in which nobody forwards
    /// ([`Shape::Flat`](weft_protocol::tree::Shape)).
    pub fn go_on(&self) {
        self.attendance.losses.go_on();
    }

    /// True if the job goes on after a loss.
    pub fn goes_on(&self) -> bool {
        self.attendance.losses.goes_on()
    }

    /// True if the job has lost a rank.
    #[inline]
    pub fn are_any(&self) -> bool {
        self.attendance.losses.are_any() || self.attendance.bells.loss().is_some()
    }

    /// The rank that the job has lost, if it has; the first of them where it goes on.
    #[inline]
    pub fn first(&self) -> Option<Loss> {
        match self.attendance.losses.are_any() {
            false => self.attendance.bells.loss(),
            true => self.attendance.losses.first(),
        }
    }

    /// All that this rank has heard of, the first one first, where the job goes on.
    pub fn all(&self) -> Vec<Loss> {
        self.attendance.losses.all()
    }

    /// The loss of `rank`, if this rank has heard of it, where the job goes on.
    pub fn of(&self, rank: Rank) -> Option<Loss> {
        self.attendance.losses.of(rank)
    }

    /// Checks that nobody is lost, where the job goes on: for a system that does not, and whose
    /// waits may be for the lost.
    ///
    /// # Errors
    /// [`Error::RankLost`] with the first loss.
    #[inline]
    pub fn check(&self) -> Result<()> {
        match self.attendance.losses.are_any() {
            false => Ok(()),
            true => {
                let first = self.attendance.losses.first();
                first.map_or(Ok(()), |loss| Err(Error::RankLost(loss)))
            }
        }
    }

    /// Checks that `rank` is not lost, where the job goes on: nothing comes from there any more.
    ///
    /// # Errors
    /// [`Error::RankLost`] with its loss.
    pub fn check_lives(&self, rank: Rank) -> Result<()> {
        self.of(rank).map_or(Ok(()), |loss| Err(Error::RankLost(loss)))
    }

    /// Number of losses of which waits at the packet interface have told.
    pub(super) fn told(&self) -> usize {
        self.attendance.losses.told()
    }

    /// Checks that there are no more losses than those `told` of when a wait began.
    #[inline]
    pub(super) fn check_since(&self, told: usize) -> Result<()> {
        let losses = &self.attendance.losses;
        let news = if losses.are_any() { losses.tell_of_more(told) } else { None };
        news.map_or(Ok(()), |loss| Err(Error::RankLost(loss)))
    }

    /// Has `hook` called for each loss that this rank hears of, and for those that it has heard of
    /// already, where the job goes on. It is called by whoever polls, or the upcall thread, and
    /// must neither poll nor wait for a thread that does.
    pub fn on_each(&self, hook: impl Fn(Loss) + Send + Sync + 'static) {
        self.attendance.losses.add_hook(Arc::new(hook));
    }
}
