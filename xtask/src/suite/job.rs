//! Processes that run tests: of a program, of a module of one, or of what comments have.

use super::modules::{Module, modules};
use super::recorded::Recorded;
use anyhow::Result;
use std::path::Path;
use std::process::Command;

/// Words that, put before a command, run it with an empty `/dev/shm` that nobody else sees: it
/// takes the process's place.
const OWN_SHARED_MEMORY: [&str; 8] = [
    "unshare",
    "--mount",
    "--propagation",
    "private",
    "sh",
    "-c",
    "mount -t tmpfs none /dev/shm && exec \"$@\"",
    "sh",
];

/// Words that, put before a command, have it run only on what other processes leave of the cores.
const LAST: [&str; 3] = ["nice", "-n", "19"];

/// A process that runs tests.
pub enum Job<'a> {
    Program(Tests),
    /// Checks of another kind, beside the tests.
    Beside(&'a [&'a str]),
    /// Examples in comments of these packages, which Cargo builds and runs.
    Documentation(&'a [&'a str]),
}

/// Tests of a program: all, or those of one module.
pub struct Tests {
    program: Recorded,
    module: Option<Module>,
    has_own_shared_memory: bool,
}

impl Job<'_> {
    /// All tests of a program, in one process.
    pub fn whole(program: Recorded) -> Self {
        Job::Program(Tests { program, module: None, has_own_shared_memory: false })
    }

    /// The tests of a program, each module of them in a process of its own. A module without tests
    /// has none.
    ///
    /// # Errors
    /// The program does not say which tests it has.
    pub fn split(program: &Recorded) -> Result<Vec<Self>> {
        let tests = |module| {
            let (program, module) = (program.clone(), Some(module));
            Job::Program(Tests { program, module, has_own_shared_memory: false })
        };
        Ok(modules(program)?.into_iter().map(tests).collect())
    }

    /// Has it run with a `/dev/shm` of its own, where that [is possible](can_own_shared_memory).
    pub fn own_shared_memory(&mut self) {
        if let Job::Program(tests) = self {
            tests.has_own_shared_memory = true;
        }
    }

    /// Name for people: `it of cli: across` for a module, `it of endpoint` for a program.
    pub fn name(&self, root: &Path) -> String {
        match self {
            Job::Program(Tests { program, module, .. }) => {
                let whole = format!("{} of {}", program.name(), program.folder_in(root).display());
                match module {
                    Some(module) if !module.name.is_empty() => format!("{whole}: {}", module.name),
                    _ => whole,
                }
            }
            Job::Beside(words) => words.join(" "),
            Job::Documentation(_) => "examples in comments".into(),
        }
    }

    /// True of the module of this name in a program that is split, and of the program of this name
    /// in the others.
    pub fn is(&self, root: &Path, (folder, name): (&str, &str)) -> bool {
        let Job::Program(Tests { program, module, .. }) = self else { return false };
        let own = module.as_ref().map_or_else(|| program.name(), |module| module.name.clone());
        program.folder_in(root) == Path::new(folder) && own == name
    }

    pub fn command(&self, root: &Path) -> Command {
        match self {
            Job::Program(Tests { program, module, has_own_shared_memory }) => {
                let before: &[&str] = if *has_own_shared_memory { &OWN_SHARED_MEMORY } else { &[] };
                let mut command = program.command(before);
                command.args(module.iter().flat_map(Module::words));
                command
            }
            Job::Beside(words) => {
                let [nice, more @ ..] = LAST;
                let mut command = Command::new(nice);
                command.args(more).args(*words).current_dir(root);
                command
            }
            Job::Documentation(packages) => {
                let mut command = Command::new("cargo");
                command.args(["test", "--locked", "--doc"]).args(*packages).current_dir(root);
                command
            }
        }
    }
}

/// True if a process may have a `/dev/shm` of its own here.
pub fn can_own_shared_memory() -> bool {
    let [unshare, words @ ..] = OWN_SHARED_MEMORY;
    let tried = Command::new(unshare).args(words).arg("true").output();
    tried.is_ok_and(|output| output.status.success())
}
