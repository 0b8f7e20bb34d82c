use super::*;

#[test]
fn a_shell_takes_words_as_they_were() {
    let words = ["mpirun", "-n", "4", "./my program", "it's", "", "FI_PROVIDER_PATH=/a"];
    let expected = r"mpirun -n 4 './my program' 'it'\''s' '' FI_PROVIDER_PATH=/a";
    assert_eq!(command_line(words.iter()), expected);
}
