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
        ("1h 30m", 5_400_000),
        ("0", 0),
    ] {
        assert_eq!(time_in(text, ANY_TIME).map(|time| time.as_millis()), Ok(millis), "{text}");
    }
    let said = "it is a time, such as 500ms, 5s or 2min; a number alone is seconds";
    for text in ["", "s", "five", "5 moments", "-1", "1e400", "nan", "5s5"] {
        assert_eq!(time_in(text, ANY_TIME), Err(said.into()), "{text}");
    }
}

#[test]
fn a_time_out_of_bounds_is_none_and_they_are_said() {
    let bounds = Duration::from_millis(500)..=Duration::from_secs(3600);
    assert_eq!(time_in("500ms", bounds.clone()), Ok(Duration::from_millis(500)));
    let said =
        "it is a time from 500ms to 1h, such as 500ms, 5s or 2min; a number alone is seconds";
    for text in ["499ms", "3601", "2days"] {
        assert_eq!(time_in(text, bounds.clone()), Err(said.into()), "{text}");
    }
}
