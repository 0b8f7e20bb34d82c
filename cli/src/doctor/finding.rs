//! Findings of a doctor, each about one thing.

use std::borrow::Cow;

use serde::Serialize;

/// One thing that was looked at.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Subject of the check.
    pub name: &'static str,
    pub status: Status,
    /// Result of the check.
    pub detail: String,
    /// Remedy for a problem.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub advice: Option<Cow<'static, str>>,
}

/// Status of what was looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// It is as it should be.
    Ok,
    /// It keeps something from working.
    Problem,
    /// It works, and costs performance.
    Costs,
    /// Not there, and not needed on one host.
    Absent,
}

impl Finding {
    /// It is as it should be.
    pub fn ok(name: &'static str, detail: impl Into<String>) -> Self {
        Finding { name, status: Status::Ok, detail: detail.into(), advice: None }
    }

    /// It is not there, and not needed on one host.
    pub fn absent(
        name: &'static str,
        detail: impl Into<String>,
        advice: impl Into<Cow<'static, str>>,
    ) -> Self {
        let advice = Some(advice.into());
        Finding { name, status: Status::Absent, detail: detail.into(), advice }
    }

    /// It keeps something from working.
    pub fn problem(
        name: &'static str,
        detail: impl Into<String>,
        advice: impl Into<Cow<'static, str>>,
    ) -> Self {
        let advice = Some(advice.into());
        Finding { name, status: Status::Problem, detail: detail.into(), advice }
    }
}

/// Memory of a job of some ranks.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Memory {
    pub ranks: u16,
    /// Credits of a pair.
    pub window_packets: u16,
    /// Rings of a rank to all others, a part of what follows.
    pub rings_bytes: u64,
    pub bytes_per_rank: u64,
    pub bytes: u64,
}

/// A cost that was measured here.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Cost {
    pub name: &'static str,
    pub unit: &'static str,
    pub p50: u64,
    pub rounds: usize,
}
