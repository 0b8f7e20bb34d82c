use super::*;

#[test]
fn a_move_is_said_as_a_part_of_the_way() {
    for (part, words) in [
        (0.0, "stays"),
        (-0.04, "stays"),
        (-0.06, "moves away"),
        (0.5, "moves 50 % of the way"),
        (1.0, "moves 100 % of the way"),
        (1.2, "moves beyond"),
    ] {
        assert_eq!(Outcome::moved(part).to_string(), words, "{part}");
    }
}
