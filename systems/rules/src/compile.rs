//! The C compiler, started: from C to a library, in a folder of its own that goes at once.

use crate::error::Error;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use tempfile::TempDir;

/// The header, so that C always meets the one that it is loaded by.
const HEADER: &str = include_str!("../../../bindings/c/include/weft-game.h");

/// Flags: arithmetic of any values is defined.
const FLAGS: [&str; 6] = ["-std=gnu11", "-O3", "-fwrapv", "-fPIC", "-shared", "-w"];

/// A compiled library. Its folder goes when it is dropped; what was loaded stays.
pub(crate) struct Compiled {
    pub library: PathBuf,
    _folder: TempDir,
}

/// Compiles the C of rules.
pub(crate) fn compile(name: &str, text: &str) -> Result<Compiled, Error> {
    let folder = tempfile::Builder::new().prefix("weft-rules-").tempdir().map_err(Error::Folder)?;
    let [source, library] = ["rules.c", "rules.so"].map(|name| folder.path().join(name));
    fs::write(folder.path().join("weft-game.h"), HEADER).map_err(Error::Folder)?;
    fs::write(&source, text).map_err(Error::Folder)?;
    let compiler = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
    let mut command = Command::new(&compiler);
    command.args(FLAGS).arg("-I").arg(folder.path()).arg(&source).arg("-o").arg(&library);
    let compiler = compiler.to_string_lossy().into_owned();
    match command.output() {
        Err(error) => Err(Error::Compiler { compiler, error }),
        Ok(output) if !output.status.success() => {
            let place = format!("{}", source.display());
            let text = String::from_utf8_lossy(&output.stderr).replace(&place, name);
            Err(Error::Refused { compiler, name: name.into(), text: text.trim_end().into() })
        }
        Ok(_) => Ok(Compiled { library, _folder: folder }),
    }
}
