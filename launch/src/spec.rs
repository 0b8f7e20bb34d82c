//! Description of a job, as the launcher is given it.

use std::ffi::{OsStr, OsString};
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::door::DoorFile;
use crate::error::LaunchError;
use crate::messages::{DoorKey, ON_LOSS, Options, TRACE, check_options};
use crate::mtu::Mtu;
use crate::on_loss::OnLoss;
use crate::output::OutputPlan;
use crate::program::{FindError, Found, Program, own_directory};
use crate::progress::OnDeadlock;
use crate::roll::StacksOf;
use crate::this_host;
use rustix::fs::{Access, access};
use weft_datagram::seal::Protection;
use weft_link_shm::{MAX_RANKS, Settings};
use weft_wire::Rank;

/// Binding of ranks to cores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Binding {
    /// Wherever the system puts them.
    #[default]
    None,
    /// Rank `i` on the `i`-th of the cores that the launcher may use, counted round and round.
    Core,
}

/// A job: what to run, how often, and how.
#[derive(Clone, Debug)]
pub struct JobSpec {
    /// The sizes of the job's memory, the number of ranks among them.
    pub settings: Settings,
    /// Number of these ranks, the last ones, that are not started: programs may have them started.
    /// On several hosts [`HostsSpec::room`](crate::HostsSpec::room) says how many there may be.
    pub vacant: u16,
    /// File to say in where the job's door is, by which processes join that it has not started;
    /// `None` if it has none. It is there while the job runs.
    pub door: Option<PathBuf>,
    /// The program, a path or a name.
    pub program: OsString,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// Programs of ranks that run others than that one (MPMD), in the order of their first ranks.
    pub later: Vec<Program>,
    /// Options that the ranks are given besides, by name. Unless it is here, `cores` is added: how
    /// many cores the ranks of this host share.
    pub options: Options,
    /// Variables of the ranks' environment, beside those of this process, or of each host's agent.
    pub environment: Vec<(OsString, OsString)>,
    /// Directory that the ranks run in, and find their programs from, as a whole path; `None` for
    /// that of this process.
    pub directory: Option<PathBuf>,
    /// Binding of the ranks to cores.
    pub binding: Binding,
    /// Destination of their output.
    pub output: OutputPlan,
    /// Longest time that the ranks have to join; `None` for ever.
    pub join_limit: Option<Duration>,
    /// Longest time that the job may take; `None` for ever.
    pub time_limit: Option<Duration>,
    /// Longest time that survivors of a loss have before they are killed.
    pub(crate) loss_grace: Duration,
    /// The directory that is searched for the program before PATH.
    pub beside: Option<PathBuf>,
    /// An executable whose `main` begins with [`start_if_asked`](crate::start_if_asked).
    pub starter: PathBuf,
    /// True if each rank is given a socket of its own, and the job a network, though all ranks are
    /// on one host. Ranks on several hosts always are.
    pub sockets: bool,
    /// Way of long packets between hosts.
    pub bulk: BulkWish,
    /// Longest packets between hosts; `None` for what the interfaces of all take.
    pub mtu: Option<Mtu>,
    /// Protection of packets between hosts.
    pub protection: Protection,
    pub(crate) silence: Duration,
    /// Time for which all ranks have to wait for one another before that is a deadlock; `None` if
    /// nobody is to look.
    pub progress_limit: Option<Duration>,
    /// Reaction to a deadlock.
    pub on_deadlock: OnDeadlock,
    /// Function that takes the stacks of the threads of these numbers: who asks how the job stands
    /// hears of them. On other hosts it is that of [`start_if_asked`](crate::start_if_asked).
    pub stacks_of: Option<StacksOf>,
    /// True if what the ranks write to standard error is for a terminal.
    pub terminal: bool,
    /// True if this process does nothing but run this job. It then passes signals on to the ranks,
    /// and adopts and ends what they leave behind.
    pub dedicated: bool,
}

/// Way of long packets between hosts, as wished.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BulkWish {
    /// TCP connections, if hosts reach one another so; else datagrams.
    #[default]
    Auto,
    /// TCP connections.
    Tcp,
    /// Datagrams, as all packets.
    Datagrams,
}

/// Says that ranks cannot run in a directory, and what to do.
pub(crate) fn cannot_work_in(directory: &Path, error: &io::Error) -> String {
    let advice = "make it there, or name one that every host has with --chdir";
    format!("cannot work in {}: {error} ({advice})", directory.display())
}

/// Longest time that survivors of a loss have to notice it through an error and end by themselves,
/// unless the job says something else: the whole job is gone within 100 ms of the loss.
pub const LOSS_GRACE: Duration = Duration::from_millis(25);
/// Silence after which a host is lost, unless the job says something else.
pub(crate) const HOST_SILENCE: Duration = Duration::from_millis(800);
/// Time that ranks have to end once that is over, before they are killed.
const MARGIN: Duration = Duration::from_millis(55);

impl JobSpec {
    /// A job of `settings.ranks` ranks of `program` in which everything else is as usual, started
    /// by a process that is not dedicated to it.
    pub fn new(settings: Settings, program: impl Into<OsString>) -> Self {
        JobSpec {
            settings,
            vacant: 0,
            door: None,
            program: program.into(),
            arguments: Vec::new(),
            later: Vec::new(),
            options: Options::new(),
            environment: Vec::new(),
            directory: None,
            binding: Binding::None,
            output: OutputPlan::default(),
            join_limit: Some(Duration::from_secs(30)),
            time_limit: None,
            loss_grace: LOSS_GRACE + MARGIN,
            beside: own_directory(),
            starter: PathBuf::from("/proc/self/exe"),
            sockets: false,
            bulk: BulkWish::default(),
            mtu: None,
            protection: Protection::default(),
            silence: HOST_SILENCE,
            progress_limit: None,
            on_deadlock: OnDeadlock::default(),
            stacks_of: None,
            terminal: io::stderr().is_terminal(),
            dedicated: false,
        }
    }

    /// Has the ranks write down what they do, and when, to this file. On several hosts each host
    /// writes its part, beside its own directory. Agents are told by the option `trace`.
    pub fn set_trace(&mut self, file: &str) {
        self.settings = self.settings.traced();
        self.options.insert(TRACE.into(), file.into());
    }

    /// The programs with their arguments, by the first ranks that run them.
    pub(crate) fn commands(&self) -> impl Iterator<Item = (u16, &OsStr, &[OsString])> {
        let later = self.later.iter().map(|it| (it.first, &*it.program, &*it.arguments));
        std::iter::once((0, &*self.program, &*self.arguments)).chain(later)
    }

    /// The program of a rank, with its arguments.
    pub(crate) fn command_of(&self, rank: Rank) -> (&OsStr, &[OsString]) {
        let at = self.later.partition_point(|it| it.first <= rank.0);
        match at.checked_sub(1).map(|at| &self.later[at]) {
            Some(it) => (&it.program, &it.arguments),
            None => (&self.program, &self.arguments),
        }
    }

    /// The programs, for people.
    pub(crate) fn program_name(&self) -> String {
        let names: Vec<_> = self.commands().map(|(_, name, _)| name.to_string_lossy()).collect();
        names.join(" : ")
    }

    /// Files of the programs of these ranks.
    pub(crate) fn find_programs(&self, here: &[Rank]) -> Result<Found, FindError> {
        let names = self.commands().map(|(first, name, _)| (first, name));
        Found::find(names, here, self.beside.as_deref(), self.directory.as_deref())
    }

    /// File for the trace of the job, if there is to be one.
    pub(crate) fn trace(&self) -> Option<&Path> {
        self.options.get(TRACE).map(Path::new)
    }

    /// Says how long survivors of a loss have to end by themselves, if not [`LOSS_GRACE`]. Ranks
    /// are told by the option `grace-ms`, and have 55 ms more before they are killed.
    pub fn set_grace(&mut self, grace: Duration) {
        self.loss_grace = grace + MARGIN;
        self.options.insert("grace-ms".into(), grace.as_millis().to_string());
    }

    /// Says what the loss of a rank does to the job, if not end it. Ranks and agents are told by
    /// the option `on-loss`.
    pub fn set_on_loss(&mut self, on_loss: OnLoss) {
        match on_loss {
            OnLoss::End => drop(self.options.remove(ON_LOSS)),
            OnLoss::Continue => drop(self.options.insert(ON_LOSS.into(), on_loss.to_string())),
        }
    }

    /// Reaction to the loss of a rank.
    pub fn on_loss(&self) -> OnLoss {
        let said = self.options.get(ON_LOSS).and_then(|said| said.parse().ok());
        said.unwrap_or_default()
    }

    /// Says after how much silence another host, or a rank on one, is lost, if not after 0.8 s.
    /// Ranks are told by the option `silence-ms`.
    pub fn set_silence(&mut self, silence: Duration) {
        self.silence = silence;
        self.options.insert("silence-ms".into(), silence.as_millis().to_string());
    }

    /// Number of ranks that the job begins with.
    pub fn founders(&self) -> u16 {
        self.settings.ranks - self.vacant
    }

    /// A key for the door, if the job is to have one.
    pub(crate) fn draw_door(&self) -> io::Result<Option<DoorKey>> {
        self.door.as_ref().map(|_| DoorKey::draw()).transpose()
    }

    /// Writes the key to the file that is to have it.
    pub(crate) fn show_door(&self, key: Option<&DoorKey>) -> Result<Option<DoorFile>, LaunchError> {
        let (Some(path), Some(key)) = (&self.door, key) else { return Ok(None) };
        let failed = |error| LaunchError::Door { path: path.clone(), error };
        DoorFile::write(path, key).map(Some).map_err(failed)
    }

    /// Checks what [`run`](crate::run) checks before it starts anything: that the job can be laid
    /// out, and that its programs can be found and run here.
    ///
    /// # Errors
    /// [`LaunchError`].
    pub fn check_whole(&self) -> Result<(), LaunchError> {
        self.check()?;
        self.check_directory()?;
        let all: Vec<Rank> = (0..self.settings.ranks).map(Rank).collect();
        Ok(self.find_programs(&all).map(drop)?)
    }

    /// Checks that ranks can run in the directory that is given.
    pub(crate) fn check_directory(&self) -> Result<(), LaunchError> {
        let Some(directory) = &self.directory else { return Ok(()) };
        let fails = match directory.metadata() {
            Ok(about) if !about.is_dir() => io::Error::from(io::ErrorKind::NotADirectory),
            Ok(_) => match access(directory, Access::EXEC_OK) {
                Ok(()) => return Ok(()),
                Err(error) => error.into(),
            },
            Err(error) => error,
        };
        Err(LaunchError::host(&this_host::name(), cannot_work_in(directory, &fails)))
    }

    pub(crate) fn check(&self) -> Result<(), LaunchError> {
        let asked = self.settings.ranks;
        if !(1..=MAX_RANKS).contains(&asked) {
            return Err(LaunchError::Ranks { asked });
        }
        if self.vacant >= asked {
            return Err(LaunchError::Ranks { asked: 0 });
        }
        self.settings.check().map_err(LaunchError::Settings)?;
        check_options(&self.options).map_err(LaunchError::Options)
    }
}
