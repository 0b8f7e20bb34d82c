//! The pages in `docs/paper` show what the experiments claim: `make paper` writes them again. That
//! they say what is measured, `make paper` shows; measuring takes too long for a test.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use weft_paper::applications::Beyond;
use weft_paper::targets::Role;
use weft_paper::today;
use weft_paper::{Targets, experiments};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/paper")
}

fn page(name: &str) -> String {
    std::fs::read_to_string(folder().join(name)).unwrap()
}

#[test]
fn every_claim_is_a_row_of_its_page_and_no_other_target_is() {
    let targets = Targets::read().unwrap();
    let experiments = experiments::all();
    let claims = experiments.iter().flat_map(|experiment| experiment.claims());
    let mut claimed: BTreeSet<&str> = claims.map(|claim| claim.id).collect();
    let settings = experiments.iter().flat_map(|experiment| experiment.settings());
    claimed.extend(settings.map(|setting| setting.0));
    for paper in weft_paper::targets::Paper::ALL {
        let text = page(&format!("{paper}.md"));
        for target in targets.of(paper) {
            let shown = text.lines().any(|line| line.starts_with(&format!("| {} ", target.id)));
            let expected = claimed.contains(&*target.id);
            assert_eq!(shown, expected, "{}: run `make paper`", target.id);
        }
    }
}

#[test]
fn figures_are_those_that_the_pages_show() {
    let papers = weft_paper::targets::Paper::ALL.map(|paper| page(&format!("{paper}.md")));
    let pages = papers.concat()
        + &[
            "adaptive.md",
            "applications.md",
            "rendezvous.md",
            "regions.md",
            "objects.md",
            "zero-copy.md",
        ]
        .map(page)
        .concat();
    for file in std::fs::read_dir(folder()).unwrap() {
        let name = file.unwrap().file_name().into_string().unwrap();
        assert!(
            name.ends_with(".md") || pages.contains(&format!("({name})")),
            "{name} is shown nowhere"
        );
    }
    for link in pages.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
        if link.ends_with(".svg") {
            assert!(folder().join(link).exists(), "there is no {link}");
        }
    }
}

#[test]
fn reasons_are_about_targets_that_nobody_measures() {
    let targets = Targets::read().unwrap();
    let experiments = experiments::all();
    let claims = experiments.iter().flat_map(|experiment| experiment.claims());
    let claimed: BTreeSet<&str> = claims.map(|claim| claim.id).collect();
    for reason in targets.reasons() {
        let about = |id: &str| targets.why_not(id) == Some(&reason.why);
        let explained = targets.all().iter().any(|target| {
            target.role == Role::Predict && about(&target.id) && !claimed.contains(&*target.id)
        });
        assert!(explained, "'{}' explains nothing", reason.prefix);
    }
}

#[test]
fn sections_say_what_their_files_hold() {
    let text = page("applications.md");
    let beyond = Beyond::read(&folder()).unwrap().section();
    let hosts = today::applications::read_section(&folder()).unwrap();
    for section in [beyond, hosts] {
        assert!(text.contains(section.trim_end()), "not in applications.md:\n{section}");
    }
}
