//! The rank's side of start-up: finding the job, joining it, and leaving it.

use std::io;
use std::net::{TcpListener, UdpSocket};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::mpsc::{Receiver, Sender, channel as answers};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use rustix::event::PollFlags;
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags};
use rustix::process::{Signal, getpid, kill_process};
use weft_link::bell::{Cause, Loss};
use weft_wire::Rank;

use crate::channel;
use crate::door;
use crate::managed::{self, Managed};
use crate::messages::{
    BadMessage, DoorKey, JobNetwork, Message as _, Options, ToLauncher, ToRank, Welcome,
};
use crate::on_loss::OnLoss;
use crate::roll::WATCHER;
use crate::wait::is_ready;
use weft_link_shm::Settings;
use weft_xdp::XdpPort;

mod error;
#[allow(unsafe_code)] // Its opening paragraph says why.
mod inherited;

pub use error::{JoinError, SpawnError};
pub use inherited::InheritError;
pub(crate) use inherited::{JOB, parses_as_job_variable};

/// The environment variable that says at which door a process knocks that was not started by
/// `weft run`.
const DOOR: &str = "WEFT_DOOR";
/// Time that a process waits at a door before it says so.
const WAITING_UNSAID: Duration = Duration::from_secs(2);

/// A rank's place in its job.
///
/// From [`find`](Self::find) on the process dies with its launcher, however that ends, because a
/// thread of it waits for the connection to close: wrappers may stand between the two.
#[derive(Debug)]
pub struct Membership {
    launcher: Launcher,
    welcome: Welcome,
    memory: Option<OwnedFd>,
    socket: Option<UdpSocket>,
    port: Option<XdpPort>,
    listener: Option<TcpListener>,
    /// True if the launcher was asked that the job go on after a loss.
    asked_to_go_on: bool,
}

/// Launcher that started this process.
#[derive(Debug)]
enum Launcher {
    /// [`run`](crate::run), over a socket, and its answers to who asks for more ranks.
    Weft(Arc<OwnedFd>, Mutex<Receiver<ToRank>>),
    /// A process manager.
    Manager(Managed),
}

impl Membership {
    /// Asks the launcher for this process's place, be that Weft's or a process manager
    /// (`pmi`); `None` if none started it, so that it is alone. Of Weft's it asks for this reaction
    /// to losses, as all programs of the job do; process managers end all jobs at a loss.
    ///
    /// To be called once, best before the process has other threads: only then can what it starts
    /// tell that it is not a rank itself. Under a process manager it may be called again, by all
    /// ranks, after they have [left](Self::leaving_beside_others). Blocks until the launcher has
    /// answered.
    ///
    /// # Errors
    /// [`JoinError`] if there is a launcher but no place.
    pub fn find(on_loss: OnLoss) -> Result<Option<Self>, JoinError> {
        if managed::has_left() {
            return Self::meet();
        }
        // What a rank has started finds the variable too, and has no place.
        let is_weft = std::env::var_os(JOB).is_some();
        match (inherited::take()?, std::env::var_os(DOOR)) {
            (Some(channel), _) => Self::ask(channel, on_loss).map(Some),
            (None, _) if is_weft => Ok(None),
            (None, Some(door)) => Self::knock(&door.to_string_lossy(), on_loss).map(Some),
            (None, None) => Self::meet(),
        }
    }

    /// Asks for a place in the job that has this door, a [`DoorKey`] as text or the file that
    /// `weft run --door` writes. Does what [`find`](Self::find) does where the environment says
    /// `WEFT_DOOR`. Blocks until the job's program lets this process in; if that takes longer than
    /// 2 s, it is said on standard error.
    ///
    /// # Errors
    /// [`JoinError`] if there is no such door, or the job ends before it opens.
    pub fn knock(door: &str, on_loss: OnLoss) -> Result<Self, JoinError> {
        let key = DoorKey::find(door)?;
        let channel = door::knock(&key).map_err(JoinError::Door)?;
        inherited::mark_taken()?;
        let not_admitted = |error| match error {
            JoinError::LauncherGone => JoinError::NotAdmitted,
            other => other,
        };
        // Why it was not let in is there to be read, even if nobody listens any more.
        say_hello(&channel, on_loss).or_else(|error| match error {
            JoinError::LauncherGone => Ok(()),
            other => Err(other),
        })?;
        if !is_ready(&channel, PollFlags::IN, WAITING_UNSAID)? {
            eprintln!("weft: waits at the door of the job until its program lets this process in");
        }
        Self::take_place(channel, on_loss).map_err(not_admitted)
    }

    /// Finds the place that a process manager gives.
    fn meet() -> Result<Option<Self>, JoinError> {
        if !managed::is_started()? {
            return Ok(None);
        }
        // Before there are threads, which PMIx starts.
        inherited::mark_taken()?;
        let Some(joined) = managed::join()? else { return Ok(None) };
        let managed::Joined { place, welcome, memory, socket, port, listener } = joined;
        let (launcher, memory) = (Launcher::Manager(place), Some(memory));
        let asked_to_go_on = false;
        Ok(Some(Membership { launcher, welcome, memory, socket, port, listener, asked_to_go_on }))
    }

    fn ask(channel: OwnedFd, on_loss: OnLoss) -> Result<Self, JoinError> {
        say_hello(&channel, on_loss)?;
        Self::take_place(channel, on_loss)
    }

    /// Takes the place that the launcher answers with.
    fn take_place(channel: OwnedFd, on_loss: OnLoss) -> Result<Self, JoinError> {
        let asked_to_go_on = on_loss == OnLoss::Continue;
        let received = channel::receive(&channel, RecvFlags::empty())?;
        let message = ToRank::parse(&received.bytes)?;
        let (got, needed) = (received.descriptors.len(), message.descriptors());
        if got != needed {
            return Err(BadMessage::Descriptors { got, needed }.into());
        }
        let welcome = match message {
            ToRank::Welcome(welcome) => welcome,
            ToRank::Refused(why) => return Err(JoinError::Refused(why)),
            _ => return Err(JoinError::Bad(BadMessage::Range("order"))),
        };
        let channel = Arc::new(channel);
        let (answer, answered) = answers();
        die_with(channel.clone(), answer)?;
        let launcher = Launcher::Weft(channel, Mutex::new(answered));
        let mut memory = received.descriptors;
        let mut far = memory.split_off(1);
        let bulk = welcome.network.as_ref().is_some_and(|network| network.bulk);
        let listener = if bulk { far.pop().map(TcpListener::from) } else { None };
        let ethernet = welcome.network.as_ref().and_then(|network| network.ethernet.as_ref());
        let port = ethernet.and_then(|ethernet| {
            let parts = std::mem::take(&mut far).try_into().ok()?;
            Some(XdpPort::from_parts(ethernet.port, parts))
        });
        let socket = far.pop().map(UdpSocket::from);
        let memory = memory.pop();
        Ok(Membership { launcher, welcome, memory, socket, port, listener, asked_to_go_on })
    }

    /// True if Weft's launcher was asked that the job go on after a loss: then it does.
    pub fn asked_to_go_on(&self) -> bool {
        self.asked_to_go_on
    }

    /// Rank of this process.
    pub fn rank(&self) -> Rank {
        self.welcome.rank
    }

    /// Number of ranks of the job, on all hosts, those among them that may come later.
    pub fn ranks(&self) -> u16 {
        self.network().map_or(self.welcome.settings.ranks, JobNetwork::ranks)
    }

    /// Number of ranks that the job has begun with.
    pub fn founders(&self) -> u16 {
        self.welcome.growth.map_or(self.ranks(), |growth| growth.founders)
    }

    /// The rank that had this one started; `None` if the job has begun with it.
    pub fn spawner(&self) -> Option<Rank> {
        self.welcome.growth?.spawner
    }

    /// Has the launcher start `count` more ranks of this program; returns which they are. They join
    /// by themselves, later. Blocks until the launcher has answered, which is when their processes
    /// are being started.
    ///
    /// # Errors
    /// [`SpawnError`].
    pub fn spawn(&self, count: u16) -> Result<Vec<Rank>, SpawnError> {
        self.ask_for(count, &ToLauncher::Spawn(count))
    }

    /// Has the launcher let in those who wait at the job's [door](DoorKey), `most` at most, as far
    /// as there are places on their hosts; returns which ranks they are, none if nobody waits. They
    /// join by themselves, as ranks that were [started](Self::spawn) do. Blocks until the launcher
    /// has answered, and waits for nobody else.
    ///
    /// # Errors
    /// [`SpawnError`]; there is no room for anybody.
    pub fn admit(&self, most: u16) -> Result<Vec<Rank>, SpawnError> {
        self.ask_for(most, &ToLauncher::Admit(most))
    }

    fn ask_for(&self, asked: u16, question: &ToLauncher) -> Result<Vec<Rank>, SpawnError> {
        let Launcher::Weft(channel, answers) = &self.launcher else {
            return Err(match question {
                ToLauncher::Admit(_) => SpawnError::NoDoor,
                _ => SpawnError::NoRoom { asked, left: 0 },
            });
        };
        // One question after the other: an answer does not say which it is for.
        let answers = answers.lock().unwrap_or_else(PoisonError::into_inner);
        tell(channel, question)?;
        match answers.recv() {
            Ok(ToRank::Spawned(ranks)) => Ok(ranks),
            Ok(ToRank::NoRoom(left)) => Err(SpawnError::NoRoom { asked, left }),
            Ok(_) => Err(SpawnError::NoDoor),
            Err(_) => Err(JoinError::LauncherGone.into()),
        }
    }

    /// A number that tells the job from others of the same process manager, or on the same network;
    /// 0 in one of Weft's own launcher on one host.
    pub fn job(&self) -> u32 {
        match &self.launcher {
            Launcher::Weft(..) => self.network().map_or(0, |network| network.job),
            Launcher::Manager(place) => place.job,
        }
    }

    /// The sizes of the memory that the ranks of this host share, and how many they are. In a job
    /// on one host that is all of them.
    pub fn settings(&self) -> &Settings {
        &self.welcome.settings
    }

    /// The ranks that share memory with this one, itself included: the `i`-th is rank `i` of
    /// [`settings`](Self::settings).
    pub fn ranks_here(&self) -> Vec<Rank> {
        match self.network() {
            Some(network) => network.ranks_beside(self.rank()).collect(),
            None => (0..self.welcome.settings.ranks).map(Rank).collect(),
        }
    }

    /// Network between ranks without shared memory; `None` in a job that needs no such way, because
    /// it has one host and nobody asked.
    pub fn network(&self) -> Option<&JobNetwork> {
        self.welcome.network.as_ref()
    }

    /// This rank's socket, bound to its address in [`network`](Self::network), close-on-exec.
    /// `None` without a network, on Ethernet, and when it has been taken before.
    pub fn take_socket(&mut self) -> Option<UdpSocket> {
        self.socket.take()
    }

    /// This rank's listener for TCP connections at its address, close-on-exec. `None` if the job
    /// has none, and when it has been taken before.
    pub fn take_listener(&mut self) -> Option<TcpListener> {
        self.listener.take()
    }

    /// This rank's way to the network, if that is [`EthernetAccess`](crate::EthernetAccess). `None`
    /// otherwise, and when it has been taken before.
    pub fn take_port(&mut self) -> Option<XdpPort> {
        self.port.take()
    }

    /// The job's options by name.
    pub fn options(&self) -> &Options {
        &self.welcome.options
    }

    /// The memory of [`ranks_here`](Self::ranks_here), close-on-exec. It is foreign: whoever maps
    /// it checks size and seals. `None` when it has been taken before.
    pub fn take_memory(&mut self) -> Option<OwnedFd> {
        self.memory.take()
    }

    /// Tells the launcher that this rank has mapped the memory and takes part.
    ///
    /// # Errors
    /// [`JoinError::LauncherGone`] if there is nobody to tell.
    pub fn joined(&self) -> Result<(), JoinError> {
        match &self.launcher {
            Launcher::Weft(channel, _) => tell(channel, &ToLauncher::Joined),
            // All have met: that is what it waited for.
            Launcher::Manager(_) => Ok(()),
        }
    }

    /// Tells the launcher that this rank ends cleanly: exiting with 0 is fine from here on.
    ///
    /// # Errors
    /// [`JoinError::LauncherGone`] if there is nobody to tell.
    pub fn leaving(&self) -> Result<(), JoinError> {
        match &self.launcher {
            Launcher::Weft(channel, _) => tell(channel, &ToLauncher::Leaving),
            Launcher::Manager(place) => Ok(place.leave()?),
        }
    }

    /// Does what [`Self::leaving`] does, for a library in a program that may speak with the process
    /// manager itself.
    ///
    /// # Errors
    /// As above.
    pub fn leaving_beside_others(&self) -> Result<(), JoinError> {
        match &self.launcher {
            Launcher::Weft(..) => self.leaving(),
            Launcher::Manager(place) => Ok(place.leave_beside_others()?),
        }
    }

    /// Address at which a rank was not reached, in words, if that is what has happened to it.
    fn address_of(&self, loss: Loss) -> String {
        let network = self.network().filter(|network| network.ethernet.is_none());
        let address = network.and_then(|network| network.addresses.get(loss.rank.index()));
        match (loss.cause, address) {
            (Cause::Unreachable(_), Some(address)) => {
                format!(" ({}, UDP port {})", address.ip(), address.port())
            }
            _ => String::new(),
        }
    }

    /// Tells the launcher that this rank gives up because it lost another one, in one line: its
    /// last words. It exits with [`crate::PEER_LOST`] after this.
    ///
    /// # Errors
    /// [`JoinError::LauncherGone`] if there is nobody to tell.
    pub fn report_loss(&self, loss: Loss) -> Result<(), JoinError> {
        let words = format!("rank {} {}{}", loss.rank, loss.cause, self.address_of(loss));
        match &self.launcher {
            Launcher::Weft(channel, _) => tell(channel, &ToLauncher::Report(words)),
            Launcher::Manager(place) => {
                place.give_up(loss, &words);
                Ok(())
            }
        }
    }
}

/// Asks for a place, and for this reaction to losses.
fn say_hello(channel: &OwnedFd, on_loss: OnLoss) -> Result<(), JoinError> {
    if on_loss == OnLoss::Continue {
        tell(channel, &ToLauncher::GoOn)?;
    }
    tell(channel, &ToLauncher::Hello)
}

fn tell(channel: &impl AsFd, message: &ToLauncher) -> Result<(), JoinError> {
    channel::send(channel, &message.emit(), &[], SendFlags::empty()).map_err(|error| match error {
        Errno::PIPE | Errno::CONNRESET => JoinError::LauncherGone,
        other => JoinError::System(other.into()),
    })
}

/// Starts the thread that ends this process when the launcher's end of the connection is closed,
/// and takes what the launcher says until then.
fn die_with(channel: Arc<OwnedFd>, answer: Sender<ToRank>) -> io::Result<()> {
    const STACK_BYTES: usize = 128 * 1024;
    thread::Builder::new().name(WATCHER.into()).stack_size(STACK_BYTES).spawn(move || {
        // To a rank that it has welcomed the launcher only answers which ranks come.
        while let Ok(received) = channel::receive(&*channel, RecvFlags::empty()) {
            if let Ok(said) = ToRank::parse(&received.bytes) {
                // Nobody waits for it if the rank is about to end.
                let _ = answer.send(said);
            }
        }
        // Not `exit`: a rank whose launcher is gone must not run on in some handler or
        // destructor.
        let _ = kill_process(getpid(), Signal::KILL);
    })?;
    Ok(())
}

#[cfg(test)]
mod tests;
