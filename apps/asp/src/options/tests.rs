use super::Options;
use clap::{CommandFactory, Parser};

fn error(arguments: &[&str]) -> String {
    let command = std::iter::once("asp").chain(arguments.iter().copied());
    Options::try_parse_from(command).expect_err("makes no sense").to_string()
}

#[test]
fn the_command_is_consistent_and_help_has_examples() {
    Options::command().debug_assert();
    assert!(Options::command().render_long_help().to_string().contains("weft run -n 4 -- asp"));
}

#[test]
fn what_makes_no_sense_is_refused() {
    assert!(error(&["--check", "0"]).contains("--check"));
    assert!(error(&["--sample", "few"]).contains("--sample"));
    assert!(error(&["--airports", "a.tsv"]).contains("--routes"));
    assert!(error(&["--import", "a", "b"]).contains("3 values required"));
    assert!(error(&["--import", "a", "b", "c", "--speedup"]).contains("cannot be used with"));
}
