use super::*;

#[test]
fn numbers_go_round_past_none() {
    let mut number = Serial::FIRST;
    for _ in 1..Serial::COUNT {
        assert!(number.is_some() && number.next().is_after(number));
        assert!(!number.is_after(number.next()) && !number.is_after(number));
        number = number.next();
    }
    assert_eq!(number, Serial(Serial::COUNT));
    assert_eq!(number.next(), Serial::FIRST, "0 is none");
}

#[test]
fn the_nearer_way_round_says_which_is_after() {
    assert!(Serial(16_384).is_after(Serial::FIRST));
    assert!(!Serial(16_385).is_after(Serial::FIRST), "it is before, a round ago");
    assert!(Serial(2).is_after(Serial(Serial::COUNT)));
}

#[test]
fn bits_are_those_of_the_number() {
    for number in [0, 1, 2, 0x7ffe, 0x7fff] {
        assert_eq!(Serial::from_bits(number | 0x8000).to_bits(), number);
    }
}
