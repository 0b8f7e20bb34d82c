//! The place where a job answers whoever asks how it stands: a socket with an abstract name, which
//! goes with the launcher, whatever ends that. The name has the user, the process and a number that
//! was drawn: names of such sockets are anybody's, and nobody else can have taken this one before.
//! Who asks is known by the credentials that the kernel gives, and gets an answer if it is the same
//! user, or root. So is who answers: sockets of others that look like a job are passed over.
//!
//! An answer is a file in memory, whose descriptor one message takes along. So the launcher waits
//! for nobody, however long the answer is and however slow its reader.

use crate::channel::{self, ReceiveError, Received};
use crate::job_roll::JobRoll;
use crate::messages::{ANSWER_BYTES_MAX, BadMessage, Message as _, Snapshot, ToRank, Welcome};
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
/// Askers that are answered before the launcher sees to its ranks again.
const AT_ONCE: usize = 16;
/// Message that an answer comes with.
const ANSWER: &[u8] = b"answer";

/// Question that is answered at a place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Question {
    /// A [`JobRoll`].
    Why,
    /// A [`Snapshot`].
    Snapshot,
    /// The memory that the ranks share, for whoever looks there himself
    /// ([`Sampling`](crate::Sampling)).
    Memory,
}

impl Question {
    /// All questions.
    pub(crate) const ALL: [Self; 3] = [Question::Why, Question::Snapshot, Question::Memory];
}

/// Time for which nobody is let in once no descriptor was left for that: who waits would wake the
/// launcher again and again.
const REST: Duration = Duration::from_millis(100);

/// The place of one job, for one question.
#[derive(Debug)]
pub(crate) struct Desk {
    listener: UnixListener,
    /// Time until which nobody is let in.
    rests_until: Cell<Option<Instant>>,
}

impl Desk {
    /// Opens the place of this process's job.
    pub fn open(question: Question) -> io::Result<Self> {
        let mut drawn = [0; 8];
        getrandom(&mut drawn, GetRandomFlags::empty())?;
        let (drawn, own) = (u64::from_le_bytes(drawn), std::process::id());
        let name = format!("{}{own}-{drawn:016x}", prefix(question));
        let listener = UnixListener::bind_addr(&SocketAddr::from_abstract_name(name)?)?;
        listener.set_nonblocking(true)?;
        Ok(Desk { listener, rests_until: Cell::new(None) })
    }

    /// A descriptor that is readable when somebody asks; `None` while nobody is let in.
    pub fn waits_for(&self) -> Option<BorrowedFd<'_>> {
        let rests = self.rests_until.get().is_some_and(|until| Instant::now() < until);
        (!rests).then(|| self.listener.as_fd())
    }

    /// Those that ask, and may.
    pub fn askers(&self) -> Vec<Asker> {
        let own = getuid();
        let may = |uid: rustix::process::Uid| uid == own || uid.is_root();
        let asked = (0..AT_ONCE).map_while(|_| self.accept());
        let is_one = |asker: &UnixStream| channel::peer(asker).is_ok_and(|it| may(it.user));
        asked.filter(is_one).map(Asker).collect()
    }

    fn accept(&self) -> Option<UnixStream> {
        match self.listener.accept() {
            Ok((asker, _)) => Some(asker),
            Err(error) => {
                let is_full = error.kind() != io::ErrorKind::WouldBlock;
                self.rests_until.set(is_full.then(|| Instant::now() + REST));
                None
            }
        }
    }
}

/// The places of one job, for all questions.
#[derive(Debug, Default)]
pub(crate) struct Desks(Vec<(Question, Desk)>);

impl Desks {
    /// Opens the places of this process's job, for these questions, if it answers any. Without one
    /// nobody can ask, and that is all.
    pub fn open(answers: bool, questions: &[Question]) -> Self {
        let all = questions.iter().copied().filter(|_| answers);
        Desks(all.filter_map(|question| Some((question, Desk::open(question).ok()?))).collect())
    }

    /// Descriptors that are readable when somebody asks, and the question.
    pub fn waits_for(&self) -> impl Iterator<Item = (Question, BorrowedFd<'_>)> {
        self.0.iter().filter_map(|(question, desk)| Some((*question, desk.waits_for()?)))
    }

    /// Those that ask this, and may.
    pub fn askers(&self, question: Question) -> Vec<Asker> {
        let desk = self.0.iter().find(|(answered, _)| *answered == question);
        desk.map(|(_, desk)| desk.askers()).unwrap_or_default()
    }
}

/// Somebody who asks.
#[derive(Debug)]
pub(crate) struct Asker(UnixStream);

impl Asker {
    /// Sends the only message that an asker gets, for which there is always room. Who cannot take
    /// it is told nothing, and hears that from the system.
    fn hand(&self, message: &[u8], descriptors: &[BorrowedFd<'_>]) {
        let _ = channel::send(&self.0, message, descriptors, SendFlags::DONTWAIT);
    }
}

/// Answers these with these bytes. If there is no memory for that they hear nothing.
pub(crate) fn tell(askers: Vec<Asker>, bytes: &[u8]) {
    if askers.is_empty() {
        return;
    }
    if let Ok(file) = in_memory(bytes) {
        askers.iter().for_each(|asker| asker.hand(ANSWER, &[file.as_fd()]));
    }
}

/// Answers these, which ask for the memory, with this message and its file.
pub(crate) fn hand_out(askers: &[Asker], message: &[u8], memory: &OwnedFd) {
    askers.iter().for_each(|asker| asker.hand(message, &[memory.as_fd()]));
}

fn in_memory(bytes: &[u8]) -> io::Result<File> {
    let mut file = File::from(memfd_create("weft-answer", MemfdFlags::CLOEXEC)?);
    file.write_all(bytes)?;
    Ok(file)
}

/// Answer of a job.
#[derive(Debug)]
pub struct Answer {
    bytes: Vec<u8>,
    /// True if numbers of threads in it are this process's, too: who has answered is in no
    /// container of its own.
    is_here: bool,
}

impl Answer {
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
    let places = places(Question::Snapshot)?;
    let own = places.into_iter().filter(|(_, name)| reach(name).is_ok());
    let mut jobs: Vec<_> = own.map(|(launcher, _)| launcher).collect();
    jobs.dedup();
    Ok(jobs)
}

/// The answer of a job to a question. Blocks for 2 s at most.
///
/// # Errors
/// There is no such job, it is another user's, or its launcher does not answer.
pub fn ask(launcher: u32, question: Question) -> io::Result<Answer> {
    let (desk, process) = connect_to(launcher, question)?;
    let mut descriptors = receive(&desk)?.descriptors.into_iter();
    let (Some(file), None) = (descriptors.next(), descriptors.next()) else {
        return Err(io::ErrorKind::InvalidData.into());
    };
    Ok(Answer { bytes: read_file(file.into())?, is_here: process == Some(launcher) })
}

/// The memory of a job's ranks on this host, and its sizes and options. Blocks for 2 s at most.
///
/// # Errors
/// There is no such job, it is another user's, or its launcher does not answer, or has no memory.
pub(crate) fn ask_memory(launcher: u32) -> io::Result<(Welcome, OwnedFd)> {
    let (desk, _) = connect_to(launcher, Question::Memory)?;
    let received = receive(&desk)?;
    match ToRank::parse(&received.bytes).map_err(io::Error::other)? {
        ToRank::Welcome(welcome) => {
            let memory = received.descriptors.into_iter().next();
            Ok((welcome, memory.ok_or(io::ErrorKind::InvalidData)?))
        }
        ToRank::Start(_) => Err(io::ErrorKind::InvalidData.into()),
    }
}

/// The only message of a desk.
fn receive(desk: &UnixStream) -> io::Result<Received> {
    channel::receive(desk, RecvFlags::empty()).map_err(|error| match error {
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

/// A connection to the place of a job of this user, and the process at its other end, if it is in
/// sight. Of several sockets with such a name all but one are somebody else's.
fn connect_to(launcher: u32, question: Question) -> io::Result<(UnixStream, Option<u32>)> {
    let mut failed = io::Error::from(io::ErrorKind::ConnectionRefused);
    for (_, name) in places(question)?.into_iter().filter(|(process, _)| *process == launcher) {
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
    let desk = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    connect(&desk, &SocketAddrUnix::new_abstract_name(name.as_bytes())?)?;
    let peer = channel::peer(&desk)?;
    if peer.user != getuid() {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    let desk = UnixStream::from(desk);
    desk.set_nonblocking(false)?;
    desk.set_read_timeout(Some(PATIENCE))?;
    Ok((desk, peer.process.map(|process| process.as_raw_pid().cast_unsigned())))
}

/// The sockets on this host whose names are those of this user's jobs, for a question: the process
/// in the name, and the name. They may be anybody's.
fn places(question: Question) -> io::Result<BTreeSet<(u32, String)>> {
    let prefix = prefix(question);
    let place = |line: &str| {
        let name = line.split_whitespace().nth(7)?.strip_prefix('@')?;
        let (launcher, _) = name.strip_prefix(&prefix)?.split_once('-')?;
        Some((launcher.parse().ok()?, name.to_owned()))
    };
    // Names of others need not be text.
    let sockets = fs::read("/proc/net/unix")?;
    Ok(String::from_utf8_lossy(&sockets).lines().filter_map(place).collect())
}

fn prefix(question: Question) -> String {
    let name = match question {
        Question::Why => "job",
        Question::Snapshot => "snapshot",
        Question::Memory => "memory",
    };
    format!("weft-{name}-{}-", getuid().as_raw())
}

#[cfg(test)]
mod tests;
