use super::*;

#[test]
fn the_time_is_what_the_program_says() {
    for (said, expected) in [
        ("time: 0.250 s on 4 ranks\ncg: 64 x 64 points\nchecked: no point\n", 0.25),
        ("a warning of mpirun\n\n Time in seconds =                    12.50\n", 12.5),
        ("runtime: 9 s\ntime: 3 s\ntime: 4 s\n", 3.0),
    ] {
        assert_eq!(seconds_in(said).unwrap(), expected, "{said}");
    }
}

#[test]
fn what_says_no_time_is_refused() {
    for (said, expected) in [
        ("", "it printed no line like `time: 0.25 s`"),
        ("time: 0.25\n", "it printed no line like `time: 0.25 s`"),
        ("time: soon s\n", "\"soon\" is no number"),
        (
            "time: 0.000 s on 2 ranks\n",
            "it was done in less than it can tell: it needs a larger problem",
        ),
    ] {
        assert_eq!(seconds_in(said).unwrap_err().to_string(), expected, "{said}");
    }
}

#[test]
fn an_outcome_has_a_median_and_a_mean() {
    let outcome =
        |turns| Outcome { program: "cg".into(), setting: Setting::OwnCores, way: Way::Udp, turns };
    let three = outcome(Ok(vec![0.5, 0.2, 0.2]));
    assert_eq!((three.median(), three.mean()), (Some(0.2), Some(0.3)));
    let none = outcome(Err("no udp".into()));
    assert_eq!((none.median(), none.mean()), (None, None));
}
