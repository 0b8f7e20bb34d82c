use super::*;

#[test]
fn an_error_of_many_lines_becomes_one() {
    let error = "error: the following required arguments were not provided:\n  <PROGRAM>...\n\n\
                 Usage: weft run <PROGRAM>...\n\nFor more information, try '--help'.\n";
    assert_eq!(
        one_line(error, "weft"),
        "the following required arguments were not provided: <PROGRAM>... (weft run --help shows examples)"
    );
}

#[test]
fn a_tip_is_a_clause_of_its_own_and_none_tells_how_to_run_the_mistake() {
    let error = "error: unexpected argument '--rank' found\n\n  tip: a similar argument exists: '--ranks'\n  \
                 tip: to pass '--rank' as a value, use '-- --rank'\n\nUsage: weft run --ranks <P> <PROGRAM>...\n\n\
                 For more information, try '--help'.\n";
    assert_eq!(
        one_line(error, "weft"),
        "unexpected argument '--rank' found; a similar argument exists: '--ranks' (weft run --help shows examples)"
    );
    assert_eq!(one_line("error: no\n", "weft"), "no (weft --help shows examples)");
}

#[test]
fn the_command_that_was_typed_has_the_help() {
    let typed = |words: &str| typed(words.split(' ').map(str::to_owned));
    assert_eq!(typed("/usr/bin/weft run -n four ./p"), "weft run");
    assert_eq!(typed("weft -n 4"), "weft");
    assert_eq!(typed("weft ./p"), "weft");
    assert_eq!(typed("/a/weft-inspect why abc"), "weft why");
    assert_eq!(typed("weft-sim storm"), "weft sim");
    let error = "error: invalid value 'four' for '--ranks <P>': that is no number\n\n\
                 For more information, try '--help'.\n";
    let said = one_line(error, "weft run");
    let expected = "invalid value 'four' for '--ranks <P>': that is no number (weft run --help shows examples)";
    assert_eq!(said, expected);
}

#[test]
fn numbers_are_spoken_of_as_people_do() {
    let said = |why| plain(&format!("invalid value 'x' for '--seed <NUMBER>': {why}"));
    let seed = "invalid value 'x' for '--seed <NUMBER>': ";
    assert_eq!(said("invalid digit found in string"), format!("{seed}it is a whole number"));
    assert_eq!(said("1 is not in 2..=256"), format!("{seed}it is 2 to 256"));
    assert_eq!(plain("it is not in order"), "it is not in order");
}
