//! Pages of runs that a simulator made, whose ranks count their packets themselves.

use crate::visit::{compare_sums, sample, visit};
use serde_json::json;
use weft_report::Analysis;
use weft_simulator::{Options, Simulation, Tape};
use weft_trace::Run;

/// Ranks compute for different times, and meet; thrice.
fn page_adds_up(ranks: u16) {
    let tape = Tape::new(ranks);
    let options = Options { tape: Some(tape.clone()), ..Options::new(ranks).unwrap() };
    let report = Simulation::new(options).unwrap().run(|weft| {
        for _ in 0..3 {
            weft.work(10_000 * u64::from(weft.rank().0 % 16));
            weft.barrier()?;
        }
        weft::Result::Ok(())
    });
    assert!(report.is_success());
    let hosts = vec!["simulated".to_owned(); ranks.into()];
    let run = Run { hosts, is_simulated: true, ..Run::default() };
    let analysis = Analysis::new(&tape.trace(&run).unwrap());
    let told = visit(&analysis, &json!({"acts": "sums", "arrows": sample(&analysis)}));
    assert_eq!(told["errors"], json!([]));
    assert_eq!(told["rows"], ranks);
    compare_sums(&analysis, &told);
    let counted = report.statistics.iter().map(|rank| rank.protocol.packets_sent);
    assert_eq!(told["cells"]["packets"], json!(counted.sum::<u64>()));
    assert_eq!(analysis.findings.matching.sent_only, 0);
}

#[test]
fn a_page_of_64_simulated_ranks_adds_up_to_what_they_count() {
    page_adds_up(64);
}

#[test]
fn a_page_of_1024_simulated_ranks_adds_up_to_what_they_count() {
    page_adds_up(1024);
}
