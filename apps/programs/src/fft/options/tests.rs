use super::Options;
use clap::{CommandFactory, Parser};

fn parse(arguments: &[&str]) -> Result<Options, String> {
    let command = std::iter::once("fft").chain(arguments.iter().copied());
    Options::try_parse_from(command).map_err(|error| error.to_string())
}

#[test]
fn the_command_is_consistent_and_help_has_examples() {
    Options::command().debug_assert();
    assert!(Options::command().render_long_help().to_string().contains("weft run -n 4 -- fft"));
}

#[test]
fn the_default_is_the_problem_of_the_thesis() {
    let options = parse(&[]).expect("nothing is needed");
    assert_eq!((options.points, options.side()), (1_048_576, 1024));
    assert!(options.coherence.policy().three_party);
    assert_eq!(parse(&["--points", "4"]).expect("the smallest").side(), 2);
}

#[test]
fn points_that_are_no_square_are_refused() {
    for points in ["0", "1", "2", "8", "100", "67108864", "many", "-4"] {
        let error = parse(&[&format!("--points={points}")]).expect_err("no square");
        assert!(error.contains("a square matrix whose side is a power of two"), "{error}");
    }
}
