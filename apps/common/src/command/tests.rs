use super::*;

#[test]
fn an_error_of_many_lines_becomes_one() {
    let error = "error: the following required arguments were not provided:\n  <PROGRAM>...\n\n\
                 Usage: weft run <PROGRAM>...\n\nFor more information, try '--help'.\n";
    assert_eq!(
        one_line(error),
        "the following required arguments were not provided: <PROGRAM>... (weft --help shows examples)"
    );
}
