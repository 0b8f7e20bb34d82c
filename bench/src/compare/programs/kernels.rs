//! Programs that are run: those of `apps/mpi` with problems that take a moment, and users' own.

use crate::compare::peers::installed;
use crate::compare::tool;
use anyhow::{Context, Result, bail};
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;

macro_rules! source {
    ($file:literal) => {
        ($file, include_str!(concat!("../../../../apps/mpi/", $file)))
    };
}

/// Files that sources include.
const INCLUDED: [(&str, &str); 3] =
    [source!("common.h"), source!("common.inc"), source!("declarations.inc")];

/// Source and problem of each program that comes along. A problem takes 0.1 to 0.5 s on two cores
/// that nobody else uses.
const KERNELS: [((&str, &str), &str); 10] = [
    (source!("cg.c"), "--rows 64 --columns 64 --repeat 20"),
    (source!("mg.c"), "--levels 5 --repeat 20"),
    (source!("is.c"), "--keys 65536 --bits 16 --rounds 100"),
    (source!("transpose.c"), "--rows 256 --rounds 200"),
    (source!("wave.c"), "--length 3000 --texts 20"),
    (source!("sparse.f90"), "--rows 4000 --repeat 30"),
    (source!("sweep.f90"), "--rows 256 --columns 256 --sweeps 200"),
    (source!("asp.c"), "--nodes 900"),
    (source!("qr.c"), "--rows 600 --columns 600"),
    (source!("sor.c"), "--rows 256 --columns 256 --iterations 1500"),
];

/// Compilers of sources, by the ends of their names, and Debian's packages.
const COMPILERS: [(&str, &str, &str); 2] = [
    (".c", "mpicc.openmpi", "openmpi-bin libopenmpi-dev"),
    (".f90", "mpif90.openmpi", "openmpi-bin libopenmpi-dev gfortran"),
];

/// An MPI program and its options.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Program {
    origin: Origin,
    options: Vec<String>,
}

/// Origin of a program.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Origin {
    /// A program of `apps/mpi`: name and text of its source.
    Kernel(&'static str, &'static str),
    /// An executable of the user's.
    File(PathBuf),
}

/// Programs that users name, each in one word with its options if it has any; all that come along
/// if none is named.
///
/// # Errors
/// A word is neither the name of a program that comes along nor a file.
pub fn named(words: &[String]) -> Result<Vec<Program>> {
    if words.is_empty() {
        return Ok(KERNELS.iter().map(|&kernel| Program::kernel(kernel)).collect());
    }
    words.iter().map(|word| Program::of_word(word)).collect()
}

impl Program {
    fn kernel(((file, text), problem): ((&'static str, &'static str), &str)) -> Self {
        Program { origin: Origin::Kernel(file, text), options: split(problem) }
    }

    fn of_word(word: &str) -> Result<Self> {
        let mut options = split(word);
        if options.is_empty() {
            bail!("the name of a program is empty");
        }
        let name = options.remove(0);
        if let Some(&kernel) = KERNELS.iter().find(|((file, _), _)| stem(file) == name) {
            let program = Program::kernel(kernel);
            return Ok(if options.is_empty() { program } else { Program { options, ..program } });
        }
        let names: Vec<&str> = KERNELS.iter().map(|((file, _), _)| stem(file)).collect();
        let path = std::path::absolute(&name)?;
        if !path.is_file() {
            bail!(
                "{name} is no file, and none of the programs that come along: {}",
                names.join(", ")
            );
        }
        Ok(Program { origin: Origin::File(path), options })
    }

    /// Its name.
    pub fn name(&self) -> String {
        match &self.origin {
            Origin::Kernel(file, _) => stem(file).to_owned(),
            Origin::File(path) => {
                path.file_name().unwrap_or_default().to_string_lossy().into_owned()
            }
        }
    }

    /// Its options.
    pub fn options(&self) -> &[String] {
        &self.options
    }

    /// Makes it ready to run; returns the path of its executable.
    ///
    /// # Errors
    /// There is no compiler for it, or it does not compile.
    pub fn compile(&self, folder: &Path) -> Result<String> {
        let (file, text) = match &self.origin {
            Origin::Kernel(file, text) => (file, text),
            Origin::File(path) => return Ok(path.to_string_lossy().into_owned()),
        };
        let compilers = COMPILERS.iter().find(|(end, _, _)| file.ends_with(end));
        let (_, compiler, packages) = compilers.context("there is no compiler for it")?;
        installed(compiler, packages)?;
        for (name, text) in INCLUDED.iter().chain([&(*file, *text)]) {
            std::fs::write(folder.join(name), text)?;
        }
        let executable = folder.join(stem(file));
        let mut compile = Command::new(compiler);
        compile.arg("-O3").arg("-o").arg(&executable).arg(folder.join(file)).arg("-lm");
        let context = || format!("{file} is not compiled (it needs {packages})");
        tool::output(&mut compile).with_context(context)?;
        Ok(executable.to_string_lossy().into_owned())
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.name())?;
        self.options.iter().try_for_each(|option| write!(f, " {option}"))
    }
}

fn stem(file: &str) -> &str {
    file.split('.').next().unwrap_or(file)
}

fn split(words: &str) -> Vec<String> {
    words.split_whitespace().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests;
