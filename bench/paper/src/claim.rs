//! Claims of an experiment: an id, and how near the paper it must come.

/// A target that an experiment measures.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Claim {
    /// The target's id.
    pub id: &'static str,
    /// Required distance to the paper.
    pub expected: Expected,
    /// Reason for a miss; for claims that miss, and only for those.
    pub miss: Option<&'static str>,
}

/// Required distance of a figure to the paper.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Expected {
    /// Within so many percent of the paper's value.
    Percent(f64),
    /// Within so much of it, in its unit.
    Absolute(f64),
    /// Within so many percent of it, but no less and no more than these amounts.
    Near {
        /// Percent of the paper's value.
        percent: f64,
        /// Least amount in its unit, and the most.
        between: [f64; 2],
    },
    /// A statement: it must hold.
    Holds,
}

/// The band of the calibrated machine's times.
const TIME_PERCENT: f64 = 15.0;
/// The band of rates, counts and quotients, and of what is measured on other machines.
const OTHER_PERCENT: f64 = 25.0;

impl Claim {
    /// A time of the calibrated machine: within 15 percent.
    pub const fn figure(id: &'static str) -> Self {
        Claim { id, expected: Expected::Percent(TIME_PERCENT), miss: None }
    }

    /// A rate, a count or a quotient, or a figure of another machine: within 25 percent.
    pub const fn other(id: &'static str) -> Self {
        Claim { id, expected: Expected::Percent(OTHER_PERCENT), miss: None }
    }

    /// A share or a difference in percent: within 25 percent of the printed one, and between so
    /// many percentage points, for those that are next to nothing and for large ones.
    pub const fn points(id: &'static str, between: [f64; 2]) -> Self {
        let expected = Expected::Near { percent: OTHER_PERCENT, between };
        Claim { id, expected, miss: None }
    }

    /// A statement that holds.
    pub const fn statement(id: &'static str) -> Self {
        Claim { id, expected: Expected::Holds, miss: None }
    }

    /// Sets the distance to `percent`.
    pub const fn percent(self, percent: f64) -> Self {
        Claim { expected: Expected::Percent(percent), ..self }
    }

    /// Sets the distance to `amount` in the target's unit.
    pub const fn absolute(self, amount: f64) -> Self {
        Claim { expected: Expected::Absolute(amount), ..self }
    }

    /// Marks the claim as one that is known to miss: `why`.
    pub const fn misses(self, why: &'static str) -> Self {
        Claim { miss: Some(why), ..self }
    }
}

impl Expected {
    /// True if `measured` is near enough to `paper`.
    pub fn accepts(self, paper: f64, measured: f64) -> bool {
        // What is measured ends in rounding errors; a band's edge belongs to it.
        const EDGE: f64 = 1e-9;
        let off = (measured - paper).abs();
        match self {
            Expected::Percent(percent) => off <= paper.abs() * (percent / 100.0 + EDGE),
            Expected::Absolute(amount) => off <= amount + EDGE,
            Expected::Near { percent, between: [least, most] } => {
                off <= (paper.abs() * percent / 100.0).clamp(least, most) + EDGE
            }
            Expected::Holds => false,
        }
    }
}

impl std::fmt::Display for Expected {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Expected::Percent(percent) => write!(f, "±{percent} %"),
            Expected::Absolute(amount) => write!(f, "±{amount}"),
            Expected::Near { percent, between: [least, most] } => {
                write!(f, "±{percent} %, {least} to {most}")
            }
            Expected::Holds => f.write_str("holds"),
        }
    }
}
