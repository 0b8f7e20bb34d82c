//! The place where a job answers whoever asks how it stands: a socket with an abstract name, which
//! goes with the launcher, whatever ends that. The name has the user and the process; who asks is
//! known by the credentials that the kernel gives, and gets an answer if it is the same user, or
//! root. So is who answers: names of such sockets are anybody's.

use crate::channel::{self, ReceiveError};
use crate::job_roll::JobRoll;
use crate::messages::{BadMessage, ToRank, Welcome};
use crate::snapshot::Snapshot;
use rustix::net::sockopt::{set_socket_send_buffer_size, socket_peercred};
use rustix::net::{RecvFlags, SendFlags};
use rustix::process::getuid;
use std::fs;
use std::io::{self, Read, Write as _};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::time::Duration;

/// Time that a launcher has to answer.
const PATIENCE: Duration = Duration::from_secs(2);
/// Askers that are answered before the launcher sees to its ranks again.
const AT_ONCE: usize = 16;
/// Longest answer that is read, in bytes.
pub(crate) const ANSWER_BYTES_MAX: usize = 1 << 20;

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

/// The place of one job, for one question.
#[derive(Debug)]
pub(crate) struct Desk(UnixListener);

impl Desk {
    /// Opens the place of this process's job.
    pub fn open(question: Question) -> io::Result<Self> {
        let listener = UnixListener::bind_addr(&address(question, std::process::id())?)?;
        listener.set_nonblocking(true)?;
        Ok(Desk(listener))
    }

    /// A descriptor that is readable when somebody asks.
    pub fn waits_for(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }

    /// Those that ask, and may.
    pub fn askers(&self) -> Vec<Asker> {
        let own = getuid();
        let may = |uid: rustix::process::Uid| uid == own || uid.is_root();
        let asked = (0..AT_ONCE).map_while(|_| Some(self.0.accept().ok()?.0));
        let is_one = |asker: &UnixStream| socket_peercred(asker).is_ok_and(|it| may(it.uid));
        asked.filter(is_one).map(Asker).collect()
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
        self.0.iter().map(|(question, desk)| (*question, desk.waits_for()))
    }

    /// Those that ask this, and may.
    pub fn askers(&self, question: Question) -> Vec<Asker> {
        let desk = self.0.iter().find(|(answered, _)| *answered == question);
        desk.map(|(_, desk)| desk.askers()).unwrap_or_default()
    }

    /// Answers those that ask for the memory with this message and its file.
    pub fn hand_out(&self, message: &[u8], memory: &OwnedFd) {
        for Asker(asker) in self.askers(Question::Memory) {
            // Who cannot take it is told nothing, and hears that from the system.
            let _ = channel::send(&asker, message, &[memory.as_fd()], SendFlags::DONTWAIT);
        }
    }

    /// Answers those that ask this with these bytes.
    pub fn answer(&self, question: Question, bytes: &[u8]) {
        self.askers(question).into_iter().for_each(|asker| asker.tell(bytes));
    }
}

/// Somebody who asks.
#[derive(Debug)]
pub(crate) struct Asker(UnixStream);

impl Asker {
    /// Answers with these bytes. Who does not take them at once gets the beginning.
    pub fn tell(mut self, bytes: &[u8]) {
        // As much as the system allows.
        let _ = set_socket_send_buffer_size(&self.0, bytes.len());
        // The launcher waits for nobody.
        let _ = self.0.set_nonblocking(true);
        let _ = self.0.write(bytes);
    }
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
    pub fn snapshot(&self) -> serde_json::Result<Snapshot> {
        Snapshot::parse(&self.bytes)
    }
}

/// The jobs of this user on this host, by their launchers' processes.
///
/// # Errors
/// The system does not say which sockets there are.
pub fn jobs() -> io::Result<Vec<u32>> {
    let own = format!("@{}", prefix(Question::Why));
    let sockets = fs::read_to_string("/proc/net/unix")?;
    let names = sockets.lines().filter_map(|line| line.split_whitespace().nth(7));
    let mut jobs: Vec<_> = names.filter_map(|name| name.strip_prefix(&own)?.parse().ok()).collect();
    jobs.sort_unstable();
    jobs.dedup();
    Ok(jobs)
}

/// The answer of a job to a question. Blocks for 2 s at most.
///
/// # Errors
/// There is no such job, it is another user's, or its launcher does not answer.
pub fn ask(launcher: u32, question: Question) -> io::Result<Answer> {
    let (mut desk, answers) = connect(launcher, question)?;
    let is_here = answers == launcher;
    let mut bytes = Vec::new();
    Read::by_ref(&mut desk).take(ANSWER_BYTES_MAX as u64).read_to_end(&mut bytes)?;
    match bytes.is_empty() {
        true => Err(io::ErrorKind::PermissionDenied.into()),
        false => Ok(Answer { bytes, is_here }),
    }
}

/// The memory of a job's ranks on this host, and its sizes and options. Blocks for 2 s at most.
///
/// # Errors
/// There is no such job, it is another user's, or its launcher does not answer, or has no memory.
pub(crate) fn ask_memory(launcher: u32) -> io::Result<(Welcome, OwnedFd)> {
    let (desk, _) = connect(launcher, Question::Memory)?;
    let received = match channel::receive(&desk, RecvFlags::empty()) {
        Ok(received) => received,
        Err(ReceiveError::Closed) => return Err(io::ErrorKind::PermissionDenied.into()),
        Err(ReceiveError::System(error)) => return Err(error.into()),
        Err(ReceiveError::Bad(bad)) => return Err(io::Error::other(bad)),
    };
    match ToRank::parse(&received.bytes).map_err(io::Error::other)? {
        ToRank::Welcome(welcome) => {
            let memory = received.descriptors.into_iter().next();
            Ok((welcome, memory.ok_or(io::ErrorKind::InvalidData)?))
        }
        ToRank::Start(_) => Err(io::ErrorKind::InvalidData.into()),
    }
}

/// A connection to the place of a job of this user, and the process at its other end.
fn connect(launcher: u32, question: Question) -> io::Result<(UnixStream, u32)> {
    let desk = UnixStream::connect_addr(&address(question, launcher)?)?;
    let answers = socket_peercred(&desk)?;
    if answers.uid != getuid() {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    desk.set_read_timeout(Some(PATIENCE))?;
    Ok((desk, answers.pid.as_raw_pid().cast_unsigned()))
}

fn prefix(question: Question) -> String {
    let name = match question {
        Question::Why => "job",
        Question::Snapshot => "snapshot",
        Question::Memory => "memory",
    };
    format!("weft-{name}-{}-", getuid().as_raw())
}

fn address(question: Question, launcher: u32) -> io::Result<SocketAddr> {
    SocketAddr::from_abstract_name(format!("{}{launcher}", prefix(question)))
}

#[cfg(test)]
mod tests;
