//! The C compiler and Weft, found and started: from the C of a program to its processes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

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

    /// Runs a program on so many ranks, by `weft run` with these options.
    ///
    /// # Errors
    /// Text for people: `weft` cannot be started.
    pub fn run(
        &self,
        program: &Path,
        ranks: u16,
        options: &[String],
    ) -> Result<ExitStatus, String> {
        let ranks = ranks.to_string();
        let mut command = Command::new(&self.command);
        command.args(["run", "-n", &ranks]).args(options).arg("--").arg(program);
        command.status().map_err(|error| {
            format!("orcac: {} cannot be started: {error}\n", self.command.display())
        })
    }
}

fn unwritable(what: &str, error: &std::io::Error) -> String {
    format!("orcac: {what} cannot be written: {error}\n")
}
