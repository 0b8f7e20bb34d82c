use super::{Counts, CountsError, judged};
use crate::Targets;
use std::path::Path;

const PAGE: &str = "\
# A page

| id | what | verdict |
|----|------|---------|
| T8.5-nrx | a \\| b | within |
| T8.5-hrx | c | OUTSIDE |

| application | verdict |
|-------------|---------|
| ASP | none |

| row | thesis | verdict |
|-----|--------|---------|
| S8.2.3-fa-order | nrx < irx | holds |
";

fn write(folder: &Path, page: &str, text: &str) {
    std::fs::write(folder.join(page), text).unwrap();
}

#[test]
fn verdicts_are_those_of_tables_with_ids() {
    let pair = |id: &str, verdict: &str| (id.to_owned(), verdict.to_owned());
    let expected =
        [pair("T8.5-nrx", "within"), pair("T8.5-hrx", "OUTSIDE"), pair("S8.2.3-fa-order", "holds")];
    assert_eq!(judged(PAGE), expected);
}

#[test]
fn counts_are_of_what_is_asked() {
    let (folder, targets) = (tempfile::tempdir().unwrap(), Targets::read().unwrap());
    write(folder.path(), "thesis.md", PAGE);
    let row = "| id | verdict |\n|---|---|\n| S5.1.1-free | within |\n";
    write(folder.path(), "other.md", row);
    let counts = Counts::of(&targets, folder.path()).unwrap();
    let asked = targets.all().iter().filter(|target| target.role.is_asked());
    assert_eq!(counts.tally(|_| true), (asked.count(), 3, 2));
    assert!(counts.sentence().contains("3 of these have a verdict, and 2 (67 %)"));
    let csv = counts.csv().unwrap();
    assert!(csv.contains("\nT8.5-hrx,thesis,asked,measured,OUTSIDE,thesis.md\n"), "{csv}");
    assert!(csv.contains("\nS5.1.1-free,thesis,input,measured,within,other.md\n"), "{csv}");
}

#[test]
fn a_row_has_one_verdict() {
    let (folder, targets) = (tempfile::tempdir().unwrap(), Targets::read().unwrap());
    let row = |verdict: &str| format!("| row | verdict |\n|---|---|\n| T8.5-nrx | {verdict} |\n");
    let error = || match Counts::of(&targets, folder.path()) {
        Ok(_) => panic!("counted"),
        Err(error) => error.downcast::<CountsError>().unwrap(),
    };
    write(folder.path(), "a.md", &row("within"));
    write(folder.path(), "b.md", &row("OUTSIDE"));
    let pages = ["a.md", "b.md"].map(String::from);
    assert_eq!(error(), CountsError::Twice { id: "T8.5-nrx".into(), pages });
    write(folder.path(), "b.md", &row("yes"));
    let (page, id, verdict) = ("b.md".into(), "T8.5-nrx".into(), "yes".into());
    assert_eq!(error(), CountsError::Unknown { page, id, verdict });
}
