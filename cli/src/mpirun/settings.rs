//! Settings that make an MPI library use Weft.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};
use std::thread::available_parallelism;

use anyhow::{Result, bail};
use weft_app_common::command_line;
use weft_launch::fabric_environment;

use super::words::Given;
use crate::deadlocks::Deadlocks;
use crate::mpi::{NAME, PROVIDER, PROVIDER_PATH, Provider, Stack};
use crate::surroundings::Variable;

/// Open MPI's: messages go through libfabric (`cm` is what uses an `mtl`), and through this
/// provider.
pub const PARAMETERS: [(&str, &str); 3] =
    [("pml", "cm"), ("mtl", "ofi"), ("mtl_ofi_provider_include", NAME)];

/// MPICH's: messages go through libfabric, between ranks of one host as well.
pub const VARIABLES: [(&str, &str); 2] =
    [("MPIR_CVAR_CH4_NETMOD", "ofi"), ("MPIR_CVAR_NOLOCAL", "1")];

/// Intel MPI's: the same.
pub const INTEL_VARIABLES: [(&str, &str); 1] = [("I_MPI_FABRICS", "ofi")];

/// Choice of an algorithm for `MPI_Allgather` that gathers the right bytes where what is sent and
/// what is received are counted differently. By itself Intel MPI 2021.18 takes one that does not,
/// over any provider.
const RIGHT_ALLGATHER: (&str, &str) = ("I_MPI_ADJUST_ALLGATHER", "1");

/// Variable that names the libraries that the loader loads before everything else.
pub const PRELOAD: &str = "LD_PRELOAD";

/// Variable that asks for all bytes between hosts to be authenticated.
pub const AUTHENTICATE: &str = "WEFT_AUTHENTICATE";

/// Variable that asks for encryption between hosts.
pub const ENCRYPT: &str = "WEFT_ENCRYPT";

/// Variable that names the file of a trace.
pub const TRACE: &str = "WEFT_TRACE";

/// Variable that asks for all checks of invariants.
pub const CHECK: &str = "WEFT_CHECK";

/// Variable that asks for all collectives that Weft can do.
pub const ALL_COLLECTIVES: &str = "WEFT_COLL_ALL";

/// Variables that name the link between hosts, and the provider of libfabric for it.
const LINK: &str = "WEFT_LINK";
const FABRIC_PROVIDER: &str = "WEFT_PROVIDER";

/// Variables with the limit of waits, in seconds, and with what is done about a deadlock.
const PROGRESS_LIMIT: &str = "WEFT_PROGRESS_LIMIT";
const ON_DEADLOCK: &str = "WEFT_ON_DEADLOCK";

/// Options by which users of Open MPI name hosts, or say themselves how many ranks a host takes and
/// where they run.
const PLACES: [&str; 10] = [
    "host",
    "H",
    "hosts",
    "hostfile",
    "machinefile",
    "map-by",
    "oversubscribe",
    "nooversubscribe",
    "rankfile",
    "app",
];
const BINDINGS: [&str; 4] = ["bind-to", "bind-to-core", "cpu-set", "cpu-list"];

/// Takes from the options, or from the variables of ranks, what they have ranks load before
/// everything else, if they do: a variable may be given once only.
pub fn take_preload(options: &mut Vec<Given>, variables: &mut Vec<Variable>) -> Option<OsString> {
    let is_empty = |said: &OsString| said.is_empty();
    if let Some(at) = variables.iter().position(|variable| variable.name == PRELOAD) {
        return Some(variables.remove(at).value).filter(|said| !is_empty(said));
    }
    let preloaded = |option: &Given| match (&*option.name, option.value(0)?) {
        ("genv", name) if name == PRELOAD => option.value(1),
        _ => None,
    };
    let (at, said) = options.iter().enumerate().find_map(|(at, it)| Some((at, preloaded(it)?)))?;
    options.remove(at);
    Some(said.into()).filter(|said| !is_empty(said))
}

/// True if ranks of other hosts are reached over a fabric, for which the system's libfabric is
/// wanted.
pub fn is_over_fabric() -> bool {
    std::env::var_os(LINK).is_some_and(|link| link == "fabric")
}

/// Settings for a library.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// In the environment.
    pub variables: Vec<(&'static str, OsString)>,
    /// On the command line.
    pub words: Vec<OsString>,
}

impl Settings {
    /// Settings for a stack, beside the options that are `given`. `is_set` knows the environment.
    ///
    /// # Errors
    /// If the options contradict.
    pub fn of(
        stack: Stack,
        provider: &Provider,
        given: &[Given],
        is_set: impl Fn(&str) -> bool,
    ) -> Result<Self> {
        let mut settings = Settings::default();
        settings.variables.push((PROVIDER_PATH, provider.folder.clone().into()));
        match stack {
            Stack::OpenMpi => {
                settings.add_parameters(given)?;
                settings.export(PROVIDER_PATH);
                // It may be set to another provider, and then libfabric would have this one no
                // more.
                if is_set(PROVIDER) {
                    settings.variables.push((PROVIDER, NAME.into()));
                    settings.export(PROVIDER);
                }
                settings.make_room(given, cores());
            }
            Stack::Mpich => settings.set(&VARIABLES),
            Stack::IntelMpi => {
                settings.set(&INTEL_VARIABLES);
                if !is_set(RIGHT_ALLGATHER.0) {
                    settings.variables.push((RIGHT_ALLGATHER.0, RIGHT_ALLGATHER.1.into()));
                }
            }
        }
        Ok(settings)
    }

    /// Leaves libfabric no other provider, and sets these variables: hydra hands all of them on.
    fn set(&mut self, variables: &[(&'static str, &str)]) {
        self.variables.push((PROVIDER, NAME.into()));
        self.variables.extend(variables.iter().map(|&(name, value)| (name, value.into())));
    }

    /// Tells ranks of all hosts, by this variable, to do what it names.
    pub fn ask_for(&mut self, variable: &'static str, stack: Stack) {
        self.tell(variable, "1".into(), stack);
    }

    /// Has ranks of all hosts write down what they do, to parts of this file.
    pub fn trace(&mut self, file: &Path, stack: Stack) {
        self.tell(TRACE, file.into(), stack);
    }

    /// Tells ranks when they are in a deadlock, and what is done then, as far as that is said.
    pub fn watch(&mut self, deadlocks: &Deadlocks, stack: Stack) {
        if let Some(limit) = deadlocks.progress_limit {
            self.tell(PROGRESS_LIMIT, limit.as_secs_f64().to_string().into(), stack);
        }
        if let Some(reaction) = deadlocks.on_deadlock {
            self.tell(ON_DEADLOCK, reaction.to_string().into(), stack);
        }
    }

    /// Tells ranks over a fabric how libfabric is to work for them, as `variable` names the link
    /// and the provider, unless that is said already.
    pub fn set_up_fabric(&mut self, stack: Stack, variable: impl Fn(&str) -> Option<String>) {
        let (link, provider) = (variable(LINK), variable(FABRIC_PROVIDER));
        for (name, value) in fabric_environment(link.as_deref(), provider.as_deref()) {
            if variable(name).is_none() {
                self.tell(name, value.into(), stack);
            }
        }
    }

    /// Sets a variable for ranks of all hosts.
    fn tell(&mut self, variable: &'static str, value: OsString, stack: Stack) {
        self.variables.push((variable, value));
        if stack == Stack::OpenMpi {
            self.export(variable);
        }
    }

    /// Has ranks load these libraries, if there are any, before everything else, but for what is
    /// loaded before already: ranks only, because the `mpirun` has no use for them.
    pub fn preload(&mut self, stack: Stack, libraries: &[&Path], already: Option<OsString>) {
        if libraries.is_empty() {
            return;
        }
        let already = already.filter(|already| !already.is_empty());
        let libraries = libraries.iter().map(|library| library.as_os_str().to_owned());
        let value = libraries.chain(already).collect::<Vec<_>>().join(OsStr::new(":"));
        match stack {
            Stack::OpenMpi => {
                let mut word = OsString::from(PRELOAD);
                word.push("=");
                word.push(value);
                self.words.extend(["-x".into(), word]);
            }
            Stack::Mpich | Stack::IntelMpi => {
                self.words.extend(["-genv".into(), PRELOAD.into(), value]);
            }
        }
    }

    /// Gives ranks of all hosts these variables, and this directory: ranks only, as the `mpirun`
    /// has its own.
    ///
    /// # Errors
    /// A variable is one of those that make the library use Weft.
    pub fn surround(
        &mut self,
        variables: &[Variable],
        directory: Option<PathBuf>,
        stack: Stack,
    ) -> Result<()> {
        for Variable { name, value } in variables {
            if self.variables.iter().any(|(own, _)| *name != "PATH" && name == own) {
                let name = name.display();
                bail!(
                    "weft mpirun sets {name} itself, by which ranks use Weft: leave out --env {name}"
                );
            }
            match stack {
                Stack::OpenMpi => {
                    let mut word = name.clone();
                    word.push("=");
                    word.push(value);
                    self.words.extend(["-x".into(), word]);
                }
                Stack::Mpich | Stack::IntelMpi => {
                    self.words.extend(["-genv".into(), name.clone(), value.clone()]);
                }
            }
        }
        if let Some(directory) = directory {
            let option = if stack == Stack::OpenMpi { "--wdir" } else { "-wdir" };
            self.words.extend([option.into(), directory.into()]);
        }
        Ok(())
    }

    /// Open MPI takes a parameter once only.
    fn add_parameters(&mut self, given: &[Given]) -> Result<()> {
        for (name, value) in PARAMETERS {
            let said = given.iter().filter(|option| option.name.ends_with("mca"));
            let mut said = said.filter(|option| option.value(0).as_deref() == Some(name));
            match said.next().and_then(|option| option.value(1)) {
                None => self.words.extend(["--mca", name, value].map(OsString::from)),
                Some(same) if same == value => {}
                Some(other) => bail!(
                    "--mca {name} {other} contradicts --mca {name} {value}, without which Open MPI does not use Weft: leave it out, \
                     or run mpirun itself"
                ),
            }
        }
        Ok(())
    }

    /// Open MPI hands a variable on to other hosts.
    fn export(&mut self, variable: &str) {
        self.words.extend(["-x", variable].map(OsString::from));
    }

    /// Open MPI refuses more ranks than cores, and binds ranks to cores that others then have to
    /// share.
    fn make_room(&mut self, given: &[Given], cores: usize) {
        let is_given =
            |names: &[&str]| given.iter().any(|option| names.contains(&option.name.as_str()));
        let ranks = given.iter().find(|option| ["n", "np", "c"].contains(&option.name.as_str()));
        let ranks = ranks.and_then(|option| option.value(0)?.parse::<usize>().ok()).unwrap_or(1);
        if ranks <= cores || is_given(&PLACES) {
            return;
        }
        self.words.push("--oversubscribe".into());
        if !is_given(&BINDINGS) {
            self.words.extend(["--bind-to", "none"].map(OsString::from));
        }
    }
}

/// `FI_PROVIDER_PATH=/opt/weft/lib/libfabric --mca pml cm`.
impl fmt::Display for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let variables = self.variables.iter();
        let variables =
            variables.map(|(name, value)| format!("{name}={}", value.to_string_lossy()));
        let words = self.words.iter().map(|word| word.to_string_lossy().into_owned());
        f.write_str(&command_line(variables.chain(words)))
    }
}

/// The cores of this host that this process may use, as Open MPI counts them: threads of one core
/// are one.
fn cores() -> usize {
    let threads = available_parallelism().map_or(1, std::num::NonZero::get);
    let siblings = |thread: usize| {
        let file = format!("/sys/devices/system/cpu/cpu{thread}/topology/thread_siblings_list");
        std::fs::read_to_string(file).ok()
    };
    let cores: BTreeSet<String> = (0..).map_while(siblings).collect();
    if cores.is_empty() { threads } else { threads.min(cores.len()) }
}

#[cfg(test)]
mod tests;
