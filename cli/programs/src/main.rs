//! Commands and programs of Weft in one file that has a name for each (hard links): what they share
//! is compiled and optimized once, and is there once. By any other name it lists them, a line each,
//! for who makes the links; `weft-programs pages FOLDER` writes manual pages and completions of all
//! commands below a folder, and lists them without one. `weft` is a file of its own, which is all
//! that the demo needs beside a program, and so is `weft-net`, which alone may be given
//! capabilities.

#![forbid(unsafe_code)]

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::ExitCode;

use weft_programs::pages;

/// The `main` of a program.
type Main = fn() -> ExitCode;

/// Names, and the `main` of each.
const PROGRAMS: [(&str, Main); 20] = [
    ("weft-inspect", weft_inspect::main),
    ("weft-sim", weft_programs::sim::main),
    ("weft-bench", weft_bench::micro::main),
    ("weft-compare", weft_bench::compare::main),
    ("weft-application", weft_bench::application::main),
    ("orcac", weft_orca::main),
    ("asp", weft_asp::main),
    ("awari", weft_apps::awari::main),
    ("qr", weft_apps::qr::main),
    ("sor", weft_apps::sor::main),
    ("leq", weft_apps::leq::main),
    ("tsp", weft_apps::tsp::main),
    ("puzzle", weft_apps::puzzle::main),
    ("weft-game", weft_apps::games::main),
    ("fft", weft_apps::fft::main),
    ("radix", weft_apps::radix::main),
    ("lu", weft_apps::lu::main),
    ("barnes", weft_apps::barnes::main),
    ("water", weft_apps::water::main),
    ("weft-example", weft_examples::main),
];

fn main() -> ExitCode {
    // Capabilities of one name are those of all.
    if let Err(error) = weft_launch::forgo_capabilities() {
        eprintln!("weft: {error}");
        return ExitCode::FAILURE;
    }
    let called = env::args_os().next();
    let file = env::current_exe().ok();
    let names = [called.as_deref().map(Path::new), file.as_deref()];
    match names.into_iter().flatten().find_map(|path| named(path.file_name()?)) {
        Some(main) => main(),
        None => weft_app_common::finish(answer(&env::args_os().skip(1).collect::<Vec<_>>())),
    }
}

/// Lists what is in the file, or what is made of it.
fn answer(words: &[OsString]) -> anyhow::Result<ExitCode> {
    match words {
        [word, folder] if word == "pages" => pages::write(Path::new(folder))?,
        [word] if word == "pages" => {
            pages::files().keys().for_each(|path| println!("{}", path.display()));
        }
        _ => PROGRAMS.iter().for_each(|(name, _)| println!("{name}")),
    }
    Ok(ExitCode::SUCCESS)
}

/// The program of this name.
fn named(name: &OsStr) -> Option<fn() -> ExitCode> {
    PROGRAMS.iter().find(|(known, _)| name == *known).map(|(_, main)| *main)
}

#[cfg(test)]
mod tests;
