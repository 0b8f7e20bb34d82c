//! The whole text of every diagnostic. The cases are in `tests/diagnostics`: `NAME.orca`, and what
//! is said about it in `NAME.txt`. `ORCA_BLESS=1 cargo test -p weft-orca` writes the texts anew, to
//! be read before they are committed.

use weft_orca::diagnostics::Code;

use super::{diagnostics_of, files, read};

#[test]
fn every_text_is_as_it_was() {
    let bless = std::env::var_os("ORCA_BLESS").is_some();
    for path in files("tests/diagnostics", "orca") {
        let name = path.file_name().expect("name").to_string_lossy().into_owned();
        let found = diagnostics_of(&name, &read(&path));
        let expected = path.with_extension("txt");
        if bless {
            std::fs::write(&expected, &found).expect("written");
        }
        assert_eq!(found, read(&expected), "{name}");
    }
}

#[test]
fn every_kind_of_diagnostic_has_a_case() {
    let cases = files("tests/diagnostics", "txt");
    for code in Code::ALL {
        let begins = |path: &std::path::Path| {
            let name = path.file_name().expect("name").to_string_lossy().into_owned();
            name.starts_with(&code.to_string()) && read(path).contains(&format!("[{code}]"))
        };
        assert!(cases.iter().any(|path| begins(path)), "no case of {code} {code:?}");
    }
}

/// One error is one diagnostic: the lines of a case with one are as many as it says.
#[test]
fn an_error_has_no_consequences() {
    let text = "process OrcaMain();\n  x: Nothing;\nbegin\n  x := x.a + x[1] * x$f(x);\nend;\n";
    let found = diagnostics_of("once.orca", text);
    assert_eq!(found.matches("Error:").count(), 1, "{found}");
}

#[test]
fn a_name_that_is_nowhere_is_no_consequence_of_another_error() {
    let broken = "process OrcaMain();\n  x: Nothing;\n  y: integer;\nbegin\n  y := ;\nend;\n";
    let found = diagnostics_of("both.orca", broken);
    assert_eq!(found.matches("Error:").count(), 2, "{found}");
    assert!(found.contains("[O101] Error: `Nothing` is not declared"), "{found}");
    assert!(found.contains("[O003] Error: "), "{found}");
    // Of one whose declaration cannot be read that is said alone.
    let skipped = "type Thing = ;\nprocess OrcaMain();\n  x: Thing;\nbegin\nend;\n";
    let found = diagnostics_of("skipped.orca", skipped);
    assert_eq!((found.matches("Error:").count(), found.contains("O101")), (1, false), "{found}");
}
