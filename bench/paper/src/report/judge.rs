//! Laying what was seen beside what is claimed and what the paper prints.

use crate::claim::{Claim, Expected};
use crate::counter::Counter;
use crate::experiment::Experiment;
use crate::results::{Quantity, Results, Seen};
use crate::targets::{Role, Target, Targets};
use std::fmt;

/// One target beside what was seen of it.
#[derive(Clone, Debug)]
pub struct Row<'a> {
    /// Target in the paper.
    pub target: &'a Target,
    /// Claim about the distance to it.
    pub claim: Claim,
    /// Result: a figure in the target's unit, or a statement's evidence.
    pub seen: Measured,
    /// Verdict on the claim.
    pub verdict: Verdict,
}

/// Result in the target's terms.
#[derive(Clone, PartialEq, Debug)]
pub enum Measured {
    /// A figure in the target's unit beside the paper's.
    Figure {
        /// Ours.
        weft: f64,
        /// The paper's.
        paper: f64,
    },
    /// The figures that a statement rests on.
    Evidence(String),
}

/// Verdict on a claim.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// The figure is in its band.
    Within,
    /// It is not.
    Outside,
    /// The statement holds.
    Holds,
    /// It does not.
    Fails,
}

impl Verdict {
    /// All of them.
    pub const ALL: [Verdict; 4] =
        [Verdict::Within, Verdict::Outside, Verdict::Holds, Verdict::Fails];

    /// Verdict on a figure or a statement that came true, or did not.
    pub fn new(is_figure: bool, is_good: bool) -> Self {
        match (is_figure, is_good) {
            (true, true) => Verdict::Within,
            (true, false) => Verdict::Outside,
            (false, true) => Verdict::Holds,
            (false, false) => Verdict::Fails,
        }
    }

    /// True if the claim came true.
    pub fn is_good(self) -> bool {
        matches!(self, Verdict::Within | Verdict::Holds)
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Verdict::Within => "within",
            Verdict::Outside => "OUTSIDE",
            Verdict::Holds => "holds",
            Verdict::Fails => "DOES NOT HOLD",
        })
    }
}

/// Reason why there can be no report.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum Fault {
    /// A claim or a figure names no target.
    #[error("{0}: no such target, or none with a number")]
    Unknown(&'static str),
    /// A claim has no result.
    #[error("{0}: claimed and not measured")]
    NotMeasured(&'static str),
    /// A result has no claim.
    #[error("{0}: measured and not claimed")]
    NotClaimed(&'static str),
    /// A figure cannot be compared: the target has another unit, or no number.
    #[error("{id}: {seen:?} cannot be compared with '{value} {unit}'")]
    Incomparable {
        /// The target.
        id: &'static str,
        /// Result.
        seen: Seen,
        /// The target's value.
        value: String,
        /// The target's unit.
        unit: String,
    },
    /// A setting is none of the paper's.
    #[error("{0}: used as a setting, and the papers have it as none")]
    NoSetting(&'static str),
    /// A miss is not explained.
    #[error("{id}: {verdict}, and nothing explains it ({what})")]
    Unexplained {
        /// The target.
        id: &'static str,
        /// The verdict.
        verdict: Verdict,
        /// Expectation and result.
        what: String,
    },
    /// A counter-experiment is about a row that does not miss.
    #[error("{0}: has a counter-experiment, and does not miss")]
    Turned(&'static str),
    /// An explanation has nothing to explain.
    #[error("{0}: explained as a miss, and is none")]
    NoMiss(&'static str),
}

/// The rows of `experiment`, and what is wrong with it.
pub fn rows<'a>(
    targets: &'a Targets,
    experiment: &dyn Experiment,
    results: &Results,
) -> (Vec<Row<'a>>, Vec<Fault>) {
    let (mut rows, mut faults) = (Vec::new(), Vec::new());
    for &claim in experiment.claims() {
        match row(targets, claim, results) {
            Ok(row) => {
                faults.extend(unexplained(&row).filter(|fault| is_fatal(fault, experiment)));
                rows.push(row);
            }
            Err(fault) => faults.push(fault),
        }
    }
    let claimed = |id: &str| experiment.claims().iter().any(|claim| claim.id == id);
    let unclaimed = results.all().map(|(id, _)| id).filter(|id| !claimed(id));
    faults.extend(unclaimed.map(Fault::NotClaimed));
    let is_setting = |id| targets.get(id).is_some_and(|target| target.role == Role::Setting);
    let foreign = experiment.settings().iter().filter(|setting| !is_setting(setting.0));
    faults.extend(foreign.map(|setting| Fault::NoSetting(setting.0)));
    (rows, faults)
}

/// Rows of a counter-experiment beside `stated`, and what is wrong with it.
pub fn turned<'a>(
    targets: &'a Targets,
    stated: &[Row<'a>],
    counter: &Counter,
    results: &Results,
) -> (Vec<Row<'a>>, Vec<Fault>) {
    let (mut rows, mut faults) = (Vec::new(), Vec::new());
    for &id in counter.ids {
        let Some(before) = stated.iter().find(|row| row.claim.id == id) else {
            faults.push(Fault::NotMeasured(id));
            continue;
        };
        if before.verdict.is_good() {
            faults.push(Fault::Turned(id));
        }
        match row(targets, before.claim, results) {
            Ok(row) => rows.push(row),
            Err(fault) => faults.push(fault),
        }
    }
    (rows, faults)
}

/// True if a fault stops the report: what this machine is measured to do may miss on some days
/// only.
fn is_fatal(fault: &Fault, experiment: &dyn Experiment) -> bool {
    !(experiment.alone() && matches!(fault, Fault::NoMiss(_)))
}

fn row<'a>(targets: &'a Targets, claim: Claim, results: &Results) -> Result<Row<'a>, Fault> {
    let target = targets.get(claim.id).ok_or(Fault::Unknown(claim.id))?;
    let seen = results.get(claim.id).ok_or(Fault::NotMeasured(claim.id))?;
    let (seen, verdict) = compare(target, claim.expected, seen).ok_or_else(|| {
        let (value, unit) = (target.value.clone(), target.unit.clone());
        Fault::Incomparable { id: claim.id, seen: seen.clone(), value, unit }
    })?;
    Ok(Row { target, claim, seen, verdict })
}

/// A claim about a number is compared with the printed number, any other is a statement.
fn compare(target: &Target, expected: Expected, seen: &Seen) -> Option<(Measured, Verdict)> {
    match (expected, seen) {
        (Expected::Holds, Seen::Statement { holds, evidence }) => {
            Some((Measured::Evidence(evidence.clone()), Verdict::new(false, *holds)))
        }
        (
            Expected::Percent(_) | Expected::Absolute(_) | Expected::Near { .. },
            Seen::Figure(quantity),
        ) => {
            let (paper, weft) = (target.number()?, figure(*quantity, &target.unit)?);
            let verdict = Verdict::new(true, expected.accepts(paper, weft));
            Some((Measured::Figure { weft, paper }, verdict))
        }
        _ => None,
    }
}

fn figure(quantity: Quantity, unit: &str) -> Option<f64> {
    quantity.in_unit(unit).filter(|figure| figure.is_finite())
}

fn unexplained(row: &Row<'_>) -> Option<Fault> {
    match (row.verdict.is_good(), row.claim.miss) {
        (true, None) | (false, Some(_)) => None,
        (true, Some(_)) => Some(Fault::NoMiss(row.claim.id)),
        (false, None) => {
            let what = match &row.seen {
                Measured::Figure { weft, paper } => {
                    format!("paper {paper}, Weft {weft:.3}, band {}", row.claim.expected)
                }
                Measured::Evidence(evidence) => format!("{}: {evidence}", row.target.says()),
            };
            Some(Fault::Unexplained { id: row.claim.id, verdict: row.verdict, what })
        }
    }
}
