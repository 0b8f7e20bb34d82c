//! The thread of a rank that watches over the others of its host and over the process manager.
//!
//! A peer whose process ends without having said that it leaves is lost. The first to see it tells
//! all ranks of the host through their memory, and says it in one line, at once, because the
//! process manager may be about to end it. Ranks then end by themselves, as under Weft's own
//! launcher; after [`GRACE`] the process manager is asked to end the job, and this process ends.
//!
//! The first rank of a host that has all of the job answers who asks how that stands, and looks now
//! and then if all of it waits for itself.

use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::PollFlags;
use rustix::io::Errno;
use rustix::net::RecvFlags;
use rustix::process::{Pid, PidfdFlags, Signal, getpid, getppid, kill_process, pidfd_open};
use weft_link::bell::{Cause, Loss};
use weft_link_shm::Supervisor;
use weft_wire::Rank;

use super::meet::ToPeer;
use super::shared::Shared;
use super::{card::Card, status};
use crate::channel::{self, ReceiveError};
use crate::job_roll::JobRoll;
use crate::messages::Message as _;
use crate::messages::{Doing, RankNow, Snapshot, Standing};
use crate::on_loss::OnLoss;
use crate::outcome::DEADLOCKED;
use crate::outcome::PEER_LOST;
use crate::progress::{OnDeadlock, ProgressWatch};
use crate::queries::{QuerySockets, Question, answer_all, share_memory};
use crate::recording;
use crate::roll::{WATCHER, deadlocked_for, lines, rank_now, standing_of};
use crate::wait::wait_for;

/// Longest time that survivors of a loss have to end by themselves: all are gone within 100 ms.
const GRACE: Duration = Duration::from_millis(80);
/// Cause of the end of a rank that lost another one: the real cause is that one.
const VICTIM: Cause = Cause::Exited(PEER_LOST);

/// Reason for the end of a job whose ranks wait for themselves.
const DEADLOCK: &str = "its ranks waited for one another";

/// Starts it. `supervisor` has the memory of all ranks, `memory` is what those get who ask for it,
/// a message and its file, at the rank that answers them; after `limit` of waiting for one another
/// they are in a deadlock.
pub(super) fn start(
    shared: Arc<Shared>,
    ranks: u16,
    supervisor: Arc<Supervisor>,
    memory: Option<(Vec<u8>, OwnedFd)>,
    (limit, on_deadlock, on_loss): (Duration, OnDeadlock, OnLoss),
) -> io::Result<()> {
    const STACK_BYTES: usize = 128 * 1024;
    let launcher = shared.exchange().launcher().map(|launcher| launcher.try_clone_to_owned());
    let (launcher, parent) = match launcher.transpose()? {
        Some(socket) => (Some(socket), None),
        None => (None, parent()),
    };
    let peers = vec![State::Here; shared.peers.len()];
    let queries = QuerySockets::open(shared.speaks, &Question::ALL);
    let (since, loss) = (Instant::now(), None);
    // Of ranks on other hosts nobody here knows what they do.
    let sees_all = shared.speaks && shared.peers.len() + 1 == usize::from(ranks);
    let progress = ProgressWatch::new(sees_all.then_some(limit));
    let mut watch = Watch {
        shared,
        ranks,
        supervisor,
        memory,
        launcher,
        parent,
        queries,
        since,
        progress,
        on_deadlock,
        on_loss,
        peers,
        loss,
    };
    let thread = thread::Builder::new().name(WATCHER.into()).stack_size(STACK_BYTES);
    thread.spawn(move || watch.run())?;
    Ok(())
}

/// The process that started this one; `None` if it is gone, or out of sight.
fn parent() -> Option<OwnedFd> {
    let parent = getppid().filter(|&parent| parent != Pid::INIT)?;
    let exit = pidfd_open(parent, PidfdFlags::empty()).ok()?;
    // Still the parent: then the number was still its own.
    (getppid() == Some(parent)).then_some(exit)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Here,
    /// Its channel is closed: its process is ending, and has its status in a moment.
    Ending,
    /// It has left, or was lost.
    Ended,
}

#[derive(Debug)]
struct Watch {
    shared: Arc<Shared>,
    ranks: u16,
    supervisor: Arc<Supervisor>,
    /// Message and file for those who look at the ranks themselves, at the rank that answers them.
    memory: Option<(Vec<u8>, OwnedFd)>,
    /// Hangs up when the process manager is gone.
    launcher: Option<OwnedFd>,
    /// Becomes readable when the parent is gone, where the process manager has no connection.
    parent: Option<OwnedFd>,
    /// Places where others ask how the job stands, at one rank of each host.
    queries: QuerySockets,
    /// Time at which the ranks had met.
    since: Instant,
    /// Watch over their progress, at one rank that sees all of the job.
    progress: ProgressWatch,
    on_deadlock: OnDeadlock,
    on_loss: OnLoss,
    /// State of each peer, as far as it is known.
    peers: Vec<State>,
    /// The first loss, and when the first was seen.
    loss: Option<(Loss, Instant)>,
}

#[derive(Clone, Copy, Debug)]
enum Source {
    /// This rank has left.
    Own,
    Launcher,
    Query(Question),
    Message(usize),
    Exit(usize),
}

impl Watch {
    fn run(&mut self) {
        loop {
            let ready = self.wait();
            if self.shared.left.load(Ordering::SeqCst) {
                return;
            }
            if let Some(trace) = &self.shared.trace {
                trace.take();
            }
            // Farewells before ends: a rank that has left ends.
            for source in ready {
                match source {
                    Source::Own => {}
                    // Not `exit`: a rank whose launcher is gone must not run on in some destructor.
                    Source::Launcher => die(),
                    Source::Query(question) => self.answer(question),
                    Source::Message(peer) => self.take_message(peer),
                    Source::Exit(peer) => self.take_exit(peer),
                }
            }
            if self.loss.is_some_and(|(_, since)| since.elapsed() >= GRACE) {
                self.end();
            }
            self.check_for_deadlock();
        }
    }

    fn wait(&self) -> Vec<Source> {
        let peers = |is_meant: fn(State) -> bool| {
            let peers = self.shared.peers.iter().zip(&self.peers).enumerate();
            peers.filter(move |(_, (_, state))| is_meant(**state))
        };
        let launcher =
            self.launcher.iter().map(|it| (Source::Launcher, it.as_fd(), PollFlags::RDHUP));
        let parent = self.parent.iter().map(|exit| (Source::Launcher, exit.as_fd(), PollFlags::IN));
        let queries = self.queries.waits_for();
        let queries = queries.map(|(asked, socket)| (Source::Query(asked), socket, PollFlags::IN));
        let messages = peers(|state| state == State::Here).map(|(index, (peer, _))| {
            (Source::Message(index), peer.channel.as_fd(), PollFlags::IN)
        });
        let exits = peers(|state| state != State::Ended)
            .map(|(index, (peer, _))| (Source::Exit(index), peer.exit.as_fd(), PollFlags::IN));
        let own = [(Source::Own, self.shared.on_leave.as_fd(), PollFlags::IN)];
        let fixed = own.into_iter().chain(launcher).chain(parent).chain(queries);
        let all: Vec<_> = fixed.chain(messages).chain(exits).collect();
        let limit = self.loss.map(|(_, since)| GRACE.saturating_sub(since.elapsed()));
        let record = self.shared.trace.as_ref().map(|_| recording::EVERY);
        let check = self.progress.next_check().map(|at| at.saturating_sub(self.since.elapsed()));
        let limit = [limit, record, check].into_iter().flatten().min();
        // If it cannot wait nobody watches any more, which must not go unnoticed.
        wait_for(&all, limit).unwrap_or_else(|_| vec![Source::Launcher])
    }

    /// Answers those who ask how the job stands, for the ranks of this host. Stacks are for them to
    /// take: this process may not stop its own threads, nor, perhaps, its peers'.
    fn answer(&self, question: Question) {
        let clients = self.queries.clients(question);
        if clients.is_empty() {
            return;
        }
        let program = std::env::current_exe().unwrap_or_default().to_string_lossy().into_owned();
        let time = self.since.elapsed();
        let bytes = match question {
            Question::Why => {
                let (ranks, standings) = (self.ranks, self.roll_call());
                JobRoll { ranks, program, time, standings }.emit()
            }
            Question::Snapshot => {
                let (seconds, ranks) = (time.as_secs_f64(), self.snapshot());
                Snapshot { program, seconds, ranks }.emit()
            }
            // Of agents, of which there are none.
            Question::Place => return,
            Question::Memory => {
                if let Some((message, memory)) = &self.memory {
                    share_memory(&clients, message, memory);
                }
                return;
            }
        };
        answer_all(clients, &bytes);
    }

    /// Looks if the ranks wait for one another, if it is time to.
    fn check_for_deadlock(&mut self) {
        let now = self.since.elapsed();
        if !self.progress.is_due(now) {
            return;
        }
        let all = self.roll_call();
        if !self.progress.checked(now, deadlocked_for(&all, self.ranks)) {
            return;
        }
        let mut report = lines(&all, self.ranks);
        let ends = self.on_deadlock == OnDeadlock::End;
        report.extend(ends.then(|| format!("the job is ended: {DEADLOCK}")));
        let report: String = report.iter().map(|line| format!("weft: {line}\n")).collect();
        // Without a standard error there is nobody to answer_all.
        let _ = io::stderr().write_all(report.as_bytes());
        if ends {
            self.abort(DEADLOCKED, DEADLOCK);
        }
    }

    /// The ranks of this host and their processes, in their order.
    fn ranks_here(&self) -> Vec<(Rank, u32)> {
        let peers = self.shared.peers.iter().map(|peer| (peer.rank, peer.card.process));
        let mut all: Vec<_> = peers.chain([(self.shared.own, std::process::id())]).collect();
        all.sort_unstable();
        all
    }

    /// Standing of the ranks of this host.
    fn roll_call(&self) -> Vec<Standing> {
        let standing = |(number, (rank, process)): (usize, (Rank, u32))| {
            let process = Pid::from_raw(process.cast_signed())?;
            let has_left = || Standing::outside(rank, Doing::HasLeft);
            let standing = standing_of(rank, process, self.supervisor.status_of(number));
            Some(standing.unwrap_or_else(has_left))
        };
        self.ranks_here().into_iter().enumerate().filter_map(standing).collect()
    }

    /// The ranks of this host that have not ended, as they are now.
    fn snapshot(&self) -> Vec<RankNow> {
        let now = |(number, (rank, process)): (usize, (Rank, u32))| {
            let counts = self.supervisor.counts_of(number);
            rank_now(rank, process, self.supervisor.status_of(number), counts)
        };
        self.ranks_here().into_iter().enumerate().filter_map(now).collect()
    }

    fn take_message(&mut self, index: usize) {
        let received = channel::receive(&self.shared.peers[index].channel, RecvFlags::DONTWAIT);
        match received.map(|received| ToPeer::parse(&received.bytes)) {
            Ok(Ok(ToPeer::Leaving)) => self.peers[index] = State::Ended,
            Err(ReceiveError::System(Errno::AGAIN)) => {}
            Ok(_) => self.lose(index, Cause::Misbehaved),
            Err(_) => self.peers[index] = State::Ending,
        }
    }

    fn take_exit(&mut self, index: usize) {
        if self.peers[index] == State::Ended {
            return;
        }
        let peer = &self.shared.peers[index];
        // Its farewell may have come after the look at its channel.
        let last = channel::receive(&peer.channel, RecvFlags::DONTWAIT);
        if last.is_ok_and(|last| ToPeer::parse(&last.bytes) == Ok(ToPeer::Leaving)) {
            self.peers[index] = State::Ended;
            return;
        }
        let cause = status::cause_of(&peer.exit, peer.card.process);
        self.lose(index, cause);
    }

    fn lose(&mut self, index: usize, cause: Cause) {
        self.peers[index] = State::Ended;
        let peer = &self.shared.peers[index];
        let loss = Loss { rank: peer.rank, cause };
        let since = self.loss.map_or_else(Instant::now, |(_, since)| since);
        let ends = self.on_loss == OnLoss::End;
        if ends && self.loss.is_none_or(|(first, _)| first.cause == VICTIM) {
            self.loss = Some((loss, since));
        }
        // The loss that made a victim of it is seen next.
        if ends && cause == VICTIM {
            return;
        }
        let is_news = self.supervisor.announce_loss(loss.rank, cause);
        let says_it = if ends { is_news } else { self.is_first_left() };
        if says_it {
            // Without a standard error there is nobody to tell.
            let line = loss_line(&loss, Some(&peer.card), self.ranks);
            let then = if ends { "the others end" } else { "the others go on" };
            let _ = writeln!(io::stderr(), "weft: {line}; {then}");
        }
        self.shared.notice();
    }

    /// True if this is the first rank of this host that is left: where the job goes on all of them
    /// have the news, at different times.
    fn is_first_left(&self) -> bool {
        let mut peers = self.shared.peers.iter().zip(&self.peers);
        peers.all(|(peer, state)| *state != State::Here || self.shared.own < peer.rank)
    }

    /// The grace is over.
    fn end(&self) -> ! {
        let loss = self.loss.as_ref().map(|(loss, _)| loss_line(loss, None, self.ranks));
        self.abort(PEER_LOST, &format!("{}; the others end", loss.unwrap_or_default()))
    }

    /// Has the process manager end the job, with these last words, and ends.
    fn abort(&self, status: u8, words: &str) -> ! {
        if let Ok(mut exchange) = self.shared.exchange.try_lock() {
            exchange.abort(status, words);
        }
        die()
    }
}

/// `rank 2 of 4 (pid 17, host a) was killed by signal 9 (SIGKILL)`.
fn loss_line(loss: &Loss, card: Option<&Card>, ranks: u16) -> String {
    let place = card.map(|card| format!(" (pid {}, host {})", card.process, card.node));
    let (place, Loss { rank, cause }) = (place.unwrap_or_default(), loss);
    format!("rank {rank} of {ranks}{place} {cause}")
}

fn die() -> ! {
    let _ = kill_process(getpid(), Signal::KILL);
    // Only what comes before the signal is delivered is still run.
    std::process::abort()
}
