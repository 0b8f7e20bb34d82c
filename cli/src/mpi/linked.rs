//! The libraries that the loader takes for a program.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::Stack;

/// Relation of a program or a library to MPI.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Linked {
    /// The MPI library that it was linked with. The ABI of MPI 5 is anybody's.
    pub stack: Option<Stack>,
    /// True if it was linked with the ABI of MPI 5.
    pub abi: bool,
    /// The folder with the launcher that belongs to that library, if it lies where it usually does.
    pub launchers: Option<PathBuf>,
    /// The libfabric that it loads.
    pub fabric: Option<PathBuf>,
}

/// Asks the loader. Of what is no program of the system's, such as a script, nothing is known.
pub fn libraries_of(file: &Path) -> Linked {
    let output = Command::new("ldd").arg(file).stdin(Stdio::null()).output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    Linked::from_ldd(&text.unwrap_or_default())
}

impl Linked {
    /// Reads lines such as `libmpi.so.40 => /opt/mpi/lib/libmpi.so.40 (0x00007f3163e73000)`.
    fn from_ldd(text: &str) -> Self {
        let mut linked = Linked::default();
        for line in text.lines() {
            let Some((name, rest)) = line.trim().split_once(" => ") else { continue };
            let path = rest.starts_with('/').then(|| rest.split(" (").next().unwrap_or(rest));
            let path = path.map(PathBuf::from);
            if name.starts_with("libfabric.so") {
                linked.fabric = path;
                continue;
            }
            let stack = match name {
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
