use super::Options;
use clap::{CommandFactory, Parser};

fn parse(arguments: &[&str]) -> Result<Options, String> {
    let command = std::iter::once("qr").chain(arguments.iter().copied());
    Options::try_parse_from(command).map_err(|error| error.to_string())
}

#[test]
fn the_command_is_consistent_and_help_has_examples() {
    Options::command().debug_assert();
    assert!(Options::command().render_long_help().to_string().contains("weft run -n 4 -- qr 512"));
}

#[test]
fn the_default_is_the_problem_of_the_thesis() {
    let problem = parse(&[]).expect("nothing is needed").problem();
    assert_eq!((problem.rows, problem.columns, problem.of_rank), (1024, 1024, None));
    let tall = parse(&["20", "--rows", "70"]).expect("it makes sense").problem();
    assert_eq!((tall.rows, tall.columns, tall.steps()), (70, 20, 20));
}

#[test]
fn what_makes_no_sense_is_refused_with_its_reason() {
    for (argument, reason) in
        [("0", "1..=20000"), ("--rows=0", "--rows"), ("--of-rank=-1", "of-rank")]
    {
        let error = parse(&[argument]).expect_err("makes no sense");
        assert!(error.contains(reason), "{argument}: {error}");
    }
}
