//! Libraries between a program and its MPI library. Each MPI library has an `mpi.h` of its own, so
//! its own compiler makes them for it, when one is first asked for.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs::{self, DirBuilder, Permissions};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio, id};

use rustix::process::geteuid;

use super::{Launcher, Linked};

/// A library that is preloaded, and what it is made of.
#[derive(Debug, PartialEq, Eq)]
pub struct Source {
    /// Option that asks for it.
    pub option: &'static str,
    /// Its file.
    pub file: &'static str,
    /// Beginning of the name of its folder.
    folder: &'static str,
    /// Names of what it is made of, and texts: first of what is compiled.
    parts: &'static [(&'static str, &'static str)],
}

/// Search for the provider, which all of them have.
const PROVIDER: (&str, &str) = ("provider.h", include_str!("../../carried/mpi/provider.h"));

/// `libweft-coll.so`, which takes collectives from an MPI library.
pub static COLLECTIVES: Source = Source {
    option: "--collectives weft",
    file: "libweft-coll.so",
    folder: "coll",
    parts: &[
        ("coll.c", include_str!("../../carried/mpi/coll.c")),
        ("shapes.h", include_str!("../../carried/mpi/shapes.h")),
        ("parts.h", include_str!("../../carried/mpi/parts.h")),
        ("operations.h", include_str!("../../carried/mpi/operations.h")),
        ("reductions.h", include_str!("../../carried/mpi/reductions.h")),
        ("varied.h", include_str!("../../carried/mpi/varied.h")),
        ("fortran.h", include_str!("../../carried/mpi/fortran.h")),
        PROVIDER,
        ("weft-coll.h", include_str!("../../carried/include/weft-coll.h")),
    ],
};

/// `libweft-trace.so`, which tells a trace of MPI calls.
pub static TRACE: Source = Source {
    option: "--trace",
    file: "libweft-trace.so",
    folder: "trace",
    parts: &[
        ("trace.c", include_str!("../../carried/mpi/trace.c")),
        PROVIDER,
        ("weft-trace.h", include_str!("../../carried/include/weft-trace.h")),
    ],
};

/// Folders that are made for a library: its own, and Weft's.
const FOLDERS: usize = 2;
/// Right of others than the owner to write.
const OTHERS_WRITE: u32 = 0o022;

/// Variable that names the folder in which Intel MPI is installed.
const INTEL_ROOT: &str = "I_MPI_ROOT";

const FLAGS: [&str; 6] = ["-std=gnu11", "-O2", "-fPIC", "-shared", "-fvisibility=hidden", "-I."];

/// The library for one MPI library, made or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Preloaded {
    source: &'static Source,
    /// Path of the library, or the path where it is to be made.
    pub file: PathBuf,
    /// Compiler that makes it.
    pub compiler: PathBuf,
}

/// Reason why there is no such library.
#[derive(Debug, thiserror::Error)]
#[error("{option}: {why}")]
pub struct PreloadedError {
    /// Option that asks for it.
    option: &'static str,
    /// Obstacle.
    pub why: Why,
}

/// Obstacle to a library that is to be preloaded.
#[derive(Debug, thiserror::Error)]
pub enum Why {
    /// Nothing compiles for this MPI library.
    #[error(
        "there is no {} in {}, which has to make {file} for {launcher}: install what compiles programs for it (Debian's Open \
         MPI: apt-get install libopenmpi-dev gcc)", names.join(" or "), folder.display()
    )]
    NoCompiler {
        /// Names that were looked for.
        names: Vec<String>,
        /// Folder that was searched.
        folder: PathBuf,
        /// File of the library.
        file: &'static str,
        /// Launcher that the library is for.
        launcher: String,
    },
    /// Nobody knows where to keep it.
    #[error("neither XDG_CACHE_HOME nor HOME is set, so there is no place to keep {0}")]
    NoPlace(&'static str),
    /// The loader would take its path for several.
    #[error(
        "{} has a blank or a colon in its name, so LD_PRELOAD cannot name it: name another folder in XDG_CACHE_HOME",
        _0.display()
    )]
    Unnamable(PathBuf),
    /// Somebody else may have put it there.
    #[error("{} is another user's, so what is in it may be anybody's: name another folder in XDG_CACHE_HOME", _0.display())]
    Foreign(PathBuf),
    /// It cannot be written.
    #[error("{}: {cause}", path.display())]
    Unwritten {
        /// Path of the file.
        path: PathBuf,
        /// The system's error.
        cause: io::Error,
    },
    /// The compiler refused.
    #[error("{} cannot make {file}: {said}", compiler.display())]
    NotCompiled {
        /// Path of the compiler.
        compiler: PathBuf,
        /// File of the library.
        file: &'static str,
        /// The compiler's output.
        said: String,
    },
}

#[cfg(test)]
impl PreloadedError {
    /// That of a user without a home.
    pub fn no_place(source: &'static Source) -> Self {
        PreloadedError { option: source.option, why: Why::NoPlace(source.file) }
    }
}

impl Preloaded {
    /// The library of that source for the MPI library of `launcher`, and for programs that are
    /// linked as `linked` says. Makes nothing.
    ///
    /// # Errors
    /// [`Why::NoCompiler`], [`Why::NoPlace`].
    pub fn of(
        source: &'static Source,
        launcher: &Launcher,
        linked: &Linked,
    ) -> Result<Self, PreloadedError> {
        let failed = |why| PreloadedError { option: source.option, why };
        let compiler = compiler_of(source, launcher, linked).map_err(failed)?;
        let mut hasher = DefaultHasher::new();
        (launcher.to_string(), &compiler, source.parts, FLAGS).hash(&mut hasher);
        let folder = cache(env::var_os("XDG_CACHE_HOME"), env::var_os("HOME"));
        let folder = folder.ok_or_else(|| failed(Why::NoPlace(source.file)))?;
        let name = format!("{}-{:016x}", source.folder, hasher.finish());
        let file = folder.join(name).join(source.file);
        if file.as_os_str().as_bytes().iter().any(|byte| b" :".contains(byte)) {
            return Err(failed(Why::Unnamable(file)));
        }
        Ok(Preloaded { source, file, compiler })
    }

    /// The library in this file, for a test.
    #[cfg(test)]
    pub fn at(source: &'static Source, file: PathBuf, compiler: PathBuf) -> Self {
        Preloaded { source, file, compiler }
    }

    /// Makes it, if this user has not. A file that others could have put there is made again.
    ///
    /// # Errors
    /// [`PreloadedError`] says what cannot be written or compiled.
    pub fn make(&self) -> Result<(), PreloadedError> {
        self.made().map_err(|why| PreloadedError { option: self.source.option, why })
    }

    fn made(&self) -> Result<(), Why> {
        let mut is_private = true;
        for folder in self.file.ancestors().skip(1).take(FOLDERS) {
            is_private &= claim(folder)?;
        }
        if is_private && is_own(&self.file) {
            return Ok(());
        }
        // Another command may be making it: each has a folder of its own, and the last one to have
        // it gives it its name.
        let folder = self.file.with_extension(id().to_string());
        let made = self.make_in(&folder);
        let removed = fs::remove_dir_all(&folder);
        made.and(removed.map_err(|cause| Why::Unwritten { path: folder, cause }))
    }

    fn make_in(&self, folder: &Path) -> Result<(), Why> {
        fs::create_dir_all(folder).map_err(unwritten(folder))?;
        let Source { file, parts, .. } = self.source;
        for (name, text) in *parts {
            let path = folder.join(name);
            fs::write(&path, text).map_err(unwritten(&path))?;
        }
        let mut command = Command::new(&self.compiler);
        command.args(FLAGS).args([parts[0].0, "-o", file]);
        command.current_dir(folder).stdin(Stdio::null());
        // The compiler of Intel MPI has to be told where its library is; no other reads this.
        let prefix = self.compiler.parent().and_then(Path::parent);
        if let Some(prefix) = prefix.filter(|_| env::var_os(INTEL_ROOT).is_none()) {
            command.env(INTEL_ROOT, prefix);
        }
        let output = command.output().map_err(unwritten(&self.compiler))?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            return Err(Why::NotCompiled { compiler: self.compiler.clone(), file, said });
        }
        let library = folder.join(file);
        let only_own = fs::set_permissions(&library, Permissions::from_mode(0o755));
        only_own.and_then(|()| fs::rename(library, &self.file)).map_err(unwritten(&self.file))
    }
}

/// Has a folder be this user's alone. False if others could have changed what is in it, until now.
fn claim(folder: &Path) -> Result<bool, Why> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
    let about = made.and_then(|()| folder.metadata()).map_err(unwritten(folder))?;
    if about.uid() != geteuid().as_raw() {
        return Err(Why::Foreign(folder.into()));
    }
    let was_private = about.mode() & OTHERS_WRITE == 0;
    if !was_private {
        let only_own = Permissions::from_mode(0o700);
        fs::set_permissions(folder, only_own).map_err(unwritten(folder))?;
    }
    Ok(was_private)
}

/// True if a file is there, and this user's alone to write.
fn is_own(file: &Path) -> bool {
    let is_own = |about: fs::Metadata| {
        let only_own = about.uid() == geteuid().as_raw() && about.mode() & OTHERS_WRITE == 0;
        about.is_file() && only_own
    };
    file.symlink_metadata().is_ok_and(is_own)
}

/// An obstacle that names what cannot be written, or started.
fn unwritten(path: &Path) -> impl FnOnce(io::Error) -> Why {
    let path = path.to_owned();
    move |cause| Why::Unwritten { path, cause }
}

/// The compiler that stands beside a launcher. Where several packages have an `mpicc`, Debian gives
/// it the ending of its `mpirun`.
fn compiler_of(
    source: &'static Source,
    launcher: &Launcher,
    linked: &Linked,
) -> Result<PathBuf, Why> {
    let name = if linked.abi { "mpicc_abi" } else { "mpicc" };
    let ending = launcher.path.extension().and_then(OsStr::to_str);
    let mut names: Vec<String> =
        ending.map(|ending| format!("{name}.{ending}")).into_iter().collect();
    names.push(name.into());
    let folder = launcher.path.parent().unwrap_or(Path::new("."));
    let found = names.iter().map(|name| folder.join(name)).find(|path| path.is_file());
    let (folder, file) = (folder.into(), source.file);
    let none = || Why::NoCompiler { names, folder, file, launcher: launcher.to_string() };
    found.ok_or_else(none)
}

/// The user's folder for what can be made again.
fn cache(said: Option<OsString>, home: Option<OsString>) -> Option<PathBuf> {
    let is_absolute = |path: &PathBuf| path.is_absolute();
    let said = said.map(PathBuf::from).filter(is_absolute);
    let home = home.map(PathBuf::from).filter(is_absolute);
    let folder = said.or(home.map(|home| home.join(".cache")))?;
    Some(folder.join("weft"))
}

#[cfg(test)]
mod tests;
