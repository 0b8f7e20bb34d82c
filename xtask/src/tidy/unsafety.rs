//! Placement of `unsafe`: in the modules that `ARCHITECTURE.md` lists, and nowhere else.

use super::finding::Finding;
use super::lexer::{line_of, words};
use super::manifest::Manifest;
use super::tree::{Tree, is_inside};

/// The page with the list, and the heading above it.
const PAGE: &str = "ARCHITECTURE.md";
const HEADING: &str = "Modules that may use `unsafe`";
const FORBID: &str = "#![forbid(unsafe_code)]";

/// Applies the rule to every source and every crate.
pub fn check(tree: &Tree, findings: &mut Vec<Finding>) {
    let listed = match tree.file(PAGE).map(|page| listed_modules(&page.text)) {
        Some(Some(listed)) => listed,
        missing => {
            let what =
                if missing.is_none() { "the page is missing" } else { "the list is missing" };
            findings.push(Finding {
                path: PAGE.into(),
                line: 1,
                rule: "unsafe",
                what: format!("{what}: a fenced block under the heading '{HEADING}'"),
                reason: "whoever reviews memory safety reads these modules and no others".into(),
            });
            vec![]
        }
    };
    for source in &tree.sources {
        if listed.iter().any(|module| contains(module, &source.path)) {
            continue;
        }
        let blocks =
            words(&source.split.code, "unsafe").filter(|&at| !is_export(&source.split.code[at..]));
        findings.extend(blocks.map(|at| Finding {
            path: source.path.clone(),
            line: line_of(&source.split.code, at),
            rule: "unsafe",
            what: format!("unsafe in a module that {PAGE} does not list"),
            reason: "unsafe code is in few modules, each small enough to be proved".into(),
        }));
    }
    for manifest in tree.manifests.iter().filter(|manifest| manifest.is_package()) {
        if !listed.iter().any(|module| is_owner(tree, manifest, module)) {
            check_roots(tree, manifest, findings);
        }
    }
}

/// Finds modules in the list that are gone, or are without unsafe code.
pub fn check_list(tree: &Tree, findings: &mut Vec<Finding>) {
    let Some(page) = tree.file(PAGE) else { return };
    for module in listed_modules(&page.text).unwrap_or_default() {
        let mut sources = tree.sources.iter().filter(|source| contains(&module, &source.path));
        if !sources.any(|source| words(&source.split.code, "unsafe").next().is_some()) {
            let at = page.text.find(&format!("\n{module}\n")).map_or(0, |before| before + 1);
            findings.push(Finding {
                path: PAGE.into(),
                line: line_of(&page.text, at),
                rule: "unsafe",
                what: format!("there is no unsafe code in {module}"),
                reason: "whoever reviews memory safety finds in the list what there is".into(),
            });
        }
    }
}

/// True if this is the attribute of a function that C calls under a name of ours. Others could take
/// the place of a function of somebody else's, `malloc` for one; ours are nobody else's.
fn is_export(code: &str) -> bool {
    let function = code.strip_prefix("unsafe(no_mangle)]").map(str::trim_start);
    let declared = function.and_then(|function| function.strip_prefix("pub extern"));
    let named = declared.and_then(|declared| declared.split_once("fn "));
    named.is_some_and(|(abi, name)| abi.len() < 8 && name.starts_with("weft_"))
}

/// The lines of the first fenced block under the heading, one module each.
fn listed_modules(page: &str) -> Option<Vec<String>> {
    let mut lines = page.lines();
    lines.find(|line| line.starts_with('#') && line.trim_start_matches('#').trim() == HEADING)?;
    let mut section = lines.take_while(|line| !line.starts_with('#'));
    section.find(|line| line.starts_with("```"))?;
    let block = section.take_while(|line| !line.starts_with("```"));
    Some(block.map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect())
}

/// True if the file at `path` is `module` or one of the modules inside it.
fn contains(module: &str, path: &str) -> bool {
    let folder = module.strip_suffix("/mod.rs").or(module.strip_suffix(".rs")).unwrap_or(module);
    path == module || is_inside(folder, path)
}

/// True if the file at `path` belongs to the crate of `manifest`.
fn is_owner(tree: &Tree, manifest: &Manifest, path: &str) -> bool {
    tree.owner(path).is_some_and(|owner| owner.folder == manifest.folder)
}

/// Every crate root, library and programs, forbids `unsafe`.
fn check_roots(tree: &Tree, manifest: &Manifest, findings: &mut Vec<Finding>) {
    let src = format!("{}/src/", manifest.folder);
    for source in &tree.sources {
        let Some(name) = source.path.strip_prefix(&src) else { continue };
        let program = name.strip_prefix("bin/").is_some_and(|name| !name.contains('/'));
        let root = name == "lib.rs" || name == "main.rs" || program;
        if root && !source.split.code.contains(FORBID) {
            findings.push(Finding {
                path: source.path.clone(),
                line: 1,
                rule: "unsafe",
                what: format!("{FORBID} is missing"),
                reason: "the compiler checks what this rule only guesses".into(),
            });
        }
    }
}

#[cfg(test)]
mod tests;
