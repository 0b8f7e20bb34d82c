use super::Options;
use clap::{CommandFactory, Parser};

fn parse(arguments: &[&str]) -> Result<Options, String> {
    let command = std::iter::once("radix").chain(arguments.iter().copied());
    Options::try_parse_from(command).map_err(|error| error.to_string())
}

#[test]
fn the_command_is_consistent_and_help_has_examples() {
    Options::command().debug_assert();
    assert!(Options::command().render_long_help().to_string().contains("weft run -n 4 -- radix"));
}

#[test]
fn the_default_is_the_problem_of_the_thesis() {
    let options = parse(&[]).expect("nothing is needed");
    assert_eq!((options.keys, options.radix, options.region_bytes), (3_000_000, 128, 1024));
    assert_eq!(options.passes(), 3);
    assert_eq!(parse(&["--bits", "32", "--radix", "128"]).expect("possible").passes(), 5);
}

#[test]
fn what_makes_no_sense_is_refused_with_its_reason() {
    for (argument, reason) in [
        ("--keys=0", "1..=100000000"),
        ("--bits=33", "1..=32"),
        ("--radix=100", "a power of two from 2 to 65536"),
        ("--radix=1", "a power of two from 2 to 65536"),
        ("--region-bytes=6", "a multiple of 4"),
        ("--region-bytes=0", "a multiple of 4"),
    ] {
        let error = parse(&[argument]).expect_err("makes no sense");
        assert!(error.contains(reason), "{argument}: {error}");
    }
}
