//! The programs of this crate and of the guide, and the figures of the thesis.

use weft_orca::diagnostics::Code;
use weft_orca::format::format;
use weft_orca::parser::{FileParser, Parsed};
use weft_orca::source::Sources;

use super::{diagnostics_of, files, folder, read, source};

fn parse(sources: &Sources) -> Parsed {
    let file = sources.ids().next().expect("one file");
    FileParser::default().parse(sources, file)
}

/// A tree without places and numbers of expressions.
fn shape(parsed: &Parsed) -> String {
    let text = format!("{:#?}", parsed.file.declarations);
    let places = |line: &&str| !line.contains('@') && !line.trim().starts_with("id:");
    let number = |line: &&str| line.trim().trim_end_matches(',').parse::<u32>().is_err();
    text.lines().filter(places).filter(number).collect::<Vec<_>>().join("\n")
}

/// The text of a file, formatted, once it has been checked that formatting keeps the tree and the
/// comments, and changes nothing the second time.
fn formatted(name: &str, text: &str) -> String {
    let sources = source(name, text);
    let parsed = parse(&sources);
    let once = format(&sources, &parsed.file, &parsed.comments);
    let again = source(name, &once);
    let reparsed = parse(&again);
    assert!(reparsed.diagnostics.is_empty(), "{name}: {:?}\n{once}", reparsed.diagnostics);
    assert_eq!(shape(&parsed), shape(&reparsed), "{name}");
    let comments = |sources: &Sources, parsed: &Parsed| -> Vec<String> {
        let texts = parsed.comments.iter().map(|span| sources.text(*span).trim_end().to_owned());
        texts.collect()
    };
    assert_eq!(comments(&sources, &parsed), comments(&again, &reparsed), "{name}");
    assert_eq!(once, format(&again, &reparsed.file, &reparsed.comments), "{name}");
    once
}

#[test]
fn programs_have_no_errors() {
    let programs = files("programs", "orca");
    assert!(programs.len() >= 5);
    for path in programs {
        assert_eq!(diagnostics_of(&path.display().to_string(), &read(&path)), "");
    }
}

#[test]
fn programs_are_formatted_but_for_the_figures() {
    for path in files("programs", "orca") {
        let name = path.display().to_string();
        let text = read(&path);
        let formatted = formatted(&name, &text);
        // The figures stand as they were printed.
        if !name.ends_with("counter.orca") && !name.ends_with("shapes.orca") {
            assert_eq!(formatted, text, "{name}");
        }
    }
}

#[test]
fn what_has_errors_is_formatted_if_it_can_be_parsed() {
    for path in files("tests/diagnostics", "orca") {
        let name = path.display().to_string();
        let text = read(&path);
        if parse(&source(&name, &text)).diagnostics.is_empty() {
            formatted(&name, &text);
        }
    }
}

#[test]
fn the_figures_as_printed_lack_only_what_they_leave_out() {
    let text = read(&folder("tests/figures/counter.orca"));
    let sources = source("counter.orca", &text);
    let diagnostics = weft_orca::front_end(&sources).expect_err("two ellipses");
    let codes: Vec<Code> = diagnostics.iter().map(|diagnostic| diagnostic.code).collect();
    assert_eq!(codes, [Code::Placeholder, Code::Placeholder]);
    let rest: String = text.lines().filter(|line| line.trim() != "...").map(with_end).collect();
    assert_eq!(diagnostics_of("counter.orca", &rest), "");
    let records = read(&folder("tests/figures/records.orca"));
    assert_eq!(diagnostics_of("records.orca", &records), "");
}

fn with_end(line: &str) -> String {
    format!("{line}\n")
}

/// The programs of the guide, between lines with three backquotes.
#[test]
fn programs_of_the_guide_have_no_errors() {
    let guide = read(&folder("../../docs/guide/orca.md"));
    let programs: Vec<&str> =
        guide.split("```orca\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert!(programs.len() >= 3, "{}", programs.len());
    for (number, text) in programs.iter().enumerate() {
        let name = format!("program {} of the guide", number + 1);
        assert_eq!(diagnostics_of(&name, text), "");
        assert_eq!(formatted(&name, text), *text);
    }
}
