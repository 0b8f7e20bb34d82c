//! `weft new`: a project outside of this repository, which builds, runs on 4 ranks, and has a test.
//!
//! Its files are those of `new/`, where the program is called `my-program`.

mod name;
mod templates;

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use clap::{ArgGroup, Args};
use weft_launch::own_directory;

use name::Name;
use templates::Template;

/// Variable that names a checkout of Weft.
const SOURCE: &str = "WEFT_SOURCE";
/// File with the releases of all crates that a checkout is built with.
const LOCKED: &str = "Cargo.lock";
/// Files of a checkout by which it is known: those of the crates that a project depends on.
const MANIFESTS: [&str; 2] = ["bindings/rust/Cargo.toml", "simulator/Cargo.toml"];

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
    /// Checkout of Weft, whose crates a project in Rust depends on [default: WEFT_SOURCE, or the
    /// checkout in which this weft was built]
    #[arg(long, value_name = "PATH", requires = "rust")]
    weft: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  weft new primes --c                    then: cd primes; make; weft run -n 4 -- ./primes
  weft new primes --rust --weft ~/weft   then: cd primes; cargo test
  weft new primes --mpi                  then: cd primes; make run
  weft new primes --orca                 then: cd primes; orcac run -n 4 primes.orca

All four count primes, each rank those of a part of the numbers. Those in Rust, C and Orca
run on simulated ranks, too: docs/guide/simulating-your-own.md.";

/// Makes the project, and says what to type next.
///
/// # Errors
/// A name that no program can have, a folder that is there or cannot be made, no checkout.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let folder = &arguments.folder;
    let name = Name::of(folder)?;
    let template = arguments.template();
    let checkout = match arguments.rust {
        true => Some(checkout(arguments.weft.as_deref())?),
        false => None,
    };
    if folder.symlink_metadata().is_ok() {
        bail!("{} is there already: take another name, or remove it", folder.display());
    }
    fs::create_dir(folder).with_context(|| {
        format!("cannot make the folder {}: take one that can be written", folder.display())
    })?;
    if let Err(error) = fill(folder, template, &name, checkout.as_deref()) {
        // What is incomplete helps nobody, and would be in the way of the next attempt.
        let _ = fs::remove_dir_all(folder);
        return Err(error);
    }
    println!("made {} in {}; next:\n  cd {0}", folder.display(), template.language);
    for step in template.next {
        println!("  {}", name.put_into(step));
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
fn fill(folder: &Path, template: &Template, name: &Name, checkout: Option<&Path>) -> Result<()> {
    let crates = checkout.map(in_quotes).transpose()?.unwrap_or_default();
    for (path, text) in template.files {
        let path = folder.join(name.put_into(path));
        let text = name.put_into(text).replace("@checkout@", &crates);
        let unwritable = || format!("cannot write {}", path.display());
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).with_context(unwritable)?;
        }
        fs::write(&path, text).with_context(unwritable)?;
    }
    // The releases with which Weft is built are those that its crates are known to work with.
    if let Some(locked) = checkout.map(|checkout| checkout.join(LOCKED)).filter(|it| it.is_file()) {
        let copied = fs::copy(&locked, folder.join(LOCKED));
        copied.with_context(|| format!("cannot copy {}", locked.display()))?;
    }
    Ok(())
}

/// A path as it stands between the quotes of TOML, which has those of JSON.
fn in_quotes(path: &Path) -> Result<String> {
    let Some(text) = path.to_str() else {
        bail!("{} is not UTF-8, as paths in a Cargo.toml have to be", path.display())
    };
    let quoted = serde_json::to_string(text)?;
    Ok(quoted[1..quoted.len() - 1].to_owned())
}

/// The checkout of Weft: that which is named, or that in which this command was built.
fn checkout(named: Option<&Path>) -> Result<PathBuf> {
    let of_environment = env::var_os(SOURCE).map(PathBuf::from);
    if let Some(named) = named.or(of_environment.as_deref()) {
        if !is_checkout(named) {
            bail!(
                "{} is no checkout of Weft: it has no {}; name the folder of its README.md",
                named.display(),
                MANIFESTS[0]
            );
        }
        let whole = fs::canonicalize(named);
        return whole.with_context(|| format!("cannot find {}", named.display()));
    }
    let own = own_directory().unwrap_or_default();
    match own.ancestors().find(|folder| is_checkout(folder)) {
        Some(folder) => Ok(folder.to_owned()),
        None => bail!(
            "a project in Rust needs the sources of Weft, whose crates are on no registry yet: name \
             a checkout by --weft PATH, or in {SOURCE}"
        ),
    }
}

fn is_checkout(folder: &Path) -> bool {
    MANIFESTS.iter().all(|manifest| folder.join(manifest).is_file())
}

#[cfg(test)]
mod tests;
