//! One finding of a rule.

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
    /// Description of what is wrong.
    pub what: String,
    /// Reason for the rule.
    pub reason: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Finding { path, line, rule, what, reason } = self;
        write!(f, "{path}:{line}: {rule}: {what}. Why: {reason}.")
    }
}
