use super::{norm, product, subtract};

#[test]
fn sums_are_those_of_whole_numbers_at_every_length() {
    for length in 0..70 {
        let a: Vec<f64> = (0..length).map(f64::from).collect();
        let b: Vec<f64> = a.iter().map(|value| value + 1.0).collect();
        let expected = (0..length).map(|i| f64::from(i * (i + 1))).sum::<f64>();
        assert_eq!(product(&a, &b), expected, "{length}");
        let mut difference = b.clone();
        subtract(&mut difference, 2.0, &a);
        let expected: Vec<f64> = a.iter().map(|value| 1.0 - value).collect();
        assert_eq!(difference, expected, "{length}");
    }
    assert_eq!(norm(&[3.0, 4.0]), 5.0);
    assert_eq!(norm(&[]), 0.0);
}
