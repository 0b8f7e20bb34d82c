//! Reasons why figures are not measured, or not asked, as data: `targets/reasons.csv`.

use super::TargetsError;
use serde::Deserialize;

const FILE: &str = "reasons.csv";
const TEXT: &str = include_str!("../../targets/reasons.csv");

/// Reason why the targets whose ids begin in some way are not measured, or not asked.
#[derive(Clone, Debug, Deserialize)]
pub struct Reason {
    /// Prefix of the ids.
    pub prefix: String,
    /// Reason.
    pub why: String,
}

/// All reasons.
#[derive(Clone, Debug, Default)]
pub struct Reasons(Vec<Reason>);

impl Reasons {
    /// The rows that this program carries.
    ///
    /// # Errors
    /// The file is broken.
    pub fn read() -> Result<Self, TargetsError> {
        let rows: Result<_, _> = csv::Reader::from_reader(TEXT.as_bytes()).deserialize().collect();
        Ok(Reasons(rows.map_err(|error| TargetsError::Malformed { file: FILE, error })?))
    }

    /// Reason why `id` is not measured: that of the longest prefix.
    pub fn of(&self, id: &str) -> Option<&str> {
        let fitting = self.0.iter().filter(|reason| id.starts_with(&reason.prefix));
        Some(&fitting.max_by_key(|reason| reason.prefix.len())?.why)
    }

    /// All of them.
    pub fn all(&self) -> &[Reason] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::{Reason, Reasons};

    #[test]
    fn the_longest_prefix_says_why() {
        let reason = |prefix: &str, why: &str| Reason { prefix: prefix.into(), why: why.into() };
        let reasons = Reasons(vec![
            reason("S7.4", "no library"),
            reason("S7.4.2-thr", "no cache"),
            reason("S7", "no language"),
        ]);
        assert_eq!(reasons.of("S7.4.2-thr-bin"), Some("no cache"));
        assert_eq!(reasons.of("S7.4.2-add"), Some("no library"));
        assert_eq!(reasons.of("S7.1"), Some("no language"));
        assert_eq!(reasons.of("S8.1"), None);
    }
}
