use super::{Table, profile};
use crate::budget::{Budget, CountedWith, Figures};
use crate::callgrind::Dump;
use crate::dumps::Counted;

fn figures(named: &[(&str, f64)]) -> Figures {
    named.iter().map(|(name, figure)| ((*name).to_owned(), *figure)).collect()
}

#[test]
fn a_figure_stands_beside_the_files_and_that_of_ucx() {
    let here = CountedWith::here();
    let kept = figures(&[("packet", 800.0)]);
    let budget = Budget { counted_with: here.clone(), figures: kept };
    let counted = [("packet", 1000.0), ("fi_tinject", 1.0), ("fi_trecv", 2.0), ("fi_cq_read", 3.0)];
    let (now, ucx) = (figures(&counted), figures(&[("ucx_tagged", 500.0)]));
    let table = Table { budget: &budget, here: &here, figures: &now, ucx: &ucx };
    let lines = table.lines();
    let line = |name| lines.iter().find(|line| line.name == name).unwrap();
    let packet = line("packet");
    assert_eq!((packet.more, packet.per_cent, packet.of_ucx), (Some(200.0), Some(25.0), Some(2.0)));
    assert_eq!((line("fi_tagged").instructions, line("fi_tagged").in_file), (6.0, None));
    assert_eq!(line("ucx_tagged").of_ucx, None);
}

#[test]
fn a_profile_names_functions_and_lines_for_each_step() {
    let text = "summary: 40\nob=weft\nfl=a.rs\nfn=costly\n7 30\nfn=cheap\n9 10\n";
    let counted = Counted { rounds: 10, parts: 10, dump: Dump::parse(text).unwrap() };
    let text = profile("packet", &counted);
    let at = |what| text.find(what).unwrap();
    assert!(at("packet: 4.0 ") < at("costly") && at("costly") < at("cheap"), "{text}");
    assert!(text.contains("| 3.0 | a.rs:7 |") && text.contains("| 4.0 | weft"), "{text}");
}
