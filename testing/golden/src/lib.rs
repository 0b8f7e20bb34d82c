//! Golden lists: files that say how formats and interfaces are, which other people's programs and
//! other releases count on. A test holds a list against what the code says now. Whoever means a
//! change writes the list again, by the same test with `WEFT_GOLDEN=write` in its environment, and
//! does what the test's advice says.

#![forbid(unsafe_code)]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;
use std::fs;
use std::path::Path;

/// The environment variable by which lists are written instead.
const WRITE: &str = "WEFT_GOLDEN";

/// Advice of a list of what ranks say to one another, whichever layer says it.
pub const BETWEEN_RANKS: &str = "ranks of other builds would read the bytes otherwise: raise VERSION in \
     wire/src/envelope.rs, for what travels between hosts, and that of launch/src/messages/format.rs, by \
     which ranks of one host refuse each other";

/// Entries of a list by their names.
pub type Entries = BTreeMap<String, String>;

/// Adds bytes to the entries of a list.
///
/// # Panics
/// There is an entry of this name.
pub fn add(entries: &mut Entries, name: impl Into<String>, bytes: impl AsRef<[u8]>) {
    let name = name.into();
    let before = entries.insert(name.clone(), hex(bytes.as_ref()));
    assert_eq!(before, None, "{name} is there twice");
}

/// Name of a variant: the first word of what it looks like.
pub fn variant(value: &impl Debug) -> String {
    let shown = format!("{value:?}");
    shown.chars().take_while(|letter| letter.is_alphanumeric()).collect()
}

/// Bytes as a list has them.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Holds the list at `path`, lines of `name: entry`, against the entries that there are now.
///
/// # Panics
/// They differ: it says in what, a line each, and ends with the advice. Or the file cannot be read
/// or written.
pub fn hold(path: &Path, now: &Entries, advice: &str) {
    if std::env::var_os(WRITE).is_some_and(|word| word == "write") {
        let text: String = now.iter().map(|(name, entry)| format!("{name}: {entry}\n")).collect();
        fs::write(path, text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }
    let differences = differences(&read(path), now);
    assert!(
        differences.is_empty(),
        "{} is not what the code says:\n{}\n{advice}, and write the list again: {WRITE}=write, and this \
         test",
        path.display(),
        differences.join("\n")
    );
}

/// The list at `path`.
///
/// # Panics
/// The file cannot be read, or a line has no name.
pub fn read(path: &Path) -> Entries {
    let text = fs::read_to_string(path);
    let text = text.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let entries = text.lines().map(|line| {
        let (name, entry) = line.split_once(": ").unwrap_or_else(|| panic!("what is {line:?}?"));
        (name.to_owned(), entry.to_owned())
    });
    entries.collect()
}

fn differences(before: &Entries, now: &Entries) -> Vec<String> {
    let names: BTreeSet<&String> = before.keys().chain(now.keys()).collect();
    let line = |name: &String| match (before.get(name), now.get(name)) {
        (Some(before), Some(now)) if before == now => None,
        (Some(before), Some(now)) => Some(format!("  {name} was {before} and is {now}")),
        (Some(_), None) => Some(format!("  {name} is gone")),
        (None, now) => Some(format!("  {name} is new: {}", now.map_or("", String::as_str))),
    };
    names.into_iter().filter_map(line).collect()
}
