use super::*;
use crate::claim::Claim;
use crate::results::{Quantity, Seen};

/// An experiment that claims this and runs nothing.
struct Claiming(&'static [Claim], &'static [Setting]);

impl Experiment for Claiming {
    fn name(&self) -> &'static str {
        "claiming"
    }

    fn title(&self) -> &'static str {
        "What is claimed"
    }

    fn claims(&self) -> &'static [Claim] {
        self.0
    }

    fn settings(&self) -> &'static [Setting] {
        self.1
    }

    fn run(&self, _: &mut Results) -> anyhow::Result<()> {
        Ok(())
    }
}

fn faults(claim: &'static [Claim], record: impl FnOnce(&mut Results)) -> Vec<Fault> {
    let targets = Targets::read().unwrap();
    let mut report = Report::new(&targets);
    let mut results = Results::default();
    record(&mut results);
    report.add(&Claiming(claim, &[]), &results);
    report.faults().to_vec()
}

const WHY: &str = "the machine has no such thing";
const FETCH_ADD: Claim = Claim::figure("T8.5-nrx");

fn us(results: &mut Results, id: &'static str, us: f64) {
    results.figure(id, Quantity::Nanoseconds(us * 1e3));
}

#[test]
fn a_figure_in_its_band_needs_no_words_and_gets_none() {
    for inside in [15.4, 18.0, 20.6] {
        assert_eq!(faults(&[FETCH_ADD], |seen| us(seen, "T8.5-nrx", inside)), []);
        let explained =
            faults(const { &[FETCH_ADD.misses(WHY)] }, |seen| us(seen, "T8.5-nrx", inside));
        assert_eq!(explained, [Fault::NoMiss("T8.5-nrx")]);
    }
}

#[test]
fn a_figure_outside_its_band_is_explained_or_there_is_no_report() {
    for outside in [15.2, 20.8] {
        let silent = faults(&[FETCH_ADD], |seen| us(seen, "T8.5-nrx", outside));
        let verdict = Verdict::Outside;
        let what = format!("paper 18, Weft {outside:.3}, band ±15 %");
        assert_eq!(silent, [Fault::Unexplained { id: "T8.5-nrx", verdict, what }]);
        assert_eq!(
            faults(const { &[FETCH_ADD.misses(WHY)] }, |seen| us(seen, "T8.5-nrx", outside)),
            []
        );
    }
}

#[test]
fn bands_may_be_absolute() {
    let seen =
        |value| move |seen: &mut Results| seen.figure("T5.2-binary-rec", Quantity::Count(value));
    const CLAIM: &[Claim] = &[Claim::figure("T5.2-binary-rec").absolute(0.1)];
    assert_eq!(faults(CLAIM, seen(0.48)), []);
    assert_eq!(faults(CLAIM, seen(0.28)), []);
    assert_eq!(faults(CLAIM, seen(0.49)).len(), 1);
}

#[test]
fn an_order_that_does_not_hold_is_a_miss() {
    const CLAIM: &[Claim] = &[Claim::statement("S8.2.3-fa-order")];
    let order = |irx| {
        move |seen: &mut Results| {
            seen.ascending("S8.2.3-fa-order", &[("nrx", 18.0), ("irx", irx), ("hrx", 31.0)]);
        }
    };
    assert_eq!(faults(CLAIM, order(25.0)), []);
    let [Fault::Unexplained { verdict: Verdict::Fails, what, .. }] =
        &faults(CLAIM, order(31.0))[..]
    else {
        panic!("equal is not less")
    };
    assert_eq!(what, "nrx < irx < hrx: nrx 18.0, irx 31.0, hrx 31.0");
}

#[test]
fn claims_and_results_must_meet() {
    assert_eq!(faults(&[FETCH_ADD], |_| ()), [Fault::NotMeasured("T8.5-nrx")]);
    assert_eq!(faults(&[], |seen| us(seen, "T8.5-nrx", 18.0)), [Fault::NotClaimed("T8.5-nrx")]);
    assert_eq!(faults(const { &[Claim::figure("T9.9")] }, |_| ()), [Fault::Unknown("T9.9")]);
    let seen = Seen::Figure(Quantity::Count(18.0));
    let (value, unit) = ("18".into(), "us".into());
    assert_eq!(
        faults(&[FETCH_ADD], |seen| seen.figure("T8.5-nrx", Quantity::Count(18.0))),
        [Fault::Incomparable { id: "T8.5-nrx", seen, value, unit }]
    );
}

/// A report with a calibrated, a predicted, a missed figure and an order.
fn example(targets: &Targets) -> Report<'_> {
    const CLAIMS: &[Claim] = &[
        Claim::figure("T8.4-nrx-g"),
        FETCH_ADD,
        Claim::figure("T8.5-hrx").misses("the host | is slow"),
        Claim::statement("S8.2.3-fa-order"),
    ];
    let mut results = Results::default();
    us(&mut results, "T8.4-nrx-g", 6.71);
    us(&mut results, "T8.5-nrx", 18.5);
    us(&mut results, "T8.5-hrx", 40.0);
    results.statement("S8.2.3-fa-order", true, "nrx 18.5 | hrx 40.0");
    let mut report = Report::new(targets);
    report.add(&Claiming(CLAIMS, &[Setting("T8.4-payload", "16")]), &results);
    assert_eq!(report.faults(), []);
    report
}

#[test]
fn a_page_shows_calibration_apart_and_counts_what_is_left() {
    let targets = Targets::read().unwrap();
    let pages = example(&targets).pages();
    let names: Vec<&str> = pages.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["thesis.md", "careful.md", "sender.md", "pupa.md"]);
    let thesis = &pages[0].1;
    let place = |text: &str| thesis.find(text).unwrap_or_else(|| panic!("{text}: {thesis}"));
    let calibration = place("Calibration (not predictions)");
    assert!(calibration < place("T8.4-nrx-g") && place("T8.4-nrx-g") < place("\nPredictions"));
    assert!(place("\nPredictions") < place("T8.5-nrx"));
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let row = thesis.lines().find(|line| line.contains("T8.5-hrx")).map(words).unwrap();
    assert!(row.ends_with("| us | 31 | 40.0 | 1.29 | ±15 % | OUTSIDE |"), "{row}");
    place("- `T8.5-hrx`: the host | is slow");
    place("Asked: 297 figures and findings, of which 3 are measured (2 come true and 1 miss).");
    place("Not asked: 26 calibration, 13 inputs, 7 tuned, 0 of another machine.");
    place("Settings used: 1 of 222.");
    place("## Not measured: 294");
    place("## Not asked: 46");
    place("\n2, input: chapter 2's basic protocol");
    let careful = &pages[1].1;
    assert!(
        careful.contains("which 0 are measured") && !careful.contains("make paper"),
        "{careful}"
    );
}

#[test]
fn a_report_is_reproducible() {
    let targets = Targets::read().unwrap();
    assert_eq!(example(&targets).pages(), example(&targets).pages());
    assert_eq!(example(&targets).text(), example(&targets).text());
}

#[test]
fn the_last_line_counts_the_predictions_of_all_papers() {
    let targets = Targets::read().unwrap();
    let text = example(&targets).text();
    let last = text.lines().last().unwrap();
    assert_eq!(last, "3 figures measured of 767, 2 within their band, 1 outside");
}

#[test]
fn a_bar_in_a_cell_does_not_break_a_table() {
    let targets = Targets::read().unwrap();
    for (name, page) in example(&targets).pages() {
        let mut columns = 0;
        for line in page.lines() {
            let bars = line.matches('|').count() - line.matches("\\|").count();
            if !line.starts_with('|') {
                columns = 0;
            } else if columns == 0 {
                columns = bars;
            } else {
                assert_eq!(bars, columns, "{name}: {line}");
            }
        }
    }
}
