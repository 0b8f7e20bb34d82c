//! `weft new`: a project outside of this repository, which builds, runs on 4 ranks, and has a test.
//!
//! Its files are those of `new/`, where the program is called `my-program`.

mod name;
mod source;
mod templates;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use clap::{ArgGroup, Args};

use name::Name;
use source::{LOCKED, Source};
use templates::Template;

/// Make a project: a program of your own that builds, runs on 4 ranks, and is tested
#[derive(Args)]
#[command(after_help = EXAMPLES)]
#[command(group(ArgGroup::new("language").required(true).args(["rust", "c", "mpi", "orca"])))]
pub struct Arguments {
    /// Folder to make; its name is the program's
    #[arg(value_name = "NAME")]
    folder: PathBuf,
    /// In Rust, built by cargo: messages and collectives of the crate weft, and a test on simulated
    /// ranks
    #[arg(long)]
    rust: bool,
    /// In C, built by make, CMake or Meson, with libweft: on real ranks and on simulated ones
    #[arg(long)]
    c: bool,
    /// In C, with plain MPI, for weft mpirun
    #[arg(long)]
    mpi: bool,
    /// In Orca, a language of processes that share objects
    #[arg(long)]
    orca: bool,
    /// Sources of Weft, whose crates a project in Rust depends on [default: WEFT_SOURCE, the
    /// checkout in which this weft was built, what was installed with it, or crates.io]
    #[arg(long, value_name = "PATH", requires = "rust")]
    weft: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  weft new primes --c                    then: cd primes; make; weft run -n 4 -- ./primes
  weft new primes --rust                 then: cd primes; cargo test
  weft new primes --mpi                  then: cd primes; make run
  weft new primes --orca                 then: cd primes; orcac run -n 4 primes.orca

All four count primes, each rank those of a part of the numbers. Those in Rust, C and Orca
run on simulated ranks, too: docs/guide/simulating-your-own.md.";

/// Makes the project, and says what to type next.
///
/// # Errors
/// A name that no program can have, a folder that is there or cannot be made, no sources where
/// they are said to be.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let folder = &arguments.folder;
    let name = Name::of(folder)?;
    let template = arguments.template();
    let source = arguments.rust.then(|| Source::find(arguments.weft.as_deref())).transpose()?;
    if folder.symlink_metadata().is_ok() {
        bail!("{} is there already: take another name, or remove it", folder.display());
    }
    fs::create_dir(folder).with_context(|| {
        format!("cannot make the folder {}: take one that can be written", folder.display())
    })?;
    if let Err(error) = fill(folder, template, &name, source.as_ref()) {
        // What is incomplete helps nobody, and would be in the way of the next attempt.
        let _ = fs::remove_dir_all(folder);
        return Err(error);
    }
    println!("made {} in {}; next:\n  cd {0}", folder.display(), template.language);
    for step in template.next {
        println!("  {}", name.put_into(step));
    }
    if matches!(source, Some(Source::Registry)) {
        println!(
            "The crates of Weft are to come from crates.io; --weft PATH takes sources of yours."
        );
    }
    Ok(ExitCode::SUCCESS)
}

impl Arguments {
    fn template(&self) -> &'static Template {
        match (self.rust, self.c, self.mpi) {
            (true, ..) => &templates::RUST,
            (_, true, _) => &templates::C,
            (.., true) => &templates::MPI,
            _ => &templates::ORCA,
        }
    }
}

/// Writes the files of a project.
fn fill(folder: &Path, template: &Template, name: &Name, source: Option<&Source>) -> Result<()> {
    let [weft, simulator] = source.map(Source::crates).transpose()?.unwrap_or_default();
    for (path, text) in template.files {
        let path = folder.join(name.put_into(path));
        let text = name.put_into(text).replace("@weft@", &weft).replace("@simulator@", &simulator);
        let unwritable = || format!("cannot write {}", path.display());
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).with_context(unwritable)?;
        }
        fs::write(&path, text).with_context(unwritable)?;
    }
    // The releases with which Weft is built are those that its crates are known to work with.
    if let Some(locked) = source.and_then(Source::locked) {
        let copied = fs::copy(&locked, folder.join(LOCKED));
        copied.with_context(|| format!("cannot copy {}", locked.display()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
