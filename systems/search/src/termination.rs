//! Detection that no rank has anything to do and no message is under way, without a barrier: four
//! counters (F. Mattern, *Algorithms for distributed termination detection*, 1987, section 4).
//!
//! Rank 0 asks all ranks, in a wave, how many messages they have sent and received so far. A rank
//! answers when it has nothing to do, and goes on receiving. If as many messages were received by
//! the answers of one wave as were sent by those of the next, then nothing was under way when the
//! first had been answered by all, and nobody had anything to do: it is over.
//!
//! One wave is not enough, even if its two sums agree: a message that a rank sent after its answer
//! may have been received before another's, and hide one that is still under way. The tests try
//! that, too.
//!
//! Sans-IO. Waves are numbered, answers of others are refused.

/// Messages that a rank has sent and received since its beginning.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Counts {
    /// Messages sent that may make another rank active.
    pub sent: u64,
    /// Such messages received.
    pub received: u64,
}

/// Rank 0's part.
#[derive(Clone, Debug)]
pub(crate) struct Detector {
    /// True of ranks that have answered this wave.
    answered: Vec<bool>,
    missing: usize,
    wave: u32,
    sums: Counts,
    /// Messages received by the answers of the wave before.
    received_before: Option<u64>,
}

/// An answer that nobody asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Unasked;

impl Detector {
    /// A detector for a job of `ranks`.
    pub fn new(ranks: usize) -> Self {
        Detector {
            answered: vec![true; ranks],
            missing: 0,
            wave: 0,
            sums: Counts::default(),
            received_before: None,
        }
    }

    /// True if a wave is under way.
    pub fn is_waving(&self) -> bool {
        self.missing > 0
    }

    /// Begins a wave, of which it returns the number: all ranks are to be asked.
    pub fn begin(&mut self) -> u32 {
        assert!(!self.is_waving(), "one wave at a time");
        self.answered.fill(false);
        self.missing = self.answered.len();
        self.wave = self.wave.wrapping_add(1);
        self.sums = Counts::default();
        self.wave
    }

    /// Takes an answer to a wave. True if it is over.
    ///
    /// # Errors
    /// [`Unasked`].
    pub fn answer(&mut self, rank: usize, wave: u32, counts: Counts) -> Result<bool, Unasked> {
        let answered = self.answered.get_mut(rank).ok_or(Unasked)?;
        if *answered || wave != self.wave {
            return Err(Unasked);
        }
        *answered = true;
        self.missing -= 1;
        self.sums.sent = self.sums.sent.wrapping_add(counts.sent);
        self.sums.received = self.sums.received.wrapping_add(counts.received);
        if self.is_waving() {
            return Ok(false);
        }
        let is_over = self.received_before == Some(self.sums.sent);
        // A search that follows sends again, and nothing of this one tells of it.
        self.received_before = (!is_over).then_some(self.sums.received);
        Ok(is_over)
    }
}

#[cfg(test)]
mod tests;
