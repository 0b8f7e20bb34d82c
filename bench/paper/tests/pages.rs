//! The pages in `docs/paper` show what the experiments claim: `make paper` writes them again. That
//! they say what is measured, `make paper` shows; measuring takes too long for a test.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use weft_paper::applications::{self, Beyond, Extent, Study};
use weft_paper::targets::Role;
use weft_paper::{Counts, Targets, experiments, fresh, sections, today};

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
            "README.md",
            "adaptive.md",
            "applications.md",
            "counts.md",
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
            let is_claimed = claimed.contains(&*target.id);
            let needs_one = target.role != Role::Predict || !is_claimed;
            needs_one && about(&target.id)
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

#[test]
fn the_page_of_the_study_is_what_its_runs_come_to() {
    let study = Study::read(&folder(), Extent::THESIS).unwrap();
    if !study.is_whole() {
        let stale = fresh::stale(&folder()).unwrap();
        let part = stale.iter().find(|part| part.made == fresh::Made::Study);
        part.expect("a page without its runs is listed as older than what it measures");
        return;
    }
    let text = page("applications.md");
    for (name, made) in applications::pages(&study).unwrap() {
        let kept = page(&name);
        let made = match name.ends_with(".md") {
            true => sections::keep(&made, &text, &applications::KEPT),
            false => made,
        };
        assert!(made == kept, "{name} is not what its runs come to: run `weft-paper --judge`");
    }
}

/// Verdicts as a reader finds them: lines of tables whose last cell is one.
fn verdicts() -> Vec<[String; 3]> {
    let mut found = Vec::new();
    let mut names: Vec<String> = std::fs::read_dir(folder())
        .unwrap()
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".md"))
        .collect();
    names.sort();
    for name in names {
        for line in page(&name).lines() {
            let line = line.trim_end().trim_end_matches('|').trim_end();
            let verdict = ["DOES NOT HOLD", "holds", "OUTSIDE", "within"]
                .into_iter()
                .find(|verdict| line.ends_with(&format!("| {verdict}")));
            let id = line.trim_start_matches('|').trim_start().split(' ').next();
            if let (Some(verdict), Some(id)) = (verdict, id) {
                found.push([id.to_owned(), verdict.to_owned(), name.clone()]);
            }
        }
    }
    found
}

#[test]
fn counts_are_those_of_the_tables() {
    let found = verdicts();
    let ids: BTreeSet<&String> = found.iter().map(|[id, ..]| id).collect();
    assert_eq!(ids.len(), found.len(), "a row has two verdicts");
    let file = std::fs::read_to_string(folder().join("counts.csv")).unwrap();
    let mut listed: Vec<[String; 3]> = Vec::new();
    let (mut asked, mut judged, mut good) = (0, 0, 0);
    for line in file.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let [id, _, role, _, verdict, page] = cells[..] else { panic!("{line}") };
        let is_asked = role == "asked";
        asked += usize::from(is_asked);
        if !verdict.is_empty() {
            listed.push([id, verdict, page].map(str::to_owned));
            judged += usize::from(is_asked);
            good += usize::from(is_asked && ["within", "holds"].contains(&verdict));
        }
    }
    let sorted = |mut lines: Vec<[String; 3]>| {
        lines.sort();
        lines
    };
    assert!(
        sorted(listed) == sorted(found),
        "counts.csv is not what pages say: run `weft-paper --counts`"
    );
    let text = page("counts.md");
    let row = format!("| all | {asked} | {judged} | {good} |");
    let tight = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.lines().any(|line| tight(line).starts_with(&row)), "no line '{row}' in counts.md");
}

#[test]
fn others_quote_the_counts() {
    let targets = Targets::read().unwrap();
    let sentence = Counts::of(&targets, &folder()).unwrap().sentence();
    for path in ["README.md", "docs/paper/README.md"] {
        let text = std::fs::read_to_string(fresh::here().join(path)).unwrap();
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(&sentence), "{path} does not say: {sentence}");
    }
}

#[test]
fn pages_that_are_older_than_what_they_measure_are_listed() {
    let list = fresh::listed(&fresh::stale(&folder()).unwrap());
    let text = page("README.md");
    assert!(text.contains(&list), "run `weft-paper --stale`, and read:\n{list}");
}

/// Since the commit that began the file of inputs, none has changed them and the study's page.
#[test]
fn inputs_change_in_a_commit_of_their_own() {
    let git = |arguments: &[&str]| {
        let mut command = std::process::Command::new("git");
        let output = command.current_dir(fresh::here()).args(arguments).output().ok()?;
        let output = Some(output).filter(|output| output.status.success())?;
        String::from_utf8(output.stdout).ok()
    };
    let is_shallow = git(&["rev-parse", "--is-shallow-repository"]);
    if is_shallow.is_none_or(|answer| answer.trim() == "true") {
        eprintln!("there is no history here that could be read");
        return;
    }
    let inputs = "bench/paper/targets/inputs.csv";
    let commits = git(&["log", "--no-merges", "--format=%H", "--", inputs]).unwrap();
    for commit in commits.lines() {
        let files = git(&["show", "--name-only", "--format=", commit]).unwrap();
        let is_page = |file: &str| file.starts_with("docs/paper/applications");
        assert!(!files.lines().any(is_page), "{commit} changes {inputs} and what came out of it");
    }
}
