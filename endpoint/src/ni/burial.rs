//! Burial of a rank that was lost: below nothing waits for it any more ([`Losses`] says when).
//!
//! [`Losses`]: crate::ni::losses::Losses

use crate::ni::inner::Inner;
use crate::ni::interface::Interface;
use crate::ni::offloaded::Side;
use crate::{Error, Result};
use weft_link::Link;
use weft_link::bell::{Cause, Loss};
use weft_wire::Rank;

impl<L: Link> Interface<L> {
    /// A loss was announced: this rank cannot go on, or hears of it.
    ///
    /// # Errors
    /// [`Error::RankLost`] unless the job goes on; or what a peer did wrong.
    #[cold]
    pub(crate) fn lose(&self, loss: Loss) -> Result<()> {
        if self.attendance.losses.goes_on() {
            return self.hear_losses();
        }
        self.tell_loss(loss);
        Err(Error::RankLost(loss))
    }

    /// The error of a call that needs `rank`, which this rank has heard is lost.
    #[cold]
    pub(crate) fn lost(&self, rank: Rank) -> Error {
        let loss = self.attendance.losses.of(rank);
        Error::RankLost(loss.unwrap_or(Loss { rank, cause: Cause::Ended }))
    }

    fn hear_losses(&self) -> Result<()> {
        let losses = &self.attendance.losses;
        // Another thread does.
        let Ok(hearing) = losses.hearing.try_lock() else { return Ok(()) };
        let mut inner = self.enter_to_look();
        if losses.waits_for_last_words() {
            let any = inner.drain()?;
            if any {
                self.exit_after_poll(inner, true);
                return Ok(());
            }
        }
        losses.end_last_words();
        let announced = self.attributes.bells.take_losses();
        let news = announced.into_iter().filter(|loss| loss.rank != self.attributes.local);
        let news: Vec<Loss> = news.filter(|loss| losses.hear(*loss)).collect();
        news.iter().for_each(|loss| bury(&mut inner, loss.rank));
        self.exit_and_flush(inner);
        drop(hearing);
        for loss in news {
            self.tell_loss(loss);
            losses.call_hooks(loss);
        }
        // Whatever waits looks again.
        self.attendance.nudge();
        Ok(())
    }
}

/// Nothing goes to `rank` any more, and nothing waits for it.
fn bury<L: Link>(inner: &mut Inner<L>, rank: Rank) {
    for frame in inner.gates.bury(rank) {
        inner.link.free(frame);
    }
    let (ni, mut out) = inner.split(Side::Host);
    if ni.bury(rank, &mut out) {
        inner.fetches.lose(rank);
    }
    if let Some(frames) = inner.link.shared_frames() {
        frames.forget_reader(rank);
    }
}
