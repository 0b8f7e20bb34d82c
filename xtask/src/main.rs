//! Checks of this repository that a machine can make, run as `cargo run -p xtask -- tidy`.
//!
//! The rules are those of `STYLE.md` and `ARCHITECTURE.md`: which way dependencies point, where
//! `unsafe` may be, how long a file or a function gets, how many methods a trait or a type, which
//! modules name one another in a circle, which statics there are, what does not belong in a source,
//! which names of types several libraries export, and that pages about the inside name what is
//! there. They read files and change none, and `cargo test` runs them too. Beside them is what
//! writes the headers for C, and what packages say of the crates inside them. Uses nothing of the
//! rest of the tree, so that it builds when the rest does not.

#![forbid(unsafe_code)]

mod contents;
mod demo;
mod deny;
mod header;
mod suite;
mod tidy;

use anyhow::{Context, Result, bail};
use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const HELP: &str = "\
Checks of this repository.

  cargo run -p xtask -- tidy    the rules of STYLE.md and ARCHITECTURE.md
  cargo run -p xtask -- deny    licences, bans and sources of what we depend on (deny.toml), and advisories where the
                                network has them; './setup test' installs what it takes
  cargo run -p xtask -- demo    what building the demo costs: its crates, and its seconds, for which it is built
  cargo run -p xtask -- test    all tests, jobs of them side by side, or those of --package NAME;
                                with --beside COMMAND, all and that command on what they leave of the cores
  cargo run -p xtask -- header  writes the headers of bindings/c/include again; a test checks that they are new
  cargo run -p xtask -- sbom    the crates inside what is packaged, as CycloneDX has them; licences: their licences, with texts";

fn main() -> ExitCode {
    let words: Vec<OsString> = std::env::args_os().skip(1).collect();
    match run(&words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(words: &[OsString]) -> Result<()> {
    // Cargo's words are anything.
    if let [record, folder, words @ ..] = words
        && record == "record"
    {
        return suite::record(Path::new(folder), words);
    }
    let arguments: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
    let arguments: Vec<&str> = arguments.iter().map(|word| &**word).collect();
    match arguments[..] {
        ["tidy"] => report(&root()?),
        ["deny"] => deny::run(&root()?),
        ["demo"] => demo::run(&root()?),
        ["sbom"] => print(&contents::sbom(&root()?)?),
        ["licences"] => print(&contents::licences(&root()?)?),
        ["header"] => header::write(&root()?),
        ["test"] => suite::run(&root()?, &["--workspace"], &[]),
        ["test", "--beside", ref command @ ..] => suite::run(&root()?, &["--workspace"], command),
        ["test", ref packages @ ..] => suite::run(&root()?, packages, &[]),
        ["help" | "--help" | "-h"] => {
            println!("{HELP}");
            Ok(())
        }
        [] => bail!("what is to be done?\n\n{HELP}"),
        [unknown, ..] => bail!("there is no '{unknown}' with these arguments\n\n{HELP}"),
    }
}

fn print(text: &str) -> Result<()> {
    Ok(std::io::stdout().lock().write_all(text.as_bytes())?)
}

fn report(root: &Path) -> Result<()> {
    let findings = tidy::tidy(root)?;
    for finding in &findings {
        println!("{finding}");
    }
    match findings.len() {
        0 => Ok(()),
        1 => bail!("the tree is not tidy: 1 finding"),
        many => bail!("the tree is not tidy: {many} findings"),
    }
}

/// The repository that this program was built from.
fn root() -> Result<PathBuf> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    Ok(here.parent().context("xtask is in no repository")?.to_path_buf())
}
