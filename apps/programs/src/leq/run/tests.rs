use super::{Part, checksum, compare};
use crate::leq::solve::Ended;

const ENDED: Ended = Ended { iterations: 3, change: 0.5 };

fn solved(x: &[f64], ended: Ended) -> Part {
    Part { x: x.to_vec(), ended }
}

#[test]
fn one_bit_is_enough() {
    let whole = (vec![1.0, 0.0], ENDED);
    let same = solved(&[1.0, 0.0], ENDED);
    assert!(compare(&whole, &same).is_ok());
    for other in [
        solved(&[1.0, -0.0], ENDED),
        solved(&[f64::from_bits(1.0_f64.to_bits() ^ 1), 0.0], ENDED),
        solved(&[1.0, 0.0], Ended { iterations: 4, ..ENDED }),
        solved(&[1.0, 0.0], Ended { change: 0.25, ..ENDED }),
    ] {
        assert!(compare(&whole, &other).is_err(), "{:?} {:?}", other.x, other.ended);
        assert_ne!(checksum(&same), checksum(&other), "{:?} {:?}", other.x, other.ended);
    }
}
