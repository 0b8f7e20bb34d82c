use super::Options;
use clap::{CommandFactory, Parser};

fn parse(arguments: &[&str]) -> Result<Options, String> {
    let command = std::iter::once("sor").chain(arguments.iter().copied());
    Options::try_parse_from(command).map_err(|error| error.to_string())
}

#[test]
fn the_command_is_consistent_and_help_has_examples() {
    Options::command().debug_assert();
    assert!(Options::command().render_long_help().to_string().contains("weft run -n 4 -- sor"));
}

#[test]
fn the_default_is_the_problem_of_the_thesis() {
    let problem = parse(&[]).expect("nothing is needed").problem();
    assert_eq!((problem.rows, problem.columns, problem.iterations), (1536, 1536, 42));
    assert!(problem.omega > 1.99 && problem.omega < 2.0);
}

#[test]
fn what_makes_no_sense_is_refused_with_its_reason() {
    let refused = [
        (["--rows", "0"], "1..=1000000"),
        (["--columns", "-3"], "--columns"),
        (["--iterations", "0"], "--iterations"),
        (["--tolerance", "-1"], "0 or greater"),
        (["--tolerance", "NaN"], "0 or greater"),
        (["--omega", "2"], "between 0 and 2"),
        (["--omega", "x"], "between 0 and 2"),
    ];
    for (arguments, reason) in refused {
        let [option, value] = arguments;
        let error = parse(&[&format!("{option}={value}")]).expect_err("makes no sense");
        assert!(error.contains(reason), "{arguments:?}: {error}");
    }
}
