use super::usage;
use clap::Parser;

#[derive(Debug, Parser)]
struct Options {
    #[arg(long)]
    rows: u32,
}

#[test]
fn a_usage_error_names_the_option_and_says_error_never() {
    let error = Options::try_parse_from(["sor", "--rows", "many"]).expect_err("not a number");
    let text = usage(&error);
    assert!(text.contains("--rows"), "{text}");
    assert!(!text.contains("error:"), "{text}");
    assert!(text.contains("many"), "{text}");
}
