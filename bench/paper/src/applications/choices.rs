//! Parts of the page about what was chosen: inputs that were changed after a look, the bias of the
//! speed-ups, and Puzzle with and without a table.

use super::inputs::{self, Inputs};
use super::judge::{Row, number, rows, speedup};
use super::model::{DEARER_NS, Variation};
use super::study::{Extent, Study};
use crate::regions::table;
use crate::targets::Role;
use crate::{Target, Targets};
use anyhow::{Result, ensure};
use comfy_table::Table;
use weft_bench::suite::Application;
use weft_simulator::Preset;

/// Text of the thesis for a row, with its unit.
pub fn says(row: &Row, targets: &Targets) -> String {
    let says = |target: &Target| match target.unit.as_str() {
        "" | "sign" => target.says().to_owned(),
        unit => format!("{} {unit}", target.says()),
    };
    targets.get(&row.id).map_or(String::new(), says)
}

/// Inputs that were changed after a look at the first outcome, and both outcomes.
///
/// # Errors
/// Something was not run; or a row that came out otherwise by it counts as a prediction, or one
/// that did not does not.
pub fn changed(study: &Study, rows_now: &[Row], targets: &Targets) -> Result<String> {
    let stated = rows(&study.with(Inputs::Stated), targets)?;
    let mut turned = table(["row", "thesis", "as stated", "as changed", "verdicts"]);
    let mut moved = table(["row", "thesis", "as stated", "as changed", "sensitivity"]);
    let mut wrong = Vec::new();
    for (stated, row) in stated.iter().zip(rows_now) {
        let verdicts = [stated, row].map(|row| row.verdict(targets).to_string());
        let cells = [row.id.clone(), says(row, targets)];
        if stated.holds != row.holds {
            let verdicts = verdicts.join(", then ");
            let outcomes = [stated.measured.clone(), row.measured.clone(), verdicts + "."];
            turned.add_row(cells.into_iter().chain(outcomes));
        } else if let Some(more) = sensitivity(stated, row) {
            moved.add_row(cells.into_iter().chain([
                stated.measured.clone(),
                row.measured.clone(),
                format!("{more:+.0} %"),
            ]));
        }
        let is_tuned = targets.get(&row.id).is_some_and(|target| target.role == Role::Tuned);
        if is_tuned != (stated.holds != row.holds) {
            wrong.push(row.id.as_str());
        }
    }
    ensure!(
        wrong.is_empty() || study.extent != Extent::THESIS,
        "rows whose verdict depends on inputs that were chosen after a look are those whose role in \
         targets/thesis.csv is 'tuned', and no others; set it right for {}",
        wrong.join(", ")
    );
    let mut text = format!("{CHANGED}\n\n{}\n\n", inputs_table()?);
    text += &format!("Rows that come out otherwise, and are no predictions:\n\n{turned}\n\n");
    text += &format!("Figures that move by more than 2 %, with the same verdict:\n\n{moved}");
    Ok(text)
}

fn inputs_table() -> Result<Table> {
    let mut table = table(["input", "as stated", "as changed", "what the thesis says, and why"]);
    for input in inputs::all()? {
        table.add_row([input.input, input.stated, input.changed, input.why]);
    }
    Ok(table)
}

/// Percent by which the first number of a row is more than before, if that is more than a little.
fn sensitivity(stated: &Row, row: &Row) -> Option<f64> {
    const LITTLE_PERCENT: f64 = 2.0;
    let first = |row: &Row| row.measured.split([' ', ',']).next()?.parse::<f64>().ok();
    let more = 100.0 * (first(row)? / first(stated)? - 1.0);
    (more.is_finite() && more.abs() > LITTLE_PERCENT).then_some(more)
}

/// The bias of the speed-ups, and what a message would have to cost more so that there is none.
///
/// # Errors
/// Something was not run.
pub fn bias(study: &Study, targets: &Targets) -> Result<String> {
    let dearer_us = DEARER_NS as f64 / 1e3;
    let mut table = table([
        "application".to_owned(),
        "off".to_owned(),
        format!("a message {dearer_us} us dearer"),
        "missing for each message".to_owned(),
        "operations as on one".to_owned(),
    ]);
    let (mut above, mut sum) = (0, 0.0);
    for application in study.applications() {
        let paper = number(targets, &format!("T8.6-{application}-S64"))?;
        let one = number(targets, &format!("T8.6-{application}-T1"))?;
        let off = |speedup: f64| 100.0 * (speedup / paper - 1.0);
        let now = speedup(study, application, targets)?;
        let seconds = |variation| study.seen(application, Preset::NrxImc, variation);
        let usual = seconds(Variation::Usual)?.seconds;
        let dearer = seconds(Variation::Dearer)?.seconds;
        // Time that is missing, over what a microsecond a message brings.
        let missing_us = dearer_us * (one / paper - usual) / (dearer - usual);
        let uncached = seconds(Variation::Uncached).ok().map(|seen| off(one / seen.seconds));
        (above, sum) = (above + usize::from(now > paper), sum + off(now));
        table.add_row([
            application.title().to_owned(),
            format!("{:+.0} %", off(now)),
            format!("{:+.0} %", off(one / dearer)),
            if missing_us.is_finite() { format!("{missing_us:.1} us") } else { "-".into() },
            uncached.map_or("-".into(), |off| format!("{off:+.0} %")),
        ]);
    }
    let all = study.applications().count();
    let mean = sum / all as f64;
    Ok(format!(
        "**They are biased.** {above} of {all} are above the thesis's, by {mean:.0} % in the mean, which bands of 25 % hide. {BIAS}\n\n{table}"
    ))
}

/// Puzzle without a table of positions, and with one.
///
/// # Errors
/// Something was not run.
pub fn tables(study: &Study, targets: &Targets) -> Result<String> {
    let mut table = table([
        "application",
        "table",
        "speed-up",
        "table 8.6",
        "hrx-hmc",
        "packets of a rank a second",
    ]);
    for application in [Application::Puzzle4, Application::Puzzle64] {
        let one = number(targets, &format!("T8.6-{application}-T1"))?;
        let paper = number(targets, &format!("T8.6-{application}-S64"))?;
        for (named, variation) in [("none", Variation::Usual), ("1 MiB a rank", Variation::Table)] {
            let seen = |preset| study.seen(application, preset, variation);
            let (default, host) = (seen(Preset::NrxImc)?, seen(Preset::HrxHmc)?);
            let slower = 100.0 * (host.seconds / default.seconds - 1.0);
            table.add_row([
                application.title().to_owned(),
                named.to_owned(),
                format!("{:.2}", one / default.seconds),
                format!("{paper:.2}"),
                format!("{slower:+.1} %"),
                format!("{:.0}", default.rate(super::Kind::Unicast, study.extent.ranks).0),
            ]);
        }
    }
    Ok(format!("{TABLES}\n\n{table}"))
}

const CHANGED: &str = "\
No figure of the thesis fixes these inputs, and they were changed after a look at the first outcome. So both outcomes stand here, from the same programs. Whatever comes out otherwise by a \
change predicts nothing, and is in no count. All else on this page is with the inputs as changed. Such inputs now change in a commit of their own, before a run.";
const BIAS: &str = "\
So something is not charged. Two searches: what is left if each message costs its receiver so much more, and what a message would then have to cost so that the speed-up is the thesis's; and what \
is left if caches give nothing. Were one cost of all messages missing, the third column would have one figure.";
const TABLES: &str = "\
Multigame keeps positions in a distributed hash table, and a job travels to the owner of its entry. The runs above have no table: without one the positions of an iteration are the same on any number of ranks. \
Here are both. The table has 64 MiB in all, on one rank and on 64, of which the thesis says nothing; time on one processor is table 8.6's either way, so that an operation takes longer with the table, which leaves fewer positions.";

#[cfg(test)]
mod tests {
    use super::{Row, sensitivity};
    use crate::applications::inputs::{self, Inputs};

    fn row(measured: &str) -> Row {
        Row { id: "S1".into(), measured: measured.into(), holds: true }
    }

    #[test]
    fn sensitivity_is_of_the_first_number() {
        let of = |before: &str, now: &str| sensitivity(&row(before), &row(now));
        assert_eq!(of("50.00", "55.00").map(f64::round), Some(10.0));
        assert_eq!(of("10.0 %", "10.1 %"), None);
        assert_eq!(of("Radix", "Radix"), None);
        assert_eq!(of("0.0 %", "0.0 %"), None);
    }

    #[test]
    fn inputs_are_those_of_the_file() {
        let file = inputs::all().unwrap();
        let [moves, wait, rates] = &file[..] else { panic!("{file:?}") };
        for (choice, [moves, wait, rate]) in [
            (Inputs::Stated, [&moves.stated, &wait.stated, &rates.stated]),
            (Inputs::Changed, [&moves.changed, &wait.changed, &rates.changed]),
        ] {
            assert_eq!(choice.most_moves(), moves);
            assert_eq!(choice.acknowledge_after_ns().to_string(), *wait);
            let named =
                choice.high_rates().map(|(packets, bytes)| format!("{packets} and {bytes}"));
            assert_eq!(
                &named.unwrap_or_else(|| "beside those of the other applications".into()),
                rate
            );
        }
    }
}
