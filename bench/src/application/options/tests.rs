use super::{Options, SizeName};
use crate::suite::{Application, Size};
use clap::{CommandFactory, Parser};

fn parse(words: &str) -> Result<Options, String> {
    let words = std::iter::once("weft application").chain(words.split_whitespace());
    Options::try_parse_from(words).map_err(|error| error.to_string())
}

#[test]
fn the_command_is_consistent_and_help_has_examples() {
    Options::command().debug_assert();
    let help = Options::command().render_long_help().to_string();
    assert!(help.contains("weft application all -n 4 --threads"), "{help}");
}

#[test]
fn names_name_applications() {
    let options = parse("all").unwrap();
    assert_eq!(options.chosen().collect::<Vec<_>>(), Application::ALL);
    assert!(options.is_rank());
    let options = parse("qr puzzle4 -n 2 --size small").unwrap();
    assert_eq!(options.chosen().collect::<Vec<_>>(), [Application::Qr, Application::Puzzle4]);
    assert_eq!((options.is_rank(), options.size), (false, Some(SizeName::Small)));
    assert!(!parse("--list").unwrap().is_rank());
}

#[test]
fn problems_are_the_thesis_s_on_simulated_ranks_and_fit_the_host_on_others() {
    let options = parse("radix").unwrap();
    let words = |simulated| options.sized(simulated).words_for(Application::Radix).join(" ");
    assert_eq!(words(true), "--two-party");
    assert!(words(false).contains("--region-bytes"), "{}", words(false));
    let small = parse("radix --size small").unwrap();
    assert_eq!(
        small.sized(true).words_for(Application::Radix),
        small.words_for(Application::Radix)
    );
    assert_eq!(small.size(), Size::Small);
}

#[test]
fn other_words_are_the_application_s() {
    let options = parse("leq -n 4 -- --unknowns 50").unwrap();
    assert_eq!(options.words_for(Application::Leq), ["--unknowns", "50"]);
    assert_eq!(options.problem(Application::Leq), "--unknowns 50");
}

#[test]
fn what_makes_no_sense_is_refused_with_its_reason() {
    for (words, reason) in [
        ("ludo", "there is no application 'ludo'; there are asp, awari"),
        ("", "<APPLICATION>"),
        ("asp --threads", "--ranks"),
        ("asp -n 4 --simulated --threads", "--simulated"),
        ("asp -n 4 --bare 2", "--bare"),
        ("asp -n 0", "1.."),
    ] {
        let error = parse(words).unwrap_err();
        assert!(error.contains(reason), "{words}: {error}");
    }
}
