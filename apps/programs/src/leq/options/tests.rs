use super::Options;
use clap::{CommandFactory, Parser};

fn parse(arguments: &[&str]) -> Result<Options, String> {
    let command = std::iter::once("leq").chain(arguments.iter().copied());
    Options::try_parse_from(command).map_err(|error| error.to_string())
}

#[test]
fn the_command_is_consistent_and_help_has_examples() {
    Options::command().debug_assert();
    assert!(Options::command().render_long_help().to_string().contains("weft run -n 4 -- leq"));
}

/// On 64 processors, parts of 128 bytes.
#[test]
fn the_default_is_of_the_size_of_the_thesis() {
    assert_eq!(parse(&[]).unwrap().problem().unknowns * size_of::<f64>() / 64, 128);
}

#[test]
fn what_makes_no_sense_is_refused_with_its_reason() {
    for (argument, reason) in [
        ("--unknowns=0", "1..=20000"),
        ("--iterations=0", "--iterations"),
        ("--tolerance=-1", "0 or greater"),
        ("--dominance=1", "greater than 1"),
        ("--dominance=NaN", "greater than 1"),
    ] {
        let error = parse(&[argument]).expect_err("makes no sense");
        assert!(error.contains(reason), "{argument}: {error}");
    }
}
