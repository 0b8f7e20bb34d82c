//! Rows of the thesis's 8.4 to 8.6, and whether they came out.

mod statements;

use super::model::{PRESETS, Variation};
use super::study::Study;
use crate::Targets;
use crate::report::Verdict;
use crate::results::percent;
use anyhow::{Context, Result};
use statements::statements;
use weft_bench::suite::Application;
use weft_simulator::Preset;

/// A row of the thesis beside what was measured.
#[derive(Clone, Debug)]
pub struct Row {
    /// The target.
    pub id: String,
    /// Figures that were measured.
    pub measured: String,
    /// True if it came out.
    pub holds: bool,
}

impl Row {
    /// Verdict on it: a number is within its band, a statement holds.
    pub fn verdict(&self, targets: &Targets) -> Verdict {
        let is_figure = targets.get(&self.id).is_some_and(|target| target.number().is_some());
        Verdict::new(is_figure, self.holds)
    }
}

/// Class of applications in table 8.7.
#[derive(Clone, Copy, Debug)]
pub struct Class {
    /// Its name in ids.
    pub name: &'static str,
    /// Applications in it.
    pub applications: &'static [Application],
}

/// Classes of table 8.7.
pub const CLASSES: [Class; 3] = [
    Class {
        name: "roundtrip",
        applications: &[Application::Barnes, Application::Radix, Application::Awari],
    },
    Class { name: "multicast", applications: &[Application::Asp, Application::Qr] },
    Class { name: "oneway", applications: &[Application::Puzzle4, Application::Puzzle64] },
];

/// Slowdown, in percent, from which on a class has a minus, and two. The thesis gives no limits.
const SIGNS_PERCENT: [f64; 2] = [3.0, 12.0];
/// Distance of speed-ups and ratios that counts as the thesis's; of the largest one, where the
/// thesis says "up to".
const NEAR: f64 = 0.25;

/// Sign of table 8.7 for a slowdown in percent.
pub fn sign(percent: f64) -> &'static str {
    match percent {
        few if few < SIGNS_PERCENT[0] => "+",
        some if some < SIGNS_PERCENT[1] => "-",
        _ => "--",
    }
}

/// Mean slowdown of a class under a preset, in percent.
///
/// # Errors
/// Something was not run.
pub fn slowdown(study: &Study, class: &Class, preset: Preset) -> Result<f64> {
    let slower = class.applications.iter().map(|&one| study.slower(one, preset));
    let sum = slower.sum::<Result<f64>>()?;
    Ok(sum / class.applications.len() as f64)
}

/// All rows, in the thesis's order of sections.
///
/// # Errors
/// Something was not run, or the data has no such row.
pub fn rows(study: &Study, targets: &Targets) -> Result<Vec<Row>> {
    let mut rows = statements(study, targets)?;
    rows.extend(speedups(study, targets)?);
    rows.extend(signs(study, targets)?);
    let place = |row: &Row| targets.all().iter().position(|target| target.id == row.id);
    rows.sort_by_key(place);
    Ok(rows)
}

/// Speed-up of an application under the default preset.
///
/// # Errors
/// It was not run.
pub fn speedup(study: &Study, application: Application, targets: &Targets) -> Result<f64> {
    let one = number(targets, &format!("T8.6-{application}-T1"))?;
    Ok(one / study.seconds(application, Preset::NrxImc)?)
}

/// Value of a target that is one number.
///
/// # Errors
/// It is none.
pub fn number(targets: &Targets, id: &str) -> Result<f64> {
    let number = targets.get(id).and_then(crate::Target::number);
    number.with_context(|| format!("no target {id} with a number"))
}

/// True if `measured` is near `paper`.
fn is_near(measured: f64, paper: f64) -> bool {
    (measured / paper - 1.0).abs() <= NEAR
}

fn speedups(study: &Study, targets: &Targets) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for application in study.applications() {
        let speedup = speedup(study, application, targets)?;
        let efficiency = speedup / f64::from(study.extent.ranks);
        for (what, measured) in [("S64", speedup), ("E64", efficiency)] {
            let id = format!("T8.6-{application}-{what}");
            let holds = is_near(measured, number(targets, &id)?);
            rows.push(Row { id, measured: format!("{measured:.2}"), holds });
        }
    }
    Ok(rows)
}

fn signs(study: &Study, targets: &Targets) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for class in CLASSES {
        for preset in PRESETS {
            let id = format!("T8.7-{}-{}", class.name, preset.to_string().replace('-', ""));
            let Some(target) = targets.get(&id) else { continue };
            let slower = slowdown(study, &class, preset)?;
            let measured = format!("{} ({})", sign(slower), percent(slower));
            rows.push(Row { holds: sign(slower) == target.value, id, measured });
        }
    }
    Ok(rows)
}

/// Slowdowns of an application under the presets of the thesis, for evidence.
fn slowdowns(study: &Study, application: Application) -> Result<String> {
    let one =
        |preset: &Preset| Ok(format!("{preset} {:+.1} %", study.slower(application, *preset)?));
    Ok(PRESETS[1..5].iter().map(one).collect::<Result<Vec<_>>>()?.join(", "))
}

/// Slowdown of a variation against the usual run under the default preset, in percent.
fn varied(study: &Study, application: Application, preset: Preset, how: Variation) -> Result<f64> {
    let default = study.seconds(application, Preset::NrxImc)?;
    Ok(100.0 * (study.seen(application, preset, how)?.seconds / default - 1.0))
}
