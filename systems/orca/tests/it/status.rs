//! The command: what it prints where, and its exit status.

use std::process::{Command, Output};

use clap::CommandFactory;

use super::{folder, read};

fn orcac(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_orcac"));
    command.args(arguments).env("NO_COLOR", "1").output().expect("orcac runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn arguments_are_consistent() {
    weft_orca::Arguments::command().debug_assert();
}

#[test]
fn a_good_program_is_checked_in_silence() {
    let program = folder("programs/tsp.orca").display().to_string();
    let output = orcac(&["check", &program]);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(text(&output.stdout) + &text(&output.stderr), "");
}

#[test]
fn what_has_no_translation_is_refused_with_its_place() {
    let bounds = "process OrcaMain();\n  n: integer;\n  type R = record a: array[1..n + 1] of real; end;\n  \
                  r: R;\nbegin\nend;\n";
    let twice = "type A = array[integer] of integer;\nfunction f(a: out A; b: out integer);\nbegin\nend;\n\
                 process OrcaMain();\n  a: A[0..1];\nbegin\n  f(a, a[0]);\nend;\n";
    let cases = [
        (bounds, "3:31", "bounds of a field that depend on a variable"),
        (twice, "8:8", "a variable that is changed as a whole and in parts at once"),
    ];
    let folder = tempfile::tempdir().expect("folder");
    for (text, place, what) in cases {
        let path = folder.path().join("program.orca");
        std::fs::write(&path, text).expect("written");
        let path = path.display().to_string();
        assert_eq!(orcac(&["check", &path]).status.code(), Some(0), "{text}");
        let output = orcac(&["build", &path]);
        let errors = self::text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{text}");
        assert!(errors.contains(&format!("[O007] Error: {what}")), "{errors}");
        assert!(errors.contains(&format!("program.orca:{place}")), "{errors}");
    }
}

#[test]
fn a_program_without_a_beginning_is_no_program() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("part.orca");
    std::fs::write(&path, "function f(); begin end;").expect("written");
    let path = path.display().to_string();
    assert_eq!(orcac(&["check", &path]).status.code(), Some(0));
    let output = orcac(&["run", &path]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("no process `OrcaMain`"));
}

#[test]
fn errors_name_the_file_and_fail() {
    let program = folder("tests/diagnostics/O308-exit.orca").display().to_string();
    let output = orcac(&["check", &program]);
    assert_eq!(output.status.code(), Some(1));
    let errors = text(&output.stderr);
    assert!(errors.starts_with("[O308] Error: `exit` outside of a loop"), "{errors}");
    assert!(errors.contains("O308-exit.orca:3:3"), "{errors}");
    assert!(errors.ends_with("orcac: 1 error\n"), "{errors}");
}

#[test]
fn a_missing_file_is_named() {
    let output = orcac(&["check", "no-such.orca"]);
    assert_eq!(output.status.code(), Some(1));
    let errors = text(&output.stderr);
    assert!(errors.starts_with("orcac: no-such.orca cannot be read: "), "{errors}");
    assert!(errors.ends_with("; is the name right?\n"), "{errors}");
}

#[test]
fn bad_usage_has_a_status_of_its_own() {
    for arguments in [&["check"][..], &["fmt"], &["compile", "x.orca"], &[]] {
        assert_eq!(orcac(arguments).status.code(), Some(2), "{arguments:?}");
    }
}

#[test]
fn a_file_in_the_place_of_a_command_was_to_be_run() {
    let output = orcac(&["sieve.orca"]);
    assert_eq!(output.status.code(), Some(2));
    let expected = "orcac: 'sieve.orca' is no command: did you mean 'orcac run sieve.orca'?\n";
    assert_eq!(text(&output.stderr), expected);
}

#[test]
fn help_has_examples() {
    for arguments in [&["--help"][..], &["check", "--help"], &["fmt", "--help"]] {
        let output = orcac(arguments);
        assert_eq!(output.status.code(), Some(0));
        assert!(text(&output.stdout).contains("Examples:"), "{arguments:?}");
    }
}

#[test]
fn files_are_formatted_in_place() {
    let directory = tempfile::tempdir().expect("directory");
    let path = directory.path().join("a.orca");
    let name = path.display().to_string();
    std::fs::write(&path, "process OrcaMain();begin x:integer;x:=1;end;").expect("written");
    let output = orcac(&["fmt", "--check", &name]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(text(&output.stdout), format!("{name}\n"));
    assert_eq!(orcac(&["fmt", &name]).status.code(), Some(0));
    assert_eq!(read(&path), "process OrcaMain();\nbegin\n  x: integer;\n  x := 1;\nend;\n");
    assert_eq!(orcac(&["fmt", "--check", &name]).status.code(), Some(0));
}

#[test]
fn a_formatted_file_keeps_its_permissions_and_its_links() {
    use std::os::unix::fs::PermissionsExt;
    let directory = tempfile::tempdir().expect("directory");
    let (path, link) = (directory.path().join("a.orca"), directory.path().join("link.orca"));
    std::fs::write(&path, "process OrcaMain();begin end;").expect("written");
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o640)).expect("permitted");
    std::os::unix::fs::symlink("a.orca", &link).expect("linked");
    assert_eq!(orcac(&["fmt", &link.display().to_string()]).status.code(), Some(0));
    assert_eq!(read(&path), "process OrcaMain();\nbegin\nend;\n");
    assert!(link.is_symlink());
    assert_eq!(path.metadata().expect("there").permissions().mode() & 0o777, 0o640);
    assert_eq!(directory.path().read_dir().expect("read").count(), 2, "nothing is left beside");
}

/// A process that may write no byte finds what another does on a full disk.
#[test]
fn a_file_that_cannot_be_written_stays_as_it_is() {
    let directory = tempfile::tempdir().expect("directory");
    let path = directory.path().join("a.orca");
    let text = "process OrcaMain();begin end;";
    std::fs::write(&path, text).expect("written");
    let script = "trap '' XFSZ; ulimit -f 0; exec \"$0\" fmt \"$1\"";
    let mut shell = Command::new("sh");
    shell.args(["-c", script, env!("CARGO_BIN_EXE_orcac")]).arg(&path);
    let output = shell.output().expect("the shell runs");
    assert_eq!(output.status.code(), Some(1));
    assert!(self::text(&output.stderr).contains("a.orca cannot be written: File too large"));
    assert_eq!(read(&path), text);
    assert_eq!(directory.path().read_dir().expect("read").count(), 1, "nothing is left beside");
}

#[test]
fn nothing_is_written_over_a_source() {
    let directory = tempfile::tempdir().expect("directory");
    let path = directory.path().join("a.orca");
    let text = "process OrcaMain();\nbegin\nend;\n";
    std::fs::write(&path, text).expect("written");
    let (name, folder) = (path.display().to_string(), directory.path().display());
    let other = format!("{folder}/./a.orca");
    for arguments in [&["build", "-o", &other, &name][..], &["build", "--c", "-o", &name, &other]] {
        let output = orcac(arguments);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        assert!(self::text(&output.stderr).contains("would have the name of its source"));
        assert_eq!(read(&path), text);
    }
}

#[test]
fn a_file_with_errors_stays_as_it_is() {
    let directory = tempfile::tempdir().expect("directory");
    let path = directory.path().join("a.orca");
    std::fs::write(&path, "process OrcaMain(; begin end;").expect("written");
    assert_eq!(orcac(&["fmt", &path.display().to_string()]).status.code(), Some(1));
    assert_eq!(read(&path), "process OrcaMain(; begin end;");
}

#[test]
fn several_files_are_one_program() {
    let directory = tempfile::tempdir().expect("directory");
    let write = |name: &str, text: &str| {
        let path = directory.path().join(name);
        std::fs::write(&path, text).expect("written");
        path.display().to_string()
    };
    let specification = "object specification Int;\n  operation inc();\nend;\n";
    let implementation = "object implementation Int;\n  x: integer;\n  operation inc();\n  begin\n    \
                          x +:= 1;\n  end;\nend;\n";
    let main = "import Int;\nprocess OrcaMain();\n  x: Int;\nbegin\n  x$inc();\nend;\n";
    let specification = write("spec.orca", specification);
    let implementation = write("int.orca", implementation);
    let main = write("main.orca", main);
    let output = orcac(&["check", &main, &specification, &implementation]);
    assert_eq!(text(&output.stderr), "");
    let output = orcac(&["check", &main, &specification]);
    assert!(text(&output.stderr).contains("`object implementation Int`"));
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn instances_may_be_in_other_files_than_what_is_generic() {
    let directory = tempfile::tempdir().expect("directory");
    let write = |name: &str, text: &str| {
        let path = directory.path().join(name);
        std::fs::write(&path, text).expect("written");
        path.display().to_string()
    };
    let specification = write(
        "spec.orca",
        "generic (type T)\nobject specification Cell;\n  operation Put(x: T);\nend generic;\n",
    );
    let implementation = write(
        "cell.orca",
        "import Cell;\ntype Numbers = array[integer] of real;\nobject Rows = new Cell(Numbers);\n\
         generic\nobject implementation Cell;\n  value: T;\n  operation Put(x: T);\n  begin\n    \
         value := x;\n  end;\nend generic;\n",
    );
    let main = "import Cell;\nimport Rows;\nobject Texts = new Cell(string);\n\
                process OrcaMain();\n  rows: Rows;\n  texts: Texts;\nbegin\n  \
                rows$Put([1.0, 2.0]);\n  texts$Put(\"abc\");\nend;\n";
    let main_file = write("main.orca", main);
    let output = orcac(&["check", &main_file, &specification, &implementation]);
    assert_eq!(text(&output.stderr), "");
    let unseen = write("unseen.orca", &main.replace("import Cell;\n", ""));
    let output = orcac(&["check", &unseen, &specification, &implementation]);
    let errors = text(&output.stderr);
    assert!(errors.contains("`Cell` is not declared"), "{errors}");
    assert!(errors.contains("write `import Cell;` first"), "{errors}");
    assert!(errors.ends_with("orcac: 1 error\n"), "{errors}");
}

#[test]
fn what_is_generic_is_no_part_of_a_program_without_instances() {
    let directory = tempfile::tempdir().expect("directory");
    let path = directory.path().join("a.orca").display().to_string();
    let generic = "generic (type T)\nobject implementation Cell;\n  value: T;\n  \
                   operation Remember(x: T);\n  begin\n    value := x;\n  end;\nend generic;\n";
    let main = "process OrcaMain();\nbegin\nend;\n";
    for (instance, count) in [("", 0), ("object A = new Cell(real);\n", 1)] {
        std::fs::write(&path, format!("{generic}{instance}{main}")).expect("written");
        let c = text(&orcac(&["build", "--c", &path]).stdout);
        assert_eq!(c.matches("{\"Remember\", ").count(), count, "{c}");
    }
}

#[test]
fn of_very_many_errors_the_first_are_shown() {
    let directory = tempfile::tempdir().expect("directory");
    let path = directory.path().join("a.orca");
    let text = format!("process OrcaMain();\nbegin\n{}end;\n", "  exit;\n".repeat(150));
    std::fs::write(&path, text).expect("written");
    let errors = text_of_errors(&path.display().to_string());
    assert_eq!(errors.matches("[O308]").count(), 100);
    assert!(errors.ends_with("orcac: 150 errors, of which these are the first\n"), "{errors}");
}

fn text_of_errors(path: &str) -> String {
    text(&orcac(&["check", path]).stderr)
}
