//! `weft mpirun`: an MPI program on Weft, started by the MPI library that is installed.
//!
//! It finds the library's own `mpirun` and Weft's provider, sets what the library has to be told,
//! and becomes that `mpirun`.

mod settings;
mod words;

use std::env;
use std::os::unix::process::CommandExt;
use std::path::{self, Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use clap::{Args, Parser, ValueEnum};
use std::ffi::OsString;
use weft_app_common::{Recorded, command_line};
use weft_launch::{OnLoss, find_program, is_wanted, own_directory};

use crate::deadlocks::Deadlocks;
use crate::mpi::{
    self, COLLECTIVES, FILE, Launcher, Linked, Preloaded, Provider, Stack, TRACE, Wanted,
    libraries_of,
};
use crate::surroundings::Surroundings;
pub use settings::{INTEL_VARIABLES, PARAMETERS, PRELOAD, VARIABLES};
use settings::{Settings, take_preload};

/// Run an MPI program on Weft, unmodified
///
/// Finds which MPI library there is and starts its own mpirun, told to use Weft.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
#[command(
    override_usage = "weft mpirun [-n N] [OPTIONS] [MPIRUN'S OPTIONS]... PROGRAM [ARGUMENTS]..."
)]
pub struct Arguments {
    #[command(flatten)]
    own: Own,
    /// The number of ranks (-n N), other options of the library's mpirun, the program and its
    /// arguments
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    #[arg(value_name = "MPIRUN'S OPTIONS, PROGRAM, ARGUMENTS")]
    words: Vec<OsString>,
}

/// Weft's own options, which may stand anywhere before the program.
#[derive(Parser)]
struct Own {
    /// The MPI library [default: the one that the program is linked with, or that of the mpirun
    /// beside it, or of the first in PATH]
    #[arg(long, value_enum)]
    stack: Option<Stack>,
    /// Path of libweft-fi.so [default: in FI_PROVIDER_PATH, installed with weft, or built with it]
    #[arg(long, value_name = "PATH")]
    provider: Option<PathBuf>,
    /// Collectives by the MPI library [default], or by Weft, with libweft-coll preloaded: where it
    /// is faster, or all that it can do
    #[arg(long, value_enum)]
    collectives: Option<By>,
    /// Authenticate all bytes of packets between hosts, long ones too
    #[arg(long, env = "WEFT_AUTHENTICATE", value_parser = is_wanted)]
    authenticate: bool,
    /// Encrypt packets between hosts
    #[arg(long, env = "WEFT_ENCRYPT", value_parser = is_wanted)]
    encrypt: bool,
    /// Check all invariants of the protocols after each packet, which takes time
    #[arg(long, env = "WEFT_CHECK", value_parser = is_wanted)]
    check: bool,
    #[command(flatten)]
    recorded: Recorded,
    #[command(flatten)]
    deadlocks: Deadlocks,
    #[command(flatten)]
    surroundings: Surroundings,
    /// Reaction to the loss of a rank, for those who are used to weft run: there is one
    #[arg(long, value_name = "REACTION", hide = true)]
    on_loss: Option<OnLoss>,
    /// Do not say first which library was found, and what it was told
    #[arg(short, long, env = "WEFT_QUIET", value_parser = is_wanted)]
    quiet: bool,
    /// Only print the command
    #[arg(long)]
    dry_run: bool,
}

/// Library that does collectives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum By {
    /// The MPI library, of messages
    Mpi,
    /// Weft, where it is faster; what it is not or cannot do it leaves to the MPI library
    Weft,
    /// Weft, whatever it can do
    All,
}

const EXAMPLES: &str = "\
Examples:
  weft mpirun -n 4 ./asp                       4 ranks of a program that mpicc made
  weft mpirun -n 4 python3 job.py              the same for mpi4py
  weft mpirun -n 4 --stack mpich ./asp         by MPICH where there is Open MPI too
  weft mpirun --host a:2,b:2 ./asp             what mpirun itself has to be told
  weft mpirun -n 4 --collectives weft ./asp    collectives by Weft where it is faster
  weft mpirun -n 4 -x DEBUG=1 --time-limit 10m ./asp    a variable of the ranks, and ten minutes at most
  weft mpirun -n 4 --trace ./asp               write down what happens; then weft report weft.trace
  weft mpirun -n 4 --dry-run ./asp             which command that is
  weft doctor --mpi                            why it does not work

One line on standard error says which library was found and what it was told, unless -q is given. Everything else is
that library's own mpirun: its options, its signals, its exit status.";

/// Becomes the library's `mpirun`.
pub fn run(arguments: Arguments) -> Result<ExitCode> {
    let mut words = words::split(arguments.words);
    let own = arguments.own.and(&words.own)?;
    own.check()?;
    let Some(program) = words.program.first() else {
        bail!("weft mpirun needs a program: weft mpirun -n 4 ./program");
    };
    let path = env::var_os("PATH");
    let program = find_program(program, None, path.as_deref()).ok();
    let linked = program.as_deref().map(libraries_of).unwrap_or_default();
    let wanted = wanted(own.stack, &linked)?;
    // An interpreter knows nothing of MPI, but has the MPI library of its own environment beside
    // it.
    let beside = program.as_deref().and_then(Path::parent);
    let beside = linked.launchers.as_deref().or(beside);
    let launcher = Launcher::find(wanted, beside, path.as_deref())?;
    launcher.has_fabric()?;
    check_hosts(&launcher, &words)?;
    let provider = find_provider(own.provider.as_deref())?;
    let mut settings = Settings::of(launcher.stack, &provider, &words.options, |name| {
        env::var_os(name).is_some_and(|value| !value.is_empty())
    })?;
    if let Some(path) = launcher.path_for(path.as_deref()) {
        settings.variables.push(("PATH", path));
    }
    for variable in own.variables() {
        settings.ask_for(variable, launcher.stack);
    }
    settings.watch(&own.deadlocks, launcher.stack);
    settings.set_up_fabric(launcher.stack, |name| env::var(name).ok());
    let mut preloaded = Vec::new();
    // Before what it writes down.
    if let Some(file) = &own.recorded.trace {
        settings.trace(&trace_file(file)?, launcher.stack);
        preloaded.push(Preloaded::of(&TRACE, &launcher, &linked)?);
    }
    if matches!(own.collectives, Some(By::Weft | By::All)) {
        preloaded.push(Preloaded::of(&COLLECTIVES, &launcher, &linked)?);
    }
    if !own.dry_run {
        preloaded.iter().try_for_each(Preloaded::make)?;
    }
    let mut libraries: Vec<_> = preloaded.iter().map(|library| &*library.file).collect();
    let correction = provider.folder.join(FILE);
    let host = provider.host();
    if launcher.needs_correction() {
        libraries.push(&correction);
        libraries.extend(host.as_deref().filter(|_| !settings::is_over_fabric()));
    }
    let mut variables = own.surroundings.variables();
    let said = match libraries.is_empty() {
        true => None,
        false => take_preload(&mut words.options, &mut variables),
    };
    settings.preload(launcher.stack, &libraries, said.or_else(|| env::var_os(PRELOAD)));
    settings.surround(&variables, own.surroundings.directory(), launcher.stack)?;
    if !own.quiet {
        own.announce(&launcher, &settings);
    }
    let mut command = limited(&launcher.path, own.surroundings.time_limit());
    command.envs(settings.variables.iter().map(|(name, value)| (name, value)));
    command.args(&settings.words);
    command.args(words.options.iter().flat_map(|option| &option.words)).args(&words.program);
    if own.dry_run {
        weft_app_common::write_out(format_args!("{}\n", as_typed(&settings, &command)))?;
        return Ok(ExitCode::SUCCESS);
    }
    let error = command.exec();
    Err(error).with_context(|| format!("cannot run {}", command.get_program().display()))
}

/// The command that runs an `mpirun`, for so long at most: `timeout` ends it then, with status 124
/// and a line that says so, as `mpirun` is ended by SIGTERM, and by SIGKILL if it does not go.
fn limited(launcher: &Path, limit: Option<Duration>) -> Command {
    let Some(limit) = limit else { return Command::new(launcher) };
    let mut command = Command::new("timeout");
    // In the foreground it leaves the terminal to mpirun, and to Ctrl-C.
    command.args(["--foreground", "--verbose", "--kill-after=10"]);
    command.arg(format!("{}s", limit.as_secs_f64())).arg(launcher);
    command
}

/// Checks that hosts are given as the library's `mpirun` wants them.
fn check_hosts(launcher: &Launcher, words: &words::Words) -> Result<()> {
    if launcher.stack == Stack::OpenMpi && words.options.iter().any(|it| it.name == "hosts") {
        bail!(
            "mpirun of Open MPI has no --hosts, but --host: weft mpirun --host a:2,b:2 ./program"
        );
    }
    Ok(())
}

/// The provider that belongs to this command, or the one that the environment names.
///
/// # Errors
/// If there is none.
pub fn find_provider(said: Option<&Path>) -> Result<Provider> {
    let own = own_directory().context("cannot find the folder of this command")?;
    Ok(Provider::find(said, env::var_os(mpi::PROVIDER_PATH).as_deref(), &own)?)
}

impl Own {
    /// These options and those that stood behind others.
    fn and(self, others: &[OsString]) -> Result<Own, clap::Error> {
        let first = OsString::from("weft mpirun");
        let others = Own::try_parse_from(std::iter::once(&first).chain(others))?;
        Ok(Own {
            stack: others.stack.or(self.stack),
            provider: others.provider.or(self.provider),
            collectives: others.collectives.or(self.collectives),
            authenticate: others.authenticate || self.authenticate,
            encrypt: others.encrypt || self.encrypt,
            check: others.check || self.check,
            recorded: Recorded { trace: others.recorded.trace.or(self.recorded.trace) },
            deadlocks: others.deadlocks.or(self.deadlocks),
            surroundings: others.surroundings.or(self.surroundings),
            on_loss: others.on_loss.or(self.on_loss),
            quiet: others.quiet || self.quiet,
            dry_run: others.dry_run || self.dry_run,
        })
    }

    /// Says which library was found, what it is told, and where a trace will be.
    fn announce(&self, launcher: &Launcher, settings: &Settings) {
        eprintln!("weft: {launcher}, told {settings}");
        if let Some(file) = &self.recorded.trace {
            eprintln!(
                "weft: each rank writes its part of the trace, {file}.0 and so on: `weft report {file}` shows them"
            );
        }
    }

    /// Checks that they ask for nothing that MPI programs do not have.
    fn check(&self) -> Result<()> {
        if self.on_loss == Some(OnLoss::Continue) {
            bail!("an MPI program ends when it loses a rank: --on-loss continue is for weft run");
        }
        Ok(())
    }

    /// Variables that ask for what is wanted.
    fn variables(&self) -> impl Iterator<Item = &'static str> {
        let wanted = [
            (self.authenticate, settings::AUTHENTICATE),
            (self.encrypt, settings::ENCRYPT),
            (self.check, settings::CHECK),
            (self.collectives == Some(By::All), settings::ALL_COLLECTIVES),
        ];
        wanted.into_iter().filter(|(is_wanted, _)| *is_wanted).map(|(_, variable)| variable)
    }
}

/// The whole path of a trace. Ranks would say one after the other that there is no such folder.
fn trace_file(file: &str) -> Result<PathBuf> {
    let whole =
        path::absolute(file).with_context(|| format!("cannot write the trace to {file:?}"))?;
    match whole.parent().filter(|folder| !folder.is_dir()) {
        Some(folder) => bail!(
            "cannot write the trace to {file:?}: there is no folder {}: make it, or name another",
            folder.display()
        ),
        None => Ok(whole),
    }
}

/// The stack that has to start the program.
fn wanted(said: Option<Stack>, linked: &Linked) -> Result<Option<Wanted>> {
    match (said, linked.stack) {
        (Some(said), Some(linked)) if !said.runs(linked) => {
            bail!("--stack says {said}, but the program is linked with {linked}")
        }
        (Some(said), _) => Ok(Some(Wanted::Said(said))),
        (None, linked) => Ok(linked.map(Wanted::Linked)),
    }
}

/// The command with its settings, as one would type it.
fn as_typed(settings: &Settings, command: &Command) -> String {
    let variables = settings.variables.iter();
    let variables = variables.map(|(name, value)| format!("{name}={}", value.to_string_lossy()));
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    command_line(variables.chain(words.map(|word| word.to_string_lossy().into_owned())))
}

#[cfg(test)]
mod tests;
