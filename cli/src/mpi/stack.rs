//! The MPI library of an `mpirun`, by the version that it prints.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use clap::ValueEnum;
use weft_launch::find_program;

/// The commands that start MPI programs, as they are looked for. Where several packages have an
/// `mpirun`, Debian keeps each under its full name.
const NAMES: [&str; 5] = ["mpirun", "mpiexec", "mpirun.openmpi", "mpirun.mpich", "mpiexec.hydra"];

/// A family of MPI libraries: those with the same settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Stack {
    /// Open MPI 4 and 5
    OpenMpi,
    /// MPICH 4 and 5, built with libfabric (ch4:ofi)
    Mpich,
    /// Intel MPI 2021
    IntelMpi,
}

impl Stack {
    /// True if programs that are linked with the library of `linked` run with this one's: Intel MPI
    /// has MPICH's ABI, and the same name in files.
    pub fn runs(self, linked: Stack) -> bool {
        let has_abi_of_mpich = |stack| matches!(stack, Stack::Mpich | Stack::IntelMpi);
        self == linked || has_abi_of_mpich(self) && has_abi_of_mpich(linked)
    }
}

/// Demand for a stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// By the user.
    Said(Stack),
    /// By the program, which is linked with its library.
    Linked(Stack),
}

impl Wanted {
    /// The stack.
    pub fn stack(self) -> Stack {
        match self {
            Wanted::Said(stack) | Wanted::Linked(stack) => stack,
        }
    }

    fn accepts(self, found: Stack) -> bool {
        match self {
            Wanted::Said(stack) => found == stack,
            Wanted::Linked(stack) => found.runs(stack),
        }
    }

    fn why(self) -> &'static str {
        match self {
            Wanted::Said(_) => "--stack asks for",
            Wanted::Linked(_) => "the program is linked with",
        }
    }
}

impl fmt::Display for Stack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Stack::OpenMpi => "Open MPI",
            Stack::Mpich => "MPICH",
            Stack::IntelMpi => "Intel MPI",
        })
    }
}

/// A command that starts MPI programs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launcher {
    /// Path of the `mpirun`.
    pub path: PathBuf,
    /// Library that it belongs to.
    pub stack: Stack,
    version: String,
    /// Device that MPICH was configured for, such as `ch4:ucx`, if it names one.
    device: Option<String>,
}

impl fmt::Display for Launcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} ({})", self.stack, self.version, self.path.display())
    }
}

/// Reason why no MPI program can be started on Weft.
#[derive(Debug, thiserror::Error)]
pub enum StackError {
    /// There is no MPI.
    #[error(
        "there is no mpirun in PATH: install an MPI library (Debian: apt-get install openmpi-bin libopenmpi-dev), or put \
         the bin folder of yours into PATH"
    )]
    NoLauncher,
    /// It is there, but cannot be asked what it is.
    #[error("{} --version: {cause}", path.display())]
    Unasked {
        /// Path of the program that was asked.
        path: PathBuf,
        /// The system's error.
        cause: io::Error,
    },
    /// It is there, and fails when it is asked.
    #[error("{} --version fails: {said}", path.display())]
    Failed {
        /// Path of the program that was asked.
        path: PathBuf,
        /// The first line of what it says.
        said: String,
    },
    /// None of the stacks.
    #[error(
        "{} is neither Open MPI's, MPICH's nor Intel MPI's; it calls itself {said:?}. Put one of those into PATH before it, or see \
         docs/guide/mpi.md for what an MPI library has to be told",
        path.display()
    )]
    Unknown {
        /// Path of the program that was asked.
        path: PathBuf,
        /// The first line of the answer.
        said: String,
    },
    /// There are others.
    #[error(
        "there is no mpirun of {wanted}, which {why}; in PATH is {found}. Put the bin folder of {wanted} into PATH"
    )]
    NotThere {
        /// Library that was looked for.
        wanted: Stack,
        /// Source of the demand.
        why: &'static str,
        /// Library that there is instead.
        found: String,
    },
    /// An MPICH that cannot have a libfabric provider.
    #[error(
        "{launcher} is built for {device}, without libfabric, so it cannot run on Weft (Debian's MPICH is built so). Use Open MPI \
         (apt-get install openmpi-bin libopenmpi-dev), or an MPICH built with --with-device=ch4:ofi, as the one on PyPI is \
         (pip install mpich)"
    )]
    NoFabric {
        /// The MPICH.
        launcher: Launcher,
        /// Device that it was configured for.
        device: String,
    },
}

impl Launcher {
    /// Finds the launcher of a stack that is wanted; without one, the first there is. It is looked
    /// for in the folder `beside` first, then in each of `path`. One that cannot have a libfabric
    /// provider is taken if there is no other.
    ///
    /// # Errors
    /// [`StackError`] says what is missing.
    pub fn find(
        wanted: Option<Wanted>,
        beside: Option<&Path>,
        path: Option<&OsStr>,
    ) -> Result<Self, StackError> {
        let found = Self::look(wanted, beside, path);
        match &found {
            Ok(first) if first.has_fabric().is_err() && beside.is_some() => {
                let other = Self::look(wanted, None, path);
                other.ok().filter(|other| other.has_fabric().is_ok()).map_or(found, Ok)
            }
            _ => found,
        }
    }

    fn look(
        wanted: Option<Wanted>,
        beside: Option<&Path>,
        path: Option<&OsStr>,
    ) -> Result<Self, StackError> {
        let mut others: Vec<String> = Vec::new();
        for name in NAMES {
            let Ok(file) = find_program(name.as_ref(), beside, path) else { continue };
            match (Self::ask(file), wanted) {
                (Ok(launcher), None) => return Ok(launcher),
                (Ok(launcher), Some(wanted)) if wanted.accepts(launcher.stack) => {
                    return Ok(launcher);
                }
                (Err(error), None) => return Err(error),
                (Ok(launcher), Some(_)) => others.push(launcher.to_string()),
                (Err(StackError::Unknown { path, .. }), Some(_)) => {
                    others.push(path.display().to_string());
                }
                (Err(error), Some(_)) => return Err(error),
            }
        }
        match wanted {
            Some(wanted) if !others.is_empty() => {
                let (stack, why) = (wanted.stack(), wanted.why());
                Err(StackError::NotThere { wanted: stack, why, found: others.join(", ") })
            }
            _ => Err(StackError::NoLauncher),
        }
    }

    /// Checks that this library can have a libfabric provider, as far as its version tells.
    ///
    /// # Errors
    /// [`StackError::NoFabric`] if it was built without libfabric.
    pub fn has_fabric(&self) -> Result<(), StackError> {
        match &self.device {
            Some(device) if !device.contains("ofi") => {
                Err(StackError::NoFabric { launcher: self.clone(), device: device.clone() })
            }
            _ => Ok(()),
        }
    }

    /// True if persistent sends of this library take their bytes from the wrong place where it uses
    /// libfabric (open-mpi/ompi#11751), so that the provider, which mends that, is to be preloaded.
    pub fn needs_correction(&self) -> bool {
        self.stack == Stack::OpenMpi && self.version.starts_with("4.")
    }

    /// The libraries of this stack that load libfabric, if they lie where they usually do: beside
    /// the launcher's folder.
    pub fn users_of_fabric(&self) -> Vec<PathBuf> {
        let names: &[&str] = match self.stack {
            Stack::OpenMpi => &["lib/openmpi/mca_mtl_ofi.so", "lib/libmpi.so.40"],
            Stack::Mpich => &["lib/libmpi.so.12", "lib/libmpich.so.12"],
            Stack::IntelMpi => &["lib/libmpi.so.12"],
        };
        self.there(names)
    }

    /// The libfabric that has come with the library, if it opens that by name, so that no file
    /// says it.
    pub fn own_fabric(&self) -> Option<PathBuf> {
        match self.stack {
            Stack::OpenMpi | Stack::Mpich => None,
            Stack::IntelMpi => self.there(&["lib/libfabric.so.1"]).pop(),
        }
    }

    /// PATH that the launcher needs, if not this one: Intel MPI's `mpirun` is a script that looks
    /// there for its `mpiexec.hydra`, which MPICH has, too.
    pub fn path_for(&self, path: Option<&OsStr>) -> Option<OsString> {
        let folder = self.path.parent().filter(|_| self.stack == Stack::IntelMpi);
        let hydra = find_program("mpiexec.hydra".as_ref(), None, path).ok();
        let is_own = hydra.as_deref().and_then(Path::parent) == folder;
        folder.filter(|_| !is_own).and_then(|folder| with_first(Some(folder), path))
    }

    /// The folder that the library is installed in, if the launcher lies where it usually does.
    pub fn prefix(&self) -> Option<PathBuf> {
        let file = self.path.canonicalize().unwrap_or_else(|_| self.path.clone());
        file.parent().and_then(Path::parent).map(Path::to_path_buf)
    }

    /// Those of these files of the library that there are.
    fn there(&self, names: &[&str]) -> Vec<PathBuf> {
        let prefix = self.prefix();
        let files = names.iter().filter_map(|name| Some(prefix.as_ref()?.join(name)));
        files.filter(|file| file.exists()).collect()
    }

    /// One that was not asked.
    #[cfg(test)]
    pub fn named(path: PathBuf, stack: Stack) -> Self {
        Launcher { path, stack, version: "1.0".into(), device: None }
    }

    /// Asks a launcher what it is.
    fn ask(path: PathBuf) -> Result<Self, StackError> {
        let mut command = Command::new(&path);
        if let Some(own) = with_first(path.parent(), env::var_os("PATH").as_deref()) {
            command.env("PATH", own);
        }
        let output = command.arg("--version").stdin(Stdio::null()).output();
        match output {
            Ok(output) if !output.status.success() && output.stdout.is_empty() => {
                let said = String::from_utf8_lossy(&output.stderr);
                let first = said.lines().find(|line| !line.trim().is_empty());
                let said = first.map_or_else(|| output.status.to_string(), str::to_owned);
                Err(StackError::Failed { path, said })
            }
            Ok(output) => Self::recognize(path, &String::from_utf8_lossy(&output.stdout)),
            Err(cause) => Err(StackError::Unasked { path, cause }),
        }
    }

    /// Recognizes the output of `--version`: `mpirun (Open MPI) 4.1.4`, of which `mpiexec` makes
    /// `(OpenRTE)`; or some lines of hydra's, among them `Version: 5.0.2` and the options that it
    /// was configured with; or `Intel(R) MPI Library for Linux* OS, Version 2021.18.1 Build …`.
    fn recognize(path: PathBuf, said: &str) -> Result<Self, StackError> {
        let first = said.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().trim();
        let open_mpi = ["(Open MPI) ", "(OpenRTE) "];
        let version = open_mpi.iter().find_map(|name| Some(first.split_once(name)?.1));
        if let Some(version) = version {
            return Ok(Launcher {
                path,
                stack: Stack::OpenMpi,
                version: version.into(),
                device: None,
            });
        }
        if let Some((_, rest)) = first.split_once("Intel(R) MPI Library") {
            let version = rest.split_once("Version ").map(|(_, version)| version);
            let version = version.and_then(|version| version.split_whitespace().next());
            let version = version.unwrap_or_default().into();
            return Ok(Launcher { path, stack: Stack::IntelMpi, version, device: None });
        }
        let version = said.lines().find_map(|line| line.trim().strip_prefix("Version:"));
        if let (true, Some(version)) = (first.starts_with("HYDRA build details"), version) {
            let device = said.split_once("--with-device=").map(|(_, rest)| rest);
            let end = |c: char| c.is_whitespace() || c == '\'' || c == '"';
            let device = device.and_then(|rest| rest.split(end).next()).map(str::to_owned);
            let version = version.trim().into();
            return Ok(Launcher { path, stack: Stack::Mpich, version, device });
        }
        Err(StackError::Unknown { path, said: first.into() })
    }
}

/// A list of folders, with this one first.
fn with_first(folder: Option<&Path>, path: Option<&OsStr>) -> Option<OsString> {
    let others = path.into_iter().flat_map(env::split_paths);
    env::join_paths(folder.map(Path::to_path_buf).into_iter().chain(others)).ok()
}

#[cfg(test)]
mod tests;
