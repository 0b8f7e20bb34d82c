//! State of the atomic operation that is outstanding: one at a time (thesis 3.8).

use weft_wire::Rank;

/// Callers that an operation is outstanding for, or answered and not taken.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Caller {
    /// None.
    #[default]
    Nobody,
    /// One that blocks.
    Blocked,
    /// One that comes again for the answer.
    Split,
}

/// The outstanding operation.
#[derive(Default)]
pub(crate) struct Fetches {
    /// Its answer.
    pub fetched: Option<u64>,
    caller: Caller,
    /// The answer to one that nobody blocks for, until it is taken.
    split_answer: Option<u64>,
    /// Home of the variable, if it was lost and will not answer.
    lost: Option<Rank>,
}

impl Fetches {
    /// Notes one that the caller blocks for; false if another one is outstanding.
    pub fn begin_blocked(&mut self) -> bool {
        let may_begin = self.is_free();
        if may_begin {
            self.caller = Caller::Blocked;
        }
        may_begin
    }

    /// The answer to one that the caller blocks for.
    pub fn take_blocked(&mut self) -> Option<u64> {
        let answer = self.fetched.take()?;
        self.caller = Caller::Nobody;
        Some(answer)
    }

    /// Notes that the home, which was asked, is lost.
    pub fn lose(&mut self, home: Rank) {
        self.lost = Some(home);
        if self.caller == Caller::Split {
            self.caller = Caller::Nobody;
        }
    }

    /// Ends the one that the caller blocks for, if its home is lost.
    pub fn take_loss(&mut self) -> Option<Rank> {
        let lost = self.lost.take()?;
        self.caller = Caller::Nobody;
        Some(lost)
    }

    /// True if one may begin that nobody blocks for: none is outstanding, and none has an answer
    /// that nobody has taken.
    pub fn may_split(&mut self) -> bool {
        self.is_free() && self.split_answer.is_none()
    }

    /// Notes one that nobody blocks for.
    pub fn begin_split(&mut self) {
        self.caller = Caller::Split;
    }

    /// Notes the answer to one that nobody blocks for, where it is known at once.
    pub fn answer_split(&mut self, value: u64) {
        self.split_answer = Some(value);
    }

    /// The answer to one that nobody blocks for, once.
    pub fn take_split(&mut self) -> Option<u64> {
        self.is_free();
        self.split_answer.take()
    }

    /// True if none is outstanding. An answer that nobody blocks for is put aside.
    fn is_free(&mut self) -> bool {
        if self.caller == Caller::Split
            && let Some(answer) = self.fetched.take()
        {
            self.split_answer = Some(answer);
            self.caller = Caller::Nobody;
        }
        self.caller == Caller::Nobody
    }
}
