//! Tests of the front end as a whole.

mod check;
mod diagnostics;
mod editors;
mod format;
mod lexer;
mod parser;
mod programs;
mod robustness;
mod running;
mod server;
mod status;

use std::path::{Path, PathBuf};

use weft_orca::source::Sources;

/// A folder of this crate.
fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// The files of a folder with an ending, in order.
fn files(name: &str, ending: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder(name)).expect("folder");
    let paths = entries.map(|entry| entry.expect("entry").path());
    let mut paths: Vec<PathBuf> =
        paths.filter(|path| path.extension().is_some_and(|found| found == ending)).collect();
    paths.sort();
    paths
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Sources of one file.
fn source(name: &str, text: &str) -> Sources {
    let mut sources = Sources::default();
    sources.add(name, text.to_owned()).expect("small");
    sources
}

/// All diagnostics of a file, as they are printed.
fn diagnostics_of(name: &str, text: &str) -> String {
    let sources = source(name, text);
    match weft_orca::front_end(&sources) {
        Ok(_) => String::new(),
        Err(diagnostics) => {
            diagnostics.iter().map(|diagnostic| diagnostic.render(&sources, false)).collect()
        }
    }
}
