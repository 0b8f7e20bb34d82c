use super::Options;
use clap::{CommandFactory, Parser};

#[test]
fn the_command_is_consistent_and_help_has_examples() {
    Options::command().debug_assert();
    assert!(Options::command().render_long_help().to_string().contains("weft run -n 4 -- tsp"));
}

#[test]
fn what_makes_no_sense_is_refused_with_its_reason() {
    for (arguments, reason) in [
        (&["--random=2"][..], "3..=64"),
        (&["--depth=0"], "1..=6"),
        (&["--random=9", "--file=x"], "cannot be used with"),
    ] {
        let words = ["tsp"].iter().chain(arguments);
        let error = Options::try_parse_from(words).expect_err("makes no sense").to_string();
        assert!(error.contains(reason), "{arguments:?}: {error}");
    }
}
