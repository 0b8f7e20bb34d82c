//! Queries about a running job: sockets at which its launcher answers them, and clients that send
//! them.
//!
//! A socket has an abstract name, which goes with the launcher, whatever ends that. The name has
//! the user, the process and a random number: any process may take such a name, and none can have
//! taken this one before. The kernel says which user a client is; the same user gets an answer, and
//! root. Clients know launchers in the same way, and pass over sockets of other users that look
//! like a job.
//!
//! An answer is a file in memory, whose descriptor one message takes along. So the launcher waits
//! for no client, however long the answer is and however slow its reader.

mod launcher;

pub use launcher::Launcher;

use crate::channel::{self, ReceiveError, ReceivedDatagram};
use crate::job_roll::JobRoll;
use crate::messages::{
    ANSWER_BYTES_MAX, BadMessage, LauncherPlace, Message as _, Snapshot, ToRank, Welcome,
};
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketAddrUnix, SocketFlags, SocketType, connect,
    socket_with,
};
use rustix::process::getuid;
use rustix::rand::{GetRandomFlags, getrandom};
use std::cell::Cell;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::fs::FileExt as _;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::time::{Duration, Instant};

/// Time that a launcher has to answer.
const PATIENCE: Duration = Duration::from_secs(2);
/// Clients that are answered before the launcher attends to its ranks again.
const AT_ONCE: usize = 16;
/// Message that an answer comes with.
const ANSWER: &[u8] = b"answer";

/// Question about a job.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Question {
    /// A [`JobRoll`].
    Why,
    /// A [`Snapshot`].
    Snapshot,
    /// The memory that the ranks share, for a user who reads it himself
    /// ([`Sampling`](crate::Sampling)).
    Memory,
    /// A [`LauncherPlace`], of the agent of a host.
    Place,
}

impl Question {
    /// All questions to launchers.
    pub(crate) const ALL: [Self; 3] = [Question::Why, Question::Snapshot, Question::Memory];
}

/// Time for which no client is accepted once no descriptor was left for one: clients that wait
/// would wake the launcher again and again.
const BACKOFF: Duration = Duration::from_millis(100);

/// Socket of this process's job, for one question.
#[derive(Debug)]
pub(crate) struct QuerySocket {
    listener: UnixListener,
    /// Time until which no client is accepted.
    closed_until: Cell<Option<Instant>>,
}

impl QuerySocket {
    /// Opens it.
    pub fn open(question: Question) -> io::Result<Self> {
        let mut drawn = [0; 8];
        getrandom(&mut drawn, GetRandomFlags::empty())?;
        let (drawn, own) = (u64::from_le_bytes(drawn), std::process::id());
        let name = format!("{}{own}-{drawn:016x}", prefix(question));
        let listener = UnixListener::bind_addr(&SocketAddr::from_abstract_name(name)?)?;
        listener.set_nonblocking(true)?;
        Ok(QuerySocket { listener, closed_until: Cell::new(None) })
    }

    /// A descriptor that is readable when a client waits; `None` while none is accepted.
    pub fn waits_for(&self) -> Option<BorrowedFd<'_>> {
        let is_closed = self.closed_until.get().is_some_and(|until| Instant::now() < until);
        (!is_closed).then(|| self.listener.as_fd())
    }

    /// Clients that wait, and may ask.
    pub fn clients(&self) -> Vec<Client> {
        let own = getuid();
        let may = |uid: rustix::process::Uid| uid == own || uid.is_root();
        let asked = (0..AT_ONCE).map_while(|_| self.accept());
        let is_one = |client: &UnixStream| channel::peer(client).is_ok_and(|it| may(it.user));
        asked.filter(is_one).map(Client).collect()
    }

    fn accept(&self) -> Option<UnixStream> {
        match self.listener.accept() {
            Ok((client, _)) => Some(client),
            Err(error) => {
                let is_full = error.kind() != io::ErrorKind::WouldBlock;
                self.closed_until.set(is_full.then(|| Instant::now() + BACKOFF));
                None
            }
        }
    }
}

/// Sockets of this process's job, for all questions.
#[derive(Debug, Default)]
pub(crate) struct QuerySockets(Vec<(Question, QuerySocket)>);

impl QuerySockets {
    /// Opens those for these questions, if the job answers any. A question without a socket cannot
    /// be asked; the job goes on.
    pub fn open(answers: bool, questions: &[Question]) -> Self {
        let all = questions.iter().copied().filter(|_| answers);
        QuerySockets(
            all.filter_map(|question| Some((question, QuerySocket::open(question).ok()?)))
                .collect(),
        )
    }

    /// Descriptors that are readable when a client waits, and the question.
    pub fn waits_for(&self) -> impl Iterator<Item = (Question, BorrowedFd<'_>)> {
        self.0.iter().filter_map(|(question, socket)| Some((*question, socket.waits_for()?)))
    }

    /// Clients that wait at the socket for this question, and may ask.
    pub fn clients(&self, question: Question) -> Vec<Client> {
        let socket = self.0.iter().find(|(answered, _)| *answered == question);
        socket.map(|(_, socket)| socket.clients()).unwrap_or_default()
    }
}

/// A client, which has connected.
#[derive(Debug)]
pub(crate) struct Client(UnixStream);

impl Client {
    /// Sends the only message that a client gets, for which there is always room. A client that
    /// cannot take it is told by the end of the connection.
    fn send(&self, message: &[u8], descriptors: &[BorrowedFd<'_>]) {
        let _ = channel::send(&self.0, message, descriptors, SendFlags::DONTWAIT);
    }
}

/// Answers clients with these bytes. If there is no memory for a file, they get no answer.
pub(crate) fn answer_all(clients: Vec<Client>, bytes: &[u8]) {
    if clients.is_empty() {
        return;
    }
    if let Ok(file) = in_memory(bytes) {
        clients.iter().for_each(|client| client.send(ANSWER, &[file.as_fd()]));
    }
}

/// Answers clients that ask for the memory, with this message and its file.
pub(crate) fn share_memory(clients: &[Client], message: &[u8], memory: &OwnedFd) {
    clients.iter().for_each(|client| client.send(message, &[memory.as_fd()]));
}

fn in_memory(bytes: &[u8]) -> io::Result<File> {
    let mut file = File::from(memfd_create("weft-answer", MemfdFlags::CLOEXEC)?);
    file.write_all(bytes)?;
    Ok(file)
}

/// Answer of a job.
#[derive(Debug)]
pub struct JobAnswer {
    bytes: Vec<u8>,
    /// True if numbers of threads in it mean the same here: the launcher is in no container of its
    /// own.
    is_here: bool,
}

impl JobAnswer {
    /// The answer to [`Question::Why`].
    ///
    /// # Errors
    /// It is none.
    pub fn roll(&self) -> Result<JobRoll, BadMessage> {
        let mut roll = JobRoll::parse(&self.bytes)?;
        if !self.is_here {
            roll.forget_threads();
        }
        Ok(roll)
    }

    /// The answer to [`Question::Snapshot`].
    ///
    /// # Errors
    /// It is none.
    pub fn snapshot(&self) -> Result<Snapshot, BadMessage> {
        Snapshot::parse(&self.bytes)
    }
}

/// The jobs of this user on this host, by their launchers' processes.
///
/// # Errors
/// The system does not say which sockets there are.
pub fn jobs() -> io::Result<Vec<u32>> {
    // Of all questions the one whose answer is the least work for the job.
    let names = names(Question::Snapshot)?;
    let own = names.into_iter().filter(|(_, name)| reach(name).is_ok());
    let mut jobs: Vec<_> = own.map(|(launcher, _)| launcher).collect();
    jobs.dedup();
    Ok(jobs)
}

/// Places of the launchers of this user's jobs that have ranks on this host by an agent. Blocks for
/// 2 s at most for each agent that does not answer.
///
/// # Errors
/// The system does not say which sockets there are.
pub fn launcher_places() -> io::Result<Vec<LauncherPlace>> {
    let agents: BTreeSet<_> = names(Question::Place)?.into_iter().map(|(agent, _)| agent).collect();
    let place = |agent| LauncherPlace::parse(&ask(agent, Question::Place).ok()?.bytes).ok();
    Ok(agents.into_iter().filter_map(place).collect())
}

/// The other user whose job this is, as far as the names of sockets say.
///
/// # Errors
/// The system does not say which sockets there are.
pub fn other_user_of(job: u32) -> io::Result<Option<u32>> {
    let kind = prefix_of_all(Question::Snapshot);
    let owner = |name: &str| {
        let (user, rest) = name.strip_prefix(&kind)?.split_once('-')?;
        let (launcher, _) = rest.split_once('-')?;
        (launcher.parse() == Ok(job)).then_some(user.parse().ok()?)
    };
    let own = getuid().as_raw();
    Ok(abstract_names()?.iter().filter_map(|name| owner(name)).find(|user| *user != own))
}

/// The answer of a job to a question. Blocks for 2 s at most.
///
/// # Errors
/// There is no such job, it is another user's, or its launcher does not answer.
pub fn ask(launcher: u32, question: Question) -> io::Result<JobAnswer> {
    let (socket, process) = connect_to(launcher, question)?;
    let mut descriptors = receive(&socket)?.descriptors.into_iter();
    let (Some(file), None) = (descriptors.next(), descriptors.next()) else {
        return Err(io::ErrorKind::InvalidData.into());
    };
    Ok(JobAnswer { bytes: read_file(file.into())?, is_here: process == Some(launcher) })
}

/// The memory of a job's ranks on this host, and its sizes and options. Blocks for 2 s at most.
///
/// # Errors
/// There is no such job, it is another user's, or its launcher does not answer, or has no memory.
pub(crate) fn ask_memory(launcher: u32) -> io::Result<(Welcome, OwnedFd)> {
    let (socket, _) = connect_to(launcher, Question::Memory)?;
    let received = receive(&socket)?;
    match ToRank::parse(&received.bytes).map_err(io::Error::other)? {
        ToRank::Welcome(welcome) => {
            let memory = received.descriptors.into_iter().next();
            Ok((welcome, memory.ok_or(io::ErrorKind::InvalidData)?))
        }
        _ => Err(io::ErrorKind::InvalidData.into()),
    }
}

/// The only message of a socket.
fn receive(socket: &UnixStream) -> io::Result<ReceivedDatagram> {
    channel::receive(socket, RecvFlags::empty()).map_err(|error| match error {
        ReceiveError::Closed => io::ErrorKind::PermissionDenied.into(),
        ReceiveError::System(error) => error.into(),
        ReceiveError::Bad(bad) => io::Error::other(bad),
    })
}

/// Bytes of an answer's file, which lies in memory: reading it waits for nobody.
fn read_file(file: File) -> io::Result<Vec<u8>> {
    let about = file.metadata()?;
    if !about.is_file() || about.len() > ANSWER_BYTES_MAX as u64 {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut bytes = vec![0; about.len() as usize];
    file.read_exact_at(&mut bytes, 0)?;
    Ok(bytes)
}

/// A connection to the socket of a job of this user, and the process at its other end, if it is in
/// sight. Of several sockets with such a name all but one are somebody else's.
fn connect_to(launcher: u32, question: Question) -> io::Result<(UnixStream, Option<u32>)> {
    let mut failed = io::Error::from(io::ErrorKind::ConnectionRefused);
    for (_, name) in names(question)?.into_iter().filter(|(process, _)| *process == launcher) {
        match reach(&name) {
            Ok(reached) => return Ok(reached),
            Err(error) => failed = error,
        }
    }
    Err(failed)
}

/// A connection to a socket of this user, and the process at its other end. Never blocks: where
/// too many wait for a connection the error is `WouldBlock`.
fn reach(name: &str) -> io::Result<(UnixStream, Option<u32>)> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    connect(&socket, &SocketAddrUnix::new_abstract_name(name.as_bytes())?)?;
    let peer = channel::peer(&socket)?;
    if peer.user != getuid() {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    let socket = UnixStream::from(socket);
    socket.set_nonblocking(false)?;
    socket.set_read_timeout(Some(PATIENCE))?;
    Ok((socket, peer.process.map(|process| process.as_raw_pid().cast_unsigned())))
}

/// The sockets on this host whose names are those of this user's jobs, for a question: the process
/// in the name, and the name. They may be anybody's.
fn names(question: Question) -> io::Result<BTreeSet<(u32, String)>> {
    let prefix = prefix(question);
    let named = |name: String| {
        let (launcher, _) = name.strip_prefix(&prefix)?.split_once('-')?;
        Some((launcher.parse().ok()?, name))
    };
    Ok(abstract_names()?.into_iter().filter_map(named).collect())
}

/// The abstract names of all sockets on this host.
fn abstract_names() -> io::Result<Vec<String>> {
    let name = |line: &str| Some(line.split_whitespace().nth(7)?.strip_prefix('@')?.to_owned());
    // Names of others need not be text.
    let sockets = fs::read("/proc/net/unix")?;
    Ok(String::from_utf8_lossy(&sockets).lines().filter_map(name).collect())
}

fn prefix(question: Question) -> String {
    format!("{}{}-", prefix_of_all(question), getuid().as_raw())
}

/// Beginning of the names of all users' sockets for this question.
fn prefix_of_all(question: Question) -> String {
    let name = match question {
        Question::Why => "job",
        Question::Snapshot => "snapshot",
        Question::Memory => "memory",
        Question::Place => "agent",
    };
    format!("weft-{name}-")
}

#[cfg(test)]
mod tests;
