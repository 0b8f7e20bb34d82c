//! Programs of tests, as they are recorded and run.

use super::*;

#[test]
fn a_program_runs_as_it_was_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let words = ["/bin/sh", "-c", "pwd; echo \"$CARGO_PKG_NAME $0\"; exit 3", "two words"];
    record(folder.path(), &words.map(Into::into)).unwrap();
    let program = Recorded::read(&folder.path().join("0000")).unwrap();
    let output = program.command().output().unwrap();
    let here = std::env::current_dir().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert_eq!(said, format!("{}\nxtask two words\n", here.display()));
    assert_eq!(output.status.code(), Some(3));
    std::fs::write(folder.path().join("0001"), "no program").unwrap();
    assert!(Recorded::read(&folder.path().join("0001")).is_err());
}

#[test]
fn closing_lines_are_added_up() {
    let text = "running 2 tests\n..\ntest result: ok. 2 passed; 0 failed; 0 ignored\n\
                test result: FAILED. 3 passed; 1 failed; 0 ignored\n";
    assert_eq!(passed(text), 5);
    assert_eq!(passed("no test"), 0);
}
