#![allow(clippy::unwrap_used)]

use super::judge::sign;
use super::model::{Model, PRESETS, Problem, Variation};
use super::observe::Kind;
use super::page::pages;
use super::run::Cell;
use super::study::{Extent, Study};
use crate::Targets;
use weft_bench::suite::Application;
use weft_simulator::Preset;

fn tiny(seed: u64, applications: &[Application]) -> Study {
    let extent = Extent { ranks: 4, problem: Problem::Small, seed };
    Study::of(extent, applications, |_| ()).unwrap()
}

#[test]
fn a_study_is_a_function_of_its_seed() {
    let some = [Application::Awari, Application::Fft, Application::Puzzle4];
    let [once, again] = [(); 2].map(|()| format!("{:?}", tiny(7, &some)));
    assert_eq!(once, again);
}

#[test]
fn a_page_has_every_row_of_the_thesis() {
    let study = tiny(1, &Application::ALL);
    let (_, text) = pages(&study).unwrap().into_iter().next().unwrap();
    let targets = Targets::read().unwrap();
    let experiments = crate::experiments::all();
    let claims = experiments.iter().flat_map(|experiment| experiment.claims());
    let claimed: Vec<&str> = claims.map(|claim| claim.id).collect();
    let sections = ["8.4", "8.5", "8.6"];
    let is_there = |section: &str| sections.iter().any(|there| section.starts_with(there));
    for target in targets.all() {
        if (target.role.is_asked() || target.role == crate::Role::Tuned)
            && !claimed.contains(&target.id.as_str())
            && target.paper == crate::Paper::Thesis
            && is_there(&target.section)
        {
            assert!(text.contains(&format!("| {} ", target.id)), "{}", target.id);
        }
    }
    assert!(PRESETS.iter().all(|preset| text.contains(&preset.to_string())));
}

#[test]
fn one_rank_takes_as_long_as_in_the_table() {
    let targets = Targets::read().unwrap();
    for application in [Application::Sor, Application::Leq, Application::Puzzle64] {
        let alone = Cell::new(application, 1, Preset::NrxImc);
        let operation_ns = alone.operation_ns(Problem::Small, 1).unwrap();
        let seen = alone.run(Problem::Small, operation_ns, 1).unwrap();
        let model = Model::new(application, Problem::Small, &targets).unwrap();
        let off = (seen.seconds / model.one - 1.0).abs();
        assert!(off < 0.1, "{application}: {} s and {} s", seen.seconds, model.one);
    }
}

#[test]
fn caches_hold_a_part_and_not_the_whole() {
    let targets = Targets::read().unwrap();
    let cached = |application, ranks| {
        let model = Model::new(application, Problem::Thesis, &targets).unwrap();
        model.cached_ns(50.0, ranks).unwrap()
    };
    assert_eq!(cached(Application::Asp, 8), 50.0);
    // 4 bytes of 12.73 ns, a third of them.
    assert!((cached(Application::Asp, 64) - (50.0 - 4.0 * 12.73 / 3.0)).abs() < 0.01);
    assert_eq!(cached(Application::Sor, 64), 50.0);
}

#[test]
fn broadcasts_are_counted_at_each_receiver() {
    let study = tiny(1, &[Application::Asp]);
    let of = |how| &study.seen(Application::Asp, Preset::NrxImc, how).unwrap().rates.packets;
    let (usual, tree) = (of(Variation::Usual), of(Variation::Tree));
    let kinds = [Kind::Multicast, Kind::Unicast].map(|kind| kind as usize);
    // A packet for each row at each of three others, beside barriers.
    assert!(usual[kinds[0]] >= 3 * 80, "{usual:?}");
    assert!(tree[kinds[1]] >= 3 * 80 && 10 * tree[kinds[0]] < usual[kinds[0]], "{tree:?}");
}

#[test]
fn signs_are_those_of_the_page() {
    assert_eq!([-1.0, 2.9, 3.0, 11.9, 12.0].map(sign), ["+", "+", "-", "-", "--"]);
}

#[test]
fn runs_are_kept_as_they_were_and_replaced_by_application() {
    let folder = tempfile::tempdir().unwrap();
    let sor = tiny(1, &[Application::Sor]).keep(folder.path()).unwrap();
    let both = tiny(1, &[Application::Qr]).keep(folder.path()).unwrap();
    assert!(both.applications().eq([Application::Qr, Application::Sor]));
    assert_eq!(Study::read(folder.path(), both.extent).unwrap(), both);
    let seconds = |study: &Study| study.seconds(Application::Sor, Preset::HrxHmc).unwrap();
    assert_eq!(seconds(&both), seconds(&sor));
    let other = tiny(2, &[Application::Sor]).keep(folder.path()).unwrap();
    assert!(other.applications().eq([Application::Qr, Application::Sor]));
}
