//! Sources of Weft's crates, on which projects in Rust depend.

use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::{env, fs};
use weft_launch::own_directory;

/// Variable that names sources of Weft.
const VARIABLE: &str = "WEFT_SOURCE";
/// File with the releases of all crates that Weft is built with.
pub(super) const LOCKED: &str = "Cargo.lock";
/// Folders of the crates that a project depends on, by which sources are known.
const FOLDERS: [&str; 2] = ["bindings/rust", "simulator"];
/// Name of the first of them, whose library is `weft`.
const WEFT: &str = "weft-parallel";
/// Folder of the sources that are installed with `weft`, seen from that of the command.
const INSTALLED: [&str; 2] = ["../share/weft/source", "../../../share/weft/source"];

/// Place from which the crates come.
pub(super) enum Source {
    /// A folder: a checkout, or what is installed of it.
    Folder(PathBuf),
    /// The registry of cargo, in the version of this command.
    Registry,
}

impl Source {
    /// The one that is named, or that of which this command was built or which came with it, or
    /// else the registry.
    ///
    /// # Errors
    /// There are no sources where they are said to be.
    pub(super) fn find(named: Option<&Path>) -> Result<Self> {
        let of_environment = env::var_os(VARIABLE).map(PathBuf::from);
        if let Some(named) = named.or(of_environment.as_deref()) {
            if !is_source(named) {
                bail!(
                    "{} has no sources of Weft: there is no {}/Cargo.toml; name the folder of its \
                     README.md",
                    named.display(),
                    FOLDERS[0]
                );
            }
            return Ok(Source::Folder(whole(named)?));
        }
        let own = own_directory().unwrap_or_default();
        let installed = INSTALLED.iter().map(|below| own.join(below)).find(|it| is_source(it));
        let checkout = || own.ancestors().find(|folder| is_source(folder)).map(Path::to_owned);
        match installed.or_else(checkout) {
            Some(folder) => Ok(Source::Folder(whole(&folder)?)),
            None => Ok(Source::Registry),
        }
    }

    /// Dependencies on `weft` and on the simulator, as a manifest has them.
    ///
    /// # Errors
    /// A path that is not UTF-8.
    pub(super) fn crates(&self) -> Result<[String; 2]> {
        let version = concat!("version = \"=", env!("CARGO_PKG_VERSION"), "\"");
        let [weft, simulator] = match self {
            Source::Registry => FOLDERS.map(|_| version.to_owned()),
            Source::Folder(source) => {
                let [weft, simulator] = FOLDERS.map(|folder| in_quotes(&source.join(folder)));
                [weft?, simulator?].map(|path| format!("path = {path}"))
            }
        };
        Ok([format!("{{ package = \"{WEFT}\", {weft} }}"), format!("{{ {simulator} }}")])
    }

    /// The file with the releases of all crates that these sources are built with.
    pub(super) fn locked(&self) -> Option<PathBuf> {
        match self {
            Source::Folder(source) => Some(source.join(LOCKED)).filter(|file| file.is_file()),
            Source::Registry => None,
        }
    }
}

fn whole(folder: &Path) -> Result<PathBuf> {
    fs::canonicalize(folder).with_context(|| format!("cannot find {}", folder.display()))
}

/// A path in the quotes of TOML, which has those of JSON.
fn in_quotes(path: &Path) -> Result<String> {
    let Some(text) = path.to_str() else {
        bail!("{} is not UTF-8, as paths in a Cargo.toml have to be", path.display())
    };
    Ok(serde_json::to_string(text)?)
}

fn is_source(folder: &Path) -> bool {
    FOLDERS.iter().all(|crate_folder| folder.join(crate_folder).join("Cargo.toml").is_file())
}

#[cfg(test)]
mod tests;
