use super::*;

#[test]
fn an_error_of_many_lines_becomes_one() {
    let error = "error: the following required arguments were not provided:\n  <PROGRAM>...\n\n\
                 Usage: weft run <PROGRAM>...\n\nFor more information, try '--help'.\n";
    assert_eq!(
        one_line(error),
        "the following required arguments were not provided: <PROGRAM>... (weft run --help shows examples)"
    );
}

#[test]
fn a_tip_is_a_clause_of_its_own_and_none_tells_how_to_run_the_mistake() {
    let error = "error: unexpected argument '--rank' found\n\n  tip: a similar argument exists: '--ranks'\n  \
                 tip: to pass '--rank' as a value, use '-- --rank'\n\nUsage: weft run --ranks <P> <PROGRAM>...\n\n\
                 For more information, try '--help'.\n";
    assert_eq!(
        one_line(error),
        "unexpected argument '--rank' found; a similar argument exists: '--ranks' (weft run --help shows examples)"
    );
    assert_eq!(one_line("error: no\n"), "no (weft --help shows examples)");
}
