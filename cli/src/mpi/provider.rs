//! Search for Weft's libfabric provider.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// The name by which libfabric takes it for a provider.
pub const FILE: &str = "libweft-fi.so";
/// Cargo's name for it.
const BUILT: &str = "libweft_fi.so";
/// A libfabric with no other provider, in the provider's folder, and Cargo's name for it.
const HOST: &str = "host/libfabric.so.1";
const BUILT_HOST: &str = "libweft_host.so";
/// The folder for providers: beside `bin` in `lib`, as `make install` has it; and where Cargo
/// builds.
const FOLDER: &str = "libfabric";

/// The provider, in a folder that `FI_PROVIDER_PATH` can name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Provider {
    /// The folder.
    pub folder: PathBuf,
}

/// Reason why there is no provider.
#[derive(Debug, thiserror::Error)]
pub enum ProviderError {
    /// Nobody knows where it is.
    #[error(
        "{FILE}, Weft's libfabric provider, is neither in {} nor in {}: run make install (in a checkout: cargo build --release \
         --package weft-libfabric), or say with --provider where it is",
        installed.display(), built.display()
    )]
    NotFound {
        /// Path of an installed provider.
        installed: PathBuf,
        /// Path of a provider that was built here.
        built: PathBuf,
    },
    /// It is not where it was said to be.
    #[error("--provider {}: there is no {FILE}; name it, or the folder where it is", _0.display())]
    NotThere(PathBuf),
    /// It is built, but has no name by which libfabric would find it.
    #[error("{}: {cause}; libfabric finds the provider by that name: make it a link to {BUILT}", link.display())]
    NoLink {
        /// The link that could not be made.
        link: PathBuf,
        /// The system's error.
        cause: io::Error,
    },
}

impl Provider {
    /// Finds it: where it is `said` to be, or in the folders that `variable` lists, or installed or
    /// built with the command in the folder `own`.
    ///
    /// # Errors
    /// [`ProviderError`] says where it was looked for.
    pub fn find(
        said: Option<&Path>,
        variable: Option<&OsStr>,
        own: &Path,
    ) -> Result<Self, ProviderError> {
        if let Some(said) = said {
            let folder = if said.ends_with(FILE) { said.parent().unwrap_or(said) } else { said };
            let found = Self::in_folder(folder)?;
            return found.ok_or_else(|| ProviderError::NotThere(said.into()));
        }
        let listed = variable.map(listed_folders).unwrap_or_default();
        if let Some(folder) = listed.into_iter().find(|folder| has_provider(folder)) {
            return Ok(Provider { folder });
        }
        let installed = own.parent().unwrap_or(own).join("lib").join(FOLDER);
        for folder in [&installed, own] {
            if let Some(found) = Self::in_folder(folder)? {
                return Ok(found);
            }
        }
        Err(ProviderError::NotFound { installed, built: own.into() })
    }

    /// The libfabric that has no other provider, if it is there.
    pub fn host(&self) -> Option<PathBuf> {
        Some(self.folder.join(HOST)).filter(|file| file.is_file())
    }

    /// The provider in a folder, which may be one that Cargo builds into. There it gets a link with
    /// the right name.
    fn in_folder(folder: &Path) -> Result<Option<Self>, ProviderError> {
        // libfabric's client may run elsewhere.
        let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.into());
        if has_provider(&folder) {
            return Ok(Some(Provider { folder }));
        }
        if !folder.join(BUILT).is_file() {
            return Ok(None);
        }
        let links = folder.join(FOLDER);
        let link = links.join(FILE);
        let made = std::fs::create_dir_all(links.join(HOST).parent().unwrap_or(&links))
            .and_then(|()| symlink(Path::new("..").join(BUILT), &link));
        // Without it programs only start later.
        let _ = symlink(Path::new("../..").join(BUILT_HOST), links.join(HOST));
        match made {
            // Another command may have made it a moment ago.
            _ if has_provider(&links) => Ok(Some(Provider { folder: links })),
            Ok(()) => Ok(None),
            Err(cause) => Err(ProviderError::NoLink { link, cause }),
        }
    }
}

/// The folders that a value of `FI_PROVIDER_PATH` names; libfabric prefers what is in them if it
/// begins with `@`.
pub fn listed_folders(value: &OsStr) -> Vec<PathBuf> {
    let bytes = value.as_bytes();
    let bytes = bytes.strip_prefix(b"@").unwrap_or(bytes);
    let folders = bytes.split(|&byte| byte == b':').filter(|folder| !folder.is_empty());
    folders.map(|folder| std::ffi::OsString::from_vec(folder.to_vec()).into()).collect()
}

/// True if libfabric would find the provider in a folder.
pub fn has_provider(folder: &Path) -> bool {
    folder.join(FILE).is_file()
}

#[cfg(test)]
mod tests;
