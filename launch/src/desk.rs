//! The place where a job answers whoever asks how it stands: a socket with an abstract name, which
//! goes with the launcher, whatever ends that. The name has the user and the process; who asks is
//! known by the credentials that the kernel gives, and gets an answer if it is the same user, or
//! root.

use crate::roll::{Standing, lines};
use rustix::net::sockopt::socket_peercred;
use rustix::process::getuid;
use std::fs;
use std::io::{self, Read, Write as _};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::path::Path;
use std::time::Duration;

/// Time that a launcher has to answer.
const PATIENCE: Duration = Duration::from_secs(2);
/// Askers that are answered before the launcher sees to its ranks again.
const AT_ONCE: usize = 16;
/// Longest answer that is read, in bytes.
const ANSWER_BYTES: u64 = 1 << 20;

/// Question that is answered at a place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Question {
    /// For people: what the job is, and what its ranks do. Every job has this place.
    Why,
    /// For programs: a [`Snapshot`](crate::Snapshot) as JSON.
    Snapshot,
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
    /// Opens the places of this process's job. Without one nobody can ask, and that is all.
    pub fn open() -> Self {
        let all = [Question::Why, Question::Snapshot].into_iter();
        Desks(all.filter_map(|question| Some((question, Desk::open(question).ok()?))).collect())
    }

    /// Descriptors that are readable when somebody asks, and the question.
    pub fn waits_for(&self) -> impl Iterator<Item = (Question, BorrowedFd<'_>)> {
        self.0.iter().map(|(question, desk)| (*question, desk.waits_for()))
    }

    /// Answers those that ask this with this text.
    pub fn answer(&self, question: Question, text: &str) {
        let desk = self.0.iter().find(|(answered, _)| *answered == question);
        let askers = desk.map(|(_, desk)| desk.askers()).unwrap_or_default();
        askers.into_iter().for_each(|asker| asker.tell(text));
    }
}

/// Somebody who asks.
#[derive(Debug)]
pub(crate) struct Asker(UnixStream);

impl Asker {
    /// Answers with this text. Who does not take it at once gets the beginning.
    pub fn tell(mut self, text: &str) {
        // The launcher waits for nobody.
        let _ = self.0.set_nonblocking(true);
        let _ = self.0.write(text.as_bytes());
    }
}

/// Facts about a job with which its answer begins.
pub(crate) struct Heading<'a> {
    pub ranks: u16,
    pub program: &'a Path,
    /// Time since it began.
    pub time: Duration,
}

/// The answer of a job whose ranks do this.
pub(crate) fn answer(heading: &Heading<'_>, all: &[Standing]) -> String {
    let Heading { ranks, program, time } = heading;
    let whose = if *ranks == 1 { "rank" } else { "ranks" };
    let (program, time) = (program.display(), time.as_secs_f64());
    let mut text = format!("{ranks} {whose} of {program}, for {time:.1} s\n");
    for line in lines(all, *ranks) {
        text += &line;
        text += "\n";
    }
    text
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

/// The answer of a job to a question: to [`Question::Why`] it says in its first line what it is,
/// and in the others what its ranks do. Blocks for 2 s at most.
///
/// # Errors
/// There is no such job, it is another user's, or its launcher does not answer.
pub fn ask(launcher: u32, question: Question) -> io::Result<String> {
    let mut desk = UnixStream::connect_addr(&address(question, launcher)?)?;
    desk.set_read_timeout(Some(PATIENCE))?;
    let mut answer = String::new();
    Read::by_ref(&mut desk).take(ANSWER_BYTES).read_to_string(&mut answer)?;
    match answer.is_empty() {
        true => Err(io::ErrorKind::PermissionDenied.into()),
        false => Ok(answer),
    }
}

fn prefix(question: Question) -> String {
    let name = match question {
        Question::Why => "job",
        Question::Snapshot => "snapshot",
    };
    format!("weft-{name}-{}-", getuid().as_raw())
}

fn address(question: Question, launcher: u32) -> io::Result<SocketAddr> {
    SocketAddr::from_abstract_name(format!("{}{launcher}", prefix(question)))
}

#[cfg(test)]
mod tests;
