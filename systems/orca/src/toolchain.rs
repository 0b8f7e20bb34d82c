//! The C compiler and Weft, found and started: from the C of a program to its processes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

/// Headers of Weft, so that the C that is made always meets the ones that it was made for.
const HEADERS: [(&str, &str); 3] = [
    ("weft.h", include_str!("../../../bindings/c/include/weft.h")),
    ("weft-objects.h", include_str!("../../../bindings/c/include/weft-objects.h")),
    ("weft-sim.h", include_str!("../../../bindings/c/include/weft-sim.h")),
];

/// Flags for the C compiler: optimised, since programs are compiled to run fast.
const FLAGS: [&str; 4] = ["-std=gnu11", "-O3", "-pthread", "-Wl,--gc-sections"];

/// Libraries that Weft stands on, as `weft.pc` names them.
const LIBRARIES: [&str; 6] = ["-lgcc_s", "-lutil", "-lrt", "-lpthread", "-lm", "-ldl"];

/// Ranks that a program is compiled for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ranks {
    /// Processes of the system, which `weft run` starts.
    Processes,
    /// Simulated ones, all in one process.
    Simulated,
}

/// The library `libweft.a`, of which a program takes its part along, and the command `weft`.
pub struct Weft {
    library: PathBuf,
    command: PathBuf,
}

impl Weft {
    /// Weft as it was built or installed together with this program; `WEFT_PREFIX` names another
    /// installation.
    ///
    /// # Errors
    /// Text for people: it is nowhere.
    pub fn find() -> Result<Self, String> {
        let own = std::env::current_exe().ok();
        let beside = own.as_deref().and_then(Path::parent).map(Path::to_owned);
        let installed = beside.as_deref().and_then(Path::parent).map(Path::to_owned);
        let prefix = std::env::var_os("WEFT_PREFIX").map(PathBuf::from);
        let below = |prefix: &PathBuf| (prefix.join("lib"), prefix.join("bin"));
        let mut places: Vec<(PathBuf, PathBuf)> = prefix.iter().map(below).collect();
        places.extend(beside.map(|folder| (folder.clone(), folder)));
        places.extend(installed.as_ref().map(below));
        let found = places.iter().find(|(library, _)| library.join("libweft.a").exists());
        match found {
            Some((library, commands)) => {
                let (library, command) = (library.join("libweft.a"), commands.join("weft"));
                Ok(Weft { library, command })
            }
            None => {
                let looked: Vec<String> =
                    places.iter().map(|(library, _)| library.display().to_string()).collect();
                Err(format!(
                    "orcac: libweft.a is in none of these: {}; install Weft (`make install`), or \
                     name its prefix in WEFT_PREFIX\n",
                    looked.join(", ")
                ))
            }
        }
    }

    /// Compiles C to a program for such ranks.
    ///
    /// # Errors
    /// Text for people: there is no C compiler, or files cannot be written.
    pub fn compile(&self, text: &str, program: &Path, ranks: Ranks) -> Result<(), String> {
        let folder = tempfile::tempdir().map_err(|error| unwritable("a folder for C", &error))?;
        let source = folder.path().join("program.c");
        for (name, text) in HEADERS.into_iter().chain([("program.c", text)]) {
            let path = folder.path().join(name);
            fs::write(&path, text)
                .map_err(|error| unwritable(&path.display().to_string(), &error))?;
        }
        let compiler = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
        let output = Command::new(&compiler)
            .args(FLAGS)
            .args((ranks == Ranks::Simulated).then_some("-DORCA_SIMULATED"))
            .arg("-I")
            .arg(folder.path())
            .arg(&source)
            .arg("-o")
            .arg(program)
            .arg(&self.library)
            .args(LIBRARIES)
            .output();
        let compiler = compiler.to_string_lossy();
        let output = output.map_err(|error| {
            format!(
                "orcac: the C compiler `{compiler}` cannot be started: {error}; install one, or \
                 name one in CC\n"
            )
        })?;
        match output.status.success() {
            true => Ok(()),
            false => Err(format!(
                "orcac: `{compiler}` refuses the C that was made; `--c` shows it:\n{}",
                String::from_utf8_lossy(&output.stderr)
            )),
        }
    }

    /// Command that runs a program on so many ranks, by `weft run` with these options. Without a
    /// number it has one rank, or those of the hosts that the options name.
    pub fn command(&self, program: &Path, ranks: Option<u16>, options: &[String]) -> Command {
        let ranks = ranks.or_else(|| (!name_hosts(options)).then_some(1));
        let mut command = Command::new(&self.command);
        command.arg("run");
        if let Some(ranks) = ranks {
            command.args(["-n", &ranks.to_string()]);
        }
        command.args(options).arg("--").arg(program);
        command
    }
}

/// A folder for a program that these options for `weft run` start, which goes when it is dropped.
/// Other hosts have to find the program, so for them it is in the working directory, which all
/// hosts have (`docs/guide/hosts.md`).
///
/// # Errors
/// Text for people: the folder cannot be made.
pub fn folder_for_program(options: &[String]) -> Result<TempDir, String> {
    let place = match name_hosts(options) {
        true => std::env::current_dir(),
        false => Ok(std::env::temp_dir()),
    };
    let folder =
        place.and_then(|place| tempfile::Builder::new().prefix(".orcac-").tempdir_in(place));
    folder.map_err(|error| format!("orcac: a folder for the program cannot be made: {error}\n"))
}

/// True if options for `weft run` name hosts.
fn name_hosts(options: &[String]) -> bool {
    let names = |option: &&str| ["--hosts", "--hostfile"].contains(option);
    options.iter().filter_map(|option| option.split('=').next()).any(|option| names(&option))
}

fn unwritable(what: &str, error: &std::io::Error) -> String {
    format!("orcac: {what} cannot be written: {error}\n")
}
