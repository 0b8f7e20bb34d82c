//! `libweft-coll.so`, which takes collectives from an MPI library. Each library has an `mpi.h` of
//! its own, so its own compiler makes one for it, when it is first asked for.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio, id};

use super::{Launcher, Linked};

const SOURCE: &str = include_str!("../../../bindings/mpi/coll.c");
const HEADER: &str = include_str!("../../../bindings/libfabric/include/weft-coll.h");
/// Its file.
pub const FILE: &str = "libweft-coll.so";
const FLAGS: [&str; 6] = ["-std=gnu11", "-O2", "-fPIC", "-shared", "-fvisibility=hidden", "-I."];

/// The library for one MPI library, made or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Collectives {
    /// Path of the library, or the path where it is to be made.
    pub file: PathBuf,
    /// Compiler that makes it.
    pub compiler: PathBuf,
}

/// Reason why there is no collectives library.
#[derive(Debug, thiserror::Error)]
pub enum CollectivesError {
    /// Nothing compiles for this MPI library.
    #[error(
        "--collectives weft: there is no {} in {}, which has to make {FILE} for {launcher}: install what compiles programs for \
         it (Debian's Open MPI: apt-get install libopenmpi-dev gcc)", names.join(" or "), folder.display()
    )]
    NoCompiler {
        /// Names that were looked for.
        names: Vec<String>,
        /// Folder that was searched.
        folder: PathBuf,
        /// Launcher that the library is for.
        launcher: String,
    },
    /// Nobody knows where to keep it.
    #[error(
        "--collectives weft: neither XDG_CACHE_HOME nor HOME is set, so there is no place to keep {FILE}"
    )]
    NoPlace,
    /// It cannot be written.
    #[error("--collectives weft: {}: {cause}", path.display())]
    Unwritten {
        /// Path of the file.
        path: PathBuf,
        /// The system's error.
        cause: io::Error,
    },
    /// The compiler refused.
    #[error("--collectives weft: {} cannot make {FILE}: {said}", compiler.display())]
    NotCompiled {
        /// Path of the compiler.
        compiler: PathBuf,
        /// The compiler's output.
        said: String,
    },
}

impl Collectives {
    /// The library for the MPI library of `launcher`, and for programs that are linked as `linked`
    /// says. Makes nothing.
    ///
    /// # Errors
    /// [`CollectivesError::NoCompiler`], [`CollectivesError::NoPlace`].
    pub fn of(launcher: &Launcher, linked: &Linked) -> Result<Self, CollectivesError> {
        let compiler = compiler_of(launcher, linked)?;
        let mut hasher = DefaultHasher::new();
        (launcher.to_string(), &compiler, SOURCE, HEADER, FLAGS).hash(&mut hasher);
        let folder = cache(env::var_os("XDG_CACHE_HOME"), env::var_os("HOME"))?;
        let file = folder.join(format!("coll-{:016x}", hasher.finish())).join(FILE);
        Ok(Collectives { file, compiler })
    }

    /// Makes it, if nobody has.
    ///
    /// # Errors
    /// [`CollectivesError`] says what cannot be written or compiled.
    pub fn make(&self) -> Result<(), CollectivesError> {
        if self.file.is_file() {
            return Ok(());
        }
        // Another command may be making it: each has a folder of its own, and the last one to have
        // it gives it its name.
        let folder = self.file.with_extension(id().to_string());
        let made = self.make_in(&folder);
        let removed = fs::remove_dir_all(&folder);
        made.and(removed.map_err(|cause| CollectivesError::Unwritten { path: folder, cause }))
    }

    fn make_in(&self, folder: &Path) -> Result<(), CollectivesError> {
        fs::create_dir_all(folder).map_err(unwritten(folder))?;
        for (name, text) in [("coll.c", SOURCE), ("weft-coll.h", HEADER)] {
            let path = folder.join(name);
            fs::write(&path, text).map_err(unwritten(&path))?;
        }
        let mut command = Command::new(&self.compiler);
        command.args(FLAGS).args(["coll.c", "-o", FILE]).current_dir(folder).stdin(Stdio::null());
        let output = command.output().map_err(unwritten(&self.compiler))?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            return Err(CollectivesError::NotCompiled { compiler: self.compiler.clone(), said });
        }
        fs::rename(folder.join(FILE), &self.file).map_err(unwritten(&self.file))
    }
}

/// An error that names what cannot be written, or started.
fn unwritten(path: &Path) -> impl FnOnce(io::Error) -> CollectivesError {
    let path = path.to_owned();
    move |cause| CollectivesError::Unwritten { path, cause }
}

/// The compiler that stands beside a launcher. Where several packages have an `mpicc`, Debian gives
/// it the ending of its `mpirun`.
fn compiler_of(launcher: &Launcher, linked: &Linked) -> Result<PathBuf, CollectivesError> {
    let name = if linked.abi { "mpicc_abi" } else { "mpicc" };
    let ending = launcher.path.extension().and_then(OsStr::to_str);
    let mut names: Vec<String> =
        ending.map(|ending| format!("{name}.{ending}")).into_iter().collect();
    names.push(name.into());
    let folder = launcher.path.parent().unwrap_or(Path::new("."));
    let found = names.iter().map(|name| folder.join(name)).find(|path| path.is_file());
    let folder = folder.into();
    found.ok_or_else(|| CollectivesError::NoCompiler {
        names,
        folder,
        launcher: launcher.to_string(),
    })
}

/// The user's folder for what can be made again.
fn cache(said: Option<OsString>, home: Option<OsString>) -> Result<PathBuf, CollectivesError> {
    let is_absolute = |path: &PathBuf| path.is_absolute();
    let said = said.map(PathBuf::from).filter(is_absolute);
    let home = home.map(PathBuf::from).filter(is_absolute);
    let folder = said.or(home.map(|home| home.join(".cache"))).ok_or(CollectivesError::NoPlace)?;
    Ok(folder.join("weft"))
}

#[cfg(test)]
mod tests;
