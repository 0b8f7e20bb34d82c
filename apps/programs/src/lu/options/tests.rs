use super::Options;
use clap::{CommandFactory, Parser};

fn parse(arguments: &[&str]) -> Result<Options, String> {
    let command = std::iter::once("lu").chain(arguments.iter().copied());
    Options::try_parse_from(command).map_err(|error| error.to_string())
}

#[test]
fn the_command_is_consistent_and_help_has_examples() {
    Options::command().debug_assert();
    assert!(Options::command().render_long_help().to_string().contains("weft run -n 4 -- lu"));
}

#[test]
fn the_default_is_splash_2_s() {
    let options = parse(&[]).expect("nothing is needed");
    assert_eq!((options.order, options.block, options.verify), (512, 16, false));
}

#[test]
fn what_makes_no_sense_is_refused_with_its_reason() {
    for (argument, reason) in
        [("--order=0", "1..=8192"), ("--order=9000", "1..=8192"), ("--block=0", "1..=256")]
    {
        let error = parse(&[argument]).expect_err("makes no sense");
        assert!(error.contains(reason), "{argument}: {error}");
    }
}
