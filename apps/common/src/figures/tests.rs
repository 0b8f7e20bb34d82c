use super::{median, seconds, thousands};
use std::time::Duration;

#[test]
fn commas_stand_between_thousands_only() {
    let texts = [0, 999, 1_000, 28_323, 1_234_567].map(thousands);
    assert_eq!(texts, ["0", "999", "1,000", "28,323", "1,234,567"]);
}

#[test]
fn seconds_keep_three_digits() {
    let texts = [4_200, 213_400, 2_134_000, 21_340_000, 213_400_000]
        .map(|micros| seconds(Duration::from_micros(micros)));
    assert_eq!(texts, ["0.0042 s", "0.213 s", "2.13 s", "21.3 s", "213 s"]);
}

#[test]
fn the_median_is_one_of_them() {
    let durations = |micros: &[u64]| micros.iter().copied().map(Duration::from_micros).collect();
    assert_eq!(median(durations(&[9, 1, 5])), Some(Duration::from_micros(5)));
    assert_eq!(median(durations(&[9, 1])), Some(Duration::from_micros(9)));
    assert_eq!(median(vec![]), None);
}
