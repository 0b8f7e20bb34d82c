//! What a rule has to say.

use std::fmt;

/// One place that breaks one rule.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// The file, from the root of the repository, with forward slashes.
    pub path: String,
    /// The line, counted from 1.
    pub line: usize,
    /// The name of the rule.
    pub rule: &'static str,
    /// What is wrong there.
    pub what: String,
    /// Why that is a rule.
    pub reason: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Finding { path, line, rule, what, reason } = self;
        write!(f, "{path}:{line}: {rule}: {what}. Why: {reason}.")
    }
}
