//! The MPI library that a program is linked with.

use std::path::{Path, PathBuf};

use super::Stack;
use super::loader::{self, Needed};

/// Relation of a program or a library to MPI.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Linked {
    /// The MPI library that it was linked with, or MPICH for another one with its ABI. That of MPI
    /// 5 is anybody's.
    pub stack: Option<Stack>,
    /// True if it was linked with the ABI of MPI 5.
    pub abi: bool,
    /// The folder with the launcher that belongs to that library, if it lies where it usually does.
    pub launchers: Option<PathBuf>,
    /// The libfabric that it loads.
    pub fabric: Option<PathBuf>,
}

/// Reads the file and its libraries, and runs nothing. Of what is no program of the system's, such
/// as a script, nothing is known.
pub fn libraries_of(file: &Path) -> Linked {
    Linked::with(&loader::libraries_of(file))
}

impl Linked {
    fn with(libraries: &[Needed]) -> Self {
        let mut linked = Linked::default();
        for Needed { name, path } in libraries {
            if name.starts_with("libfabric.so") {
                linked.fabric = path.clone();
                continue;
            }
            let stack = match name.as_str() {
                "libmpi.so.40" => Some(Stack::OpenMpi),
                "libmpi.so.12" | "libmpich.so.12" => Some(Stack::Mpich),
                _ if name.starts_with("libmpi_abi.so") => {
                    linked.abi = true;
                    None
                }
                _ => continue,
            };
            linked.stack = linked.stack.or(stack);
            let prefix = path.as_deref().and_then(|path| path.parent()?.parent());
            linked.launchers = linked.launchers.or(prefix.map(|prefix| prefix.join("bin")));
        }
        linked
    }
}

#[cfg(test)]
mod tests;
