//! The manual pages and the headers say the same.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Sections that every page has, in this order.
const SECTIONS: [&str; 8] = [
    "NAME",
    "LIBRARY",
    "SYNOPSIS",
    "DESCRIPTION",
    "RETURN VALUES",
    "ERRORS",
    "EXAMPLES",
    "SEE ALSO",
];

fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The headers, one after the other.
fn header() -> String {
    let headers = ["include/weft.h", "include/weft-objects.h", "include/weft-sim.h"];
    headers.map(|header| std::fs::read_to_string(here().join(header)).unwrap()).concat()
}

/// The pages, by path, sorted.
fn pages() -> Vec<(PathBuf, String)> {
    let folder = std::fs::read_dir(here().join("man")).unwrap();
    let mut paths: Vec<PathBuf> = folder.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.into_iter().map(|path| (path.clone(), std::fs::read_to_string(path).unwrap())).collect()
}

/// The functions of the headers and their declarations.
pub fn declared() -> BTreeMap<String, String> {
    let header = header();
    let code: Vec<&str> =
        header.lines().map(str::trim).filter(|line| !line.starts_with(['/', '#'])).collect();
    let code = code.join(" ");
    let statements = code.split([';', '{', '}']).map(str::trim);
    let functions = statements.filter(|statement| statement.ends_with(')'));
    let functions = functions.filter(|statement| !statement.starts_with("typedef"));
    functions.map(|function| (name_of(function).to_owned(), spaced(function))).collect()
}

fn name_of(declaration: &str) -> &str {
    declaration.split('(').next().unwrap().rsplit([' ', '*']).next().unwrap()
}

fn spaced(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The functions in the SYNOPSIS of a page, as C declares them.
fn synopsis(page: &str) -> Vec<(String, String)> {
    let mut functions = vec![];
    let (mut result, mut name, mut arguments) = (String::new(), String::new(), vec![]);
    for line in section(page, "SYNOPSIS") {
        let (request, rest) = line.split_once(' ').unwrap_or((line, ""));
        let rest = rest.trim_matches('"');
        match request {
            ".Ft" => result = rest.to_owned(),
            ".Fo" => name = rest.to_owned(),
            ".Fa" => arguments.push(rest),
            ".Fc" => {
                let space = if result.ends_with('*') { "" } else { " " };
                let text = format!("{result}{space}{name}({})", arguments.join(", "));
                functions.push((name.clone(), text));
                arguments.clear();
            }
            _ => {}
        }
    }
    functions
}

/// The lines of a section.
fn section<'a>(page: &'a str, name: &'a str) -> impl Iterator<Item = &'a str> {
    let heading = format!(".Sh {name}");
    let lines = page.lines().skip_while(move |line| *line != heading).skip(1);
    lines.take_while(|line| !line.starts_with(".Sh "))
}

#[test]
fn each_function_is_on_one_page_as_the_header_declares_it() {
    let mut described = BTreeMap::new();
    for (path, page) in pages() {
        for (name, declaration) in synopsis(&page) {
            let before = described.insert(name.clone(), declaration);
            assert!(before.is_none(), "{name} is on two pages; {} is one", path.display());
        }
    }
    assert!(!described.is_empty());
    assert_eq!(described, declared());
}

#[test]
fn a_page_names_what_it_describes() {
    for (path, page) in pages() {
        let title = path.file_stem().unwrap().to_str().unwrap();
        let named: Vec<&str> = section(&page, "NAME")
            .filter_map(|line| line.strip_prefix(".Nm "))
            .map(|name| name.trim_end_matches(" ,"))
            .filter(|name| *name != title)
            .collect();
        let functions: Vec<String> = synopsis(&page).into_iter().map(|(name, _)| name).collect();
        // A page that has the name of a function names it as its own.
        let others: Vec<&String> = functions.iter().filter(|name| *name != title).collect();
        assert_eq!(named, others, "{}", path.display());
        let text = section(&page, "DESCRIPTION").collect::<Vec<_>>();
        for function in functions {
            let mentioned = text.contains(&format!(".Fn {function}").as_str())
                || text.contains(&format!(".Fn {function} .").as_str())
                || text.contains(&format!(".Fn {function} ,").as_str())
                || text.contains(&format!(".Fn {function} ;").as_str());
            assert!(mentioned, "{} does not say what {function} does", path.display());
        }
    }
}

#[test]
fn every_page_has_all_sections() {
    for (path, page) in pages() {
        let found: Vec<&str> = page.lines().filter_map(|line| line.strip_prefix(".Sh ")).collect();
        assert_eq!(found, SECTIONS, "{}", path.display());
        for section_name in found {
            let empty = section(&page, section_name).next().is_none();
            assert!(!empty, "{}: {section_name} is empty", path.display());
        }
    }
}

#[test]
fn every_status_is_on_the_first_page() {
    let header = header();
    let (statuses, _) = header.split_once("} weft_status;").unwrap();
    let statuses = statuses.lines().map(|line| line.trim().trim_end_matches([',', ' ', '=', '0']));
    let statuses: Vec<&str> =
        statuses.filter(|line| line.starts_with("WEFT_") && *line != "WEFT_OK").collect();
    assert!(statuses.len() > 10, "{statuses:?}");
    let page = std::fs::read_to_string(here().join("man/weft.3")).unwrap();
    let listed: Vec<&str> =
        section(&page, "ERRORS").filter_map(|line| line.strip_prefix(".It Bq Er ")).collect();
    assert_eq!(listed, statuses);
    for (path, page) in pages() {
        for line in section(&page, "ERRORS").filter(|line| line.starts_with(".Er ")) {
            assert!(statuses.contains(&&line[4..]), "{}: {line}", path.display());
        }
    }
}

#[test]
fn pages_refer_to_pages_and_functions_that_exist() {
    let declared = declared();
    for (path, page) in pages() {
        for line in page.lines().filter(|line| line.starts_with(".Xr weft")) {
            let name = line.split(' ').nth(1).unwrap();
            let page = here().join("man").join(name).with_extension("3");
            let known = page.exists() || declared.contains_key(name);
            assert!(known, "{}: {line}", path.display());
        }
    }
}

#[test]
fn man_formats_the_pages_without_a_warning() {
    for (path, _) in pages() {
        let mut man = Command::new("man");
        man.args(["--warnings=w", "--encoding=UTF-8", "--troff-device=utf8", "--local-file"]);
        let output = man.arg(&path).env("LC_ALL", "C.UTF-8").output().unwrap();
        let warnings = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && warnings.is_empty(), "{}: {warnings}", path.display());
        assert!(output.stdout.len() > 1000, "{}", path.display());
    }
}
