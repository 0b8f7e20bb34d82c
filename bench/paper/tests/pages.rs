//! The pages in `docs/paper` are what the experiments give: `make paper` writes them again.

#![allow(clippy::unwrap_used)]

use std::path::Path;
use weft_paper::today::HEADING;
use weft_paper::{Report, Results, Targets, experiments};

#[test]
fn the_committed_pages_are_what_is_measured() {
    let targets = Targets::read().unwrap();
    let mut report = Report::new(&targets);
    for experiment in experiments::all() {
        let mut results = Results::default();
        experiment.run(&mut results).unwrap();
        report.add(&*experiment, &results);
    }
    assert_eq!(report.faults(), []);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/paper");
    let mut names = Vec::new();
    for (name, text) in report.pages() {
        let committed = std::fs::read_to_string(folder.join(&name)).unwrap();
        let repeatable = committed.split(HEADING).next();
        assert!(repeatable == Some(&text), "{name} is not what is measured: run `make paper`");
        names.push(name);
    }
    let files = std::fs::read_dir(&folder).unwrap();
    let files = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    let left: Vec<String> = files.filter(|file| !names.contains(file)).collect();
    assert_eq!(left, [""; 0], "nothing measures these any more");
}
