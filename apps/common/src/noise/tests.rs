use super::{noise, random};
use std::collections::BTreeSet;

#[test]
fn a_seed_fixes_a_sequence_of_its_own() {
    let numbers: BTreeSet<u64> =
        (0..10).flat_map(|seed| (0..100).map(move |index| random(seed, index))).collect();
    assert_eq!(numbers.len(), 1000);
    assert_eq!(random(7, 3), random(7, 3));
}

#[test]
fn noise_is_spread_evenly_between_its_ends() {
    let values: Vec<f64> = (0..10_000).map(|index| noise(5, index)).collect();
    assert!(values.iter().all(|value| (-1.0..1.0).contains(value)));
    let mean = values.iter().sum::<f64>() / 10_000.0;
    let square = values.iter().map(|value| value * value).sum::<f64>() / 10_000.0;
    assert!(mean.abs() < 0.03 && (square - 1.0 / 3.0).abs() < 0.02, "{mean} {square}");
}
