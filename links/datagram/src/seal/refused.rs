//! Reasons to refuse a frame: it is not for us, or not from the sender that it names.

/// Reason why a frame was refused.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash, thiserror::Error)]
pub enum FrameRefused {
    /// Not as many bytes as it announces, or fewer than a frame of this job has.
    #[error("it was cut or extended")]
    Length,
    /// No frame of Weft.
    #[error("it is no frame of Weft")]
    Magic,
    /// Of another version of Weft.
    #[error("it is of another version")]
    Version,
    /// Of another job.
    #[error("it belongs to another job")]
    Job,
    /// From a rank that the job does not have, or from this rank itself.
    #[error("its sender is no other rank of the job")]
    Source,
    /// For another rank.
    #[error("it is for another rank")]
    Destination,
    /// For several ranks, of which this is none: the network copies such frames to all that listen.
    #[error("it is for others of the job")]
    Bystander,
    /// Its number was seen before, or is too old for the window of seen numbers.
    #[error("it came before, or far too late")]
    Replayed,
    /// Its writer did not have the key, or it was changed on its way.
    #[error("its tag is wrong")]
    Tag,
    /// The contents are no packets of its sender.
    #[error("it does not hold packets of its sender")]
    Layout,
}

impl FrameRefused {
    /// All reasons, in the order of the checks.
    pub const ALL: [FrameRefused; 10] = [
        FrameRefused::Length,
        FrameRefused::Magic,
        FrameRefused::Version,
        FrameRefused::Job,
        FrameRefused::Source,
        FrameRefused::Destination,
        FrameRefused::Bystander,
        FrameRefused::Replayed,
        FrameRefused::Tag,
        FrameRefused::Layout,
    ];
}

/// Counts of refused frames, by reason.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Refusals([u64; FrameRefused::ALL.len()]);

impl Refusals {
    /// Count of frames refused for this reason.
    pub fn of(&self, reason: FrameRefused) -> u64 {
        self.0[reason as usize]
    }

    /// Count of all refused frames.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// Counts one more.
    pub(crate) fn count(&mut self, reason: FrameRefused) {
        self.0[reason as usize] += 1;
    }
}
