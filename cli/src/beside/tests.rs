use super::*;

fn words(typed: &str) -> Vec<OsString> {
    typed.split(' ').map(Into::into).collect()
}

#[test]
fn help_is_asked_of_the_command_itself() {
    for (typed, meant) in [
        ("weft help bench", "weft bench --help"),
        ("weft help", "weft help"),
        ("weft run help x", "weft run help x"),
    ] {
        assert_eq!(with_help_last(words(typed)), words(meant));
    }
}
