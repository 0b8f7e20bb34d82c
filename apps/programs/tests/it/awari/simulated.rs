//! Databases made on simulated ranks: few and many, every preset, good networks and bad ones. The
//! bytes of their files are those that one rank makes.

use crate::awari::common::{bytes, make_alone, options};
use weft_apps::awari::make;
use weft_simulator::{Faults, MachineModel, Options, Preset, Report, Simulation};

/// Makes databases of up to so many stones, with queues of `batch` bytes: a report, and the files.
fn simulate(
    (ranks, preset, faults): (u16, Preset, Faults),
    stones: u32,
    batch: u32,
) -> (Report<()>, Vec<(String, Vec<u8>)>) {
    let folder = tempfile::tempdir().unwrap();
    let make_options = weft_apps::awari::MakeOptions { batch, ..options(folder.path(), stones) };
    let mut simulated = Options::with_preset(MachineModel::myrinet().unwrap(), ranks, preset);
    simulated.faults = faults;
    let report =
        Simulation::new(simulated).unwrap().run(move |weft| make(&weft, &make_options).map(|_| ()));
    (report, bytes(folder.path()))
}

/// Files that one rank makes.
fn alone(stones: u32) -> Vec<(String, Vec<u8>)> {
    let folder = tempfile::tempdir().unwrap();
    make_alone(&options(folder.path(), stones));
    bytes(folder.path())
}

#[test]
fn on_1_to_64_ranks() {
    for (ranks, stones) in [(1, 5), (2, 5), (3, 5), (7, 5), (64, 4)] {
        let (report, files) = simulate((ranks, Preset::NrxImc, Faults::default()), stones, 256);
        assert!(report.is_success(), "{ranks} ranks: {:?}", report.outcomes);
        assert!(files == alone(stones), "{ranks} ranks make other bytes");
    }
}

#[test]
fn under_every_preset_and_with_queues_of_one_update() {
    let expected = alone(4);
    for preset in Preset::ALL {
        let (report, files) = simulate((5, preset, Faults::default()), 4, 4);
        assert!(report.is_success(), "{preset}: {:?}", report.outcomes);
        assert!(files == expected, "{preset} makes other bytes");
    }
}

#[test]
fn on_networks_that_lose_double_and_reorder() {
    let expected = alone(4);
    for preset in Preset::RETRANSMITTING {
        let (report, files) = simulate((4, preset, Faults::unreliable()), 4, 64);
        assert!(report.is_success(), "{preset}: {:?}", report.outcomes);
        assert!(report.retransmissions() > 0, "{preset}");
        assert!(files == expected, "{preset} makes other bytes");
    }
}

#[test]
fn a_rank_that_dies_leaves_nothing_wrong() {
    let (whole, expected) = simulate((4, Preset::NrxImc, Faults::default()), 4, 64);
    let mut faults = Faults::default();
    faults.crashes.push((weft::Rank(1), whole.virtual_time / 2));
    let (report, files) = simulate((4, Preset::NrxImc, faults), 4, 64);
    assert!(!report.is_success());
    assert!(files.len() < expected.len(), "it died before the end");
    assert!(!files.is_empty(), "and not at the beginning");
    for file in &files {
        assert!(expected.contains(file), "{} is not whole", file.0);
    }
}

#[test]
fn what_rank_0_cannot_read_ends_the_job() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("awari-1.db"), "no database").unwrap();
    let make_options = options(folder.path(), 3);
    let report = Simulation::new(Options::new(3).unwrap())
        .unwrap()
        .run(move |weft| make(&weft, &make_options).map(|_| ()));
    let said = format!("{:?}", report.outcomes[0]);
    assert!(said.contains("awari-1.db is damaged: it has 11 bytes"), "{said}");
}
