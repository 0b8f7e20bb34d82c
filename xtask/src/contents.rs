//! Crates of which what is packaged consists: a bill of materials, and their licences.

mod crates;

use anyhow::{Context, Result};
use crates::{Contents, Package};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

/// The time that whoever wants the same bytes each time names, in seconds since 1970.
const EPOCH: &str = "SOURCE_DATE_EPOCH";
/// Beginnings of the names of files that have texts of licences.
const TEXTS: [&str; 5] = ["LICENSE", "LICENCE", "COPYING", "NOTICE", "UNLICENSE"];

/// Bill of materials as CycloneDX 1.5 has it: a component for each crate, and who needs whom.
///
/// # Errors
/// Cargo cannot tell.
pub fn sbom(root: &Path) -> Result<String> {
    let contents = Contents::read(root)?;
    let components: Vec<Value> = contents.packages().map(|one| component(&contents, one)).collect();
    let needs = contents.packages().map(|package| {
        let others: Vec<String> = contents.needs(package).map(reference).collect();
        json!({ "ref": reference(package), "dependsOn": others })
    });
    let version = contents.version();
    let whole =
        json!({ "type": "application", "bom-ref": "weft", "name": "weft", "version": version });
    let all = json!({
        "ref": "weft",
        "dependsOn": contents.shipped().map(reference).collect::<Vec<_>>(),
    });
    let mut metadata = json!({ "component": whole });
    if let Ok(seconds) = std::env::var(EPOCH) {
        let seconds =
            seconds.parse().with_context(|| format!("{EPOCH} is no number of seconds"))?;
        let time = humantime::format_rfc3339_seconds(UNIX_EPOCH + Duration::from_secs(seconds));
        metadata["timestamp"] = time.to_string().into();
    }
    let bill = json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": metadata,
        "components": components,
        "dependencies": std::iter::once(all).chain(needs).collect::<Vec<_>>(),
    });
    Ok(serde_json::to_string_pretty(&bill)? + "\n")
}

fn component(contents: &Contents, package: &Package) -> Value {
    let mut component = json!({
        "type": "library",
        "bom-ref": reference(package),
        "name": package.name,
        "version": package.version,
        "licenses": [{ "expression": package.expression() }],
    });
    if package.is_foreign() {
        component["purl"] = reference(package).into();
    }
    if let Some(checksum) = contents.checksum(package) {
        component["hashes"] = json!([{ "alg": "SHA-256", "content": checksum }]);
    }
    if let Some(url) = &package.repository {
        component["externalReferences"] = json!([{ "type": "vcs", "url": url }]);
    }
    component
}

/// Name of a crate in a bill: its address among packages, if it is another's.
fn reference(package: &Package) -> String {
    let Package { name, version, .. } = package;
    if package.is_foreign() {
        format!("pkg:cargo/{name}@{version}")
    } else {
        format!("{name}@{version}")
    }
}

/// Licences of all crates that are not Weft's: which each has, and all texts, each once.
///
/// # Errors
/// Cargo cannot tell, or a text cannot be read.
pub fn licences(root: &Path) -> Result<String> {
    let contents = Contents::read(root)?;
    let mut texts: BTreeMap<String, usize> = BTreeMap::new();
    let mut list = vec![];
    for package in contents.packages().filter(|package| package.is_foreign()) {
        let mut numbers = vec![];
        for text in texts_of(&package.folder())? {
            let next = texts.len() + 1;
            numbers.push(format!("{}", texts.entry(text).or_insert(next)));
        }
        let texts = match numbers.len() {
            0 => "without a text of its own".to_owned(),
            1 => format!("text {}", numbers[0]),
            _ => format!("texts {}", numbers.join(", ")),
        };
        list.push(format!(
            "{} {}: {}; {texts}",
            package.name,
            package.version,
            package.expression()
        ));
    }
    let mut numbered: Vec<_> = texts.into_iter().map(|(text, number)| (number, text)).collect();
    numbered.sort();
    let texts = numbered
        .iter()
        .map(|(number, text)| format!("\n---------- text {number} ----------\n\n{text}\n"));
    Ok(format!(
        "Programs and libraries of Weft have parts of these crates inside, by these licences. Their texts\n\
         follow; of those without one it is what https://spdx.org/licenses has by that name.\n\n{}\n{}",
        list.join("\n"),
        texts.collect::<String>()
    ))
}

/// Texts of licences in the folder of a crate, in the order of their files' names.
fn texts_of(folder: &Path) -> Result<Vec<String>> {
    let entries = fs::read_dir(folder).with_context(|| format!("no {}", folder.display()))?;
    let mut files: Vec<_> =
        entries.map(|entry| entry.map(|entry| entry.path())).collect::<Result<_, _>>()?;
    files.retain(|file| {
        let name = file.file_name().unwrap_or_default().to_string_lossy().to_uppercase();
        TEXTS.iter().any(|text| name.starts_with(text)) && file.is_file()
    });
    files.sort();
    let read = |file: &std::path::PathBuf| {
        let bytes = fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
        Ok(String::from_utf8_lossy(&bytes).replace('\r', "").trim_matches('\n').to_owned())
    };
    files.iter().map(read).collect()
}

#[cfg(test)]
mod tests;
