use super::*;

#[test]
fn a_time_without_a_unit_is_in_seconds() {
    for (text, millis) in [
        ("5", 5_000),
        ("0.8", 800),
        ("5s", 5_000),
        (" 1.5 s ", 1_500),
        ("500ms", 500),
        ("250us", 0),
        ("2min", 120_000),
        ("2m", 120_000),
        ("1h", 3_600_000),
        ("0", 0),
    ] {
        assert_eq!(time_in(text).map(|time| time.as_millis()), Some(millis), "{text}");
    }
    for text in ["", "s", "five", "5 weeks", "-1", "1e400", "nan", "5s5"] {
        assert_eq!(time_in(text), None, "{text}");
    }
}
