//! Checks that `libweft-coll.so` is there or can be made, and that one that is preloaded is for
//! this MPI library.

use std::env;
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use crate::doctor::finding::Finding;
use crate::mpi::{COLLECTIVES, Launcher, Linked, Preloaded, PreloadedError, Stack, libraries_of};
use crate::mpirun::PRELOAD;

const NAME: &str = "collectives";

/// The library that is preloaded already, or else the one that `weft mpirun --collectives weft`
/// would preload.
pub fn find(launcher: &Launcher) -> Finding {
    match named_in(env::var_os(PRELOAD)) {
        Some(file) => {
            of_preloaded(launcher.stack, &file, file.is_file().then(|| libraries_of(&file)))
        }
        None => of_own(Preloaded::of(&COLLECTIVES, launcher, &Linked::default())),
    }
}

/// The library among those that are preloaded, which colons and blanks separate.
fn named_in(preloaded: Option<OsString>) -> Option<PathBuf> {
    let preloaded = preloaded?;
    let words = preloaded.as_bytes().split(|byte| matches!(byte, b':' | b' '));
    words
        .map(|word| PathBuf::from(OsString::from_vec(word.to_vec())))
        .find(|file| file.ends_with(COLLECTIVES.file))
}

/// Checks that a library that is preloaded is of use: `linked` with the facts about it, if it is
/// there.
fn of_preloaded(stack: Stack, file: &Path, linked: Option<Linked>) -> Finding {
    let said = format!("{PRELOAD} names {}", file.display());
    let advice = format!(
        "unset {PRELOAD}, and say weft mpirun --collectives weft, which makes one for {stack}"
    );
    match linked {
        // The loader would look for it in folders of its own, which differ from host to host.
        None if file.components().count() == 1 => Finding::problem(
            NAME,
            format!("{said}, without a folder"),
            format!("name the whole path, or {advice}"),
        ),
        None => Finding::problem(
            NAME,
            format!(
                "{said}, which is not there: the loader goes on without it, and so collectives are the MPI library's own"
            ),
            advice,
        ),
        Some(Linked { stack: None, abi: false, .. }) => {
            Finding::problem(NAME, format!("{said}, which is linked with no MPI library"), advice)
        }
        Some(Linked { stack: Some(other), .. }) if !stack.runs(other) => Finding::problem(
            NAME,
            format!("{said}, which is made for {other}, and mpirun is {stack}'s"),
            advice,
        ),
        Some(_) => Finding::ok(NAME, said),
    }
}

/// The collectives library that is taken if the environment names none.
fn of_own(collectives: Result<Preloaded, PreloadedError>) -> Finding {
    const ASK: &str = "weft mpirun --collectives weft";
    match collectives {
        Ok(Preloaded { file, .. }) if file.is_file() => {
            Finding::ok(NAME, format!("{ASK} preloads {}", file.display()))
        }
        Ok(Preloaded { file, compiler, .. }) => {
            let (file, compiler) = (file.display(), compiler.display());
            Finding::ok(NAME, format!("{ASK} makes {file}, by {compiler}"))
        }
        Err(error) => Finding::absent(
            NAME,
            error.to_string(),
            "nothing to do, if collectives may be the MPI library's own",
        ),
    }
}

#[cfg(test)]
mod tests;
