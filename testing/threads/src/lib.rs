//! Jobs whose ranks are threads of one process, over real shared memory, for tests.
//!
//! Every rank has its own node, link and mappings, as if it were a process of its own.

#![forbid(unsafe_code)]

use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;
use weft_link::wrap::Plain;
use weft_link::{Link, bell::Loss};
use weft_link_shm::{Settings, Shm, Supervisor, create_segments};
use weft_node::{Node, WaitPolicy, WatchThread};
use weft_packet::Packets;
use weft_protocol::Preset;
use weft_protocol::tree::Shape;
use weft_wire::Rank;

/// A job to run in threads.
#[derive(Clone, Copy, Debug)]
pub struct Job {
    /// Sizes of the shared memory.
    pub memory: Settings,
    /// The protocol.
    pub preset: Preset,
    /// The shape of multicast trees.
    pub shape: Shape,
    /// Hide shared words and one-write multicast, as on a network.
    pub plain: bool,
    /// The polling watchdog's delay; without one there are no upcall threads.
    pub interrupt_delay: Option<Duration>,
}

impl Job {
    /// A job of `ranks` with everything as users get it, but no upcall threads.
    pub fn new(ranks: u16) -> Self {
        Job {
            memory: Settings::new(ranks),
            preset: Preset::default(),
            shape: Shape::Flat,
            plain: false,
            interrupt_delay: None,
        }
    }

    /// Runs `program` on every rank and returns what they return, by rank. `connect` turns a rank's
    /// packets into what its program wants, and into what an interrupt does.
    pub fn run<C, T: Send>(
        self,
        connect: impl Fn(Packets) -> (C, Box<dyn FnMut() + Send>) + Sync,
        program: impl Fn(C) -> T + Sync,
    ) -> Vec<T> {
        let segments = create_segments(&self.memory).expect("shared memory can be made");
        let _limit = TimeLimit::start(self);
        std::thread::scope(|scope| {
            let ranks: Vec<_> = (0..self.memory.ranks)
                .map(|rank| {
                    let (segments, connect, program) = (&segments, &connect, &program);
                    scope.spawn(move || {
                        let link = Shm::attach(Rank(rank), self.memory, segments)
                            .expect("a rank can attach");
                        match self.plain {
                            true => self.rank(Rank(rank), Plain::new(link), connect, program),
                            false => self.rank(Rank(rank), link, connect, program),
                        }
                    })
                })
                .collect();
            ranks.into_iter().map(join).collect()
        })
    }

    /// Runs `program` on the packets of every rank.
    pub fn packets<T: Send>(self, program: impl Fn(Packets) -> T + Sync) -> Vec<T> {
        let interrupt = |packets: Packets| {
            let polled = packets.clone();
            let poll = move || polled.interrupted(|| matches!(polled.poll(), Ok(true)));
            (packets, Box::new(poll) as Box<dyn FnMut() + Send>)
        };
        self.run(interrupt, program)
    }

    fn rank<L: Link, C, T>(
        self,
        rank: Rank,
        link: L,
        connect: impl Fn(Packets) -> (C, Box<dyn FnMut() + Send>),
        program: impl Fn(C) -> T,
    ) -> T {
        let Settings { ranks, window_packets, .. } = self.memory;
        let settings = weft_protocol::Settings {
            preset: self.preset,
            shape: self.shape,
            ..weft_protocol::Settings::new(ranks, window_packets)
        };
        let policy = WaitPolicy::for_ranks(usize::from(settings.ranks), 2);
        let node = Arc::new(Node::new(rank, settings, link, policy));
        let (client, interrupt) = connect(Packets::new(Arc::clone(&node) as Arc<_>));
        let _watch = self.interrupt_delay.map(|delay| {
            WatchThread::start(node, delay, interrupt, |_| {}).expect("a thread can start")
        });
        program(client)
    }
}

/// Ends the test process if a job takes for ever: a deadlock should fail, not hang.
struct TimeLimit(Sender<()>);

impl TimeLimit {
    const LIMIT: Duration = Duration::from_secs(120);

    fn start(job: Job) -> Self {
        let (done, ended) = channel();
        std::thread::spawn(move || {
            if ended.recv_timeout(Self::LIMIT) == Err(RecvTimeoutError::Timeout) {
                eprintln!("ranks of this job wait for one another for ever: {job:?}");
                std::process::abort();
            }
        });
        TimeLimit(done)
    }
}

impl Drop for TimeLimit {
    fn drop(&mut self) {
        // If nobody listens any more, the process is about to end anyway.
        let _ = self.0.send(());
    }
}

/// Runs `program` as rank 1 of a job of two in which rank 0 is lost while it runs: `lose` does it.
pub fn with_loss<T>(loss: Loss, program: impl FnOnce(Packets, &dyn Fn()) -> T) -> T {
    let memory = Settings::new(2);
    let segments = create_segments(&memory).expect("shared memory can be made");
    let supervisor = Supervisor::attach(&memory, &segments).expect("segments can be mapped");
    let link = Shm::attach(Rank(1), memory, &segments).expect("a rank can attach");
    let settings = weft_protocol::Settings {
        shape: Shape::Flat,
        ..weft_protocol::Settings::new(2, memory.window_packets)
    };
    let node = Node::new(Rank(1), settings, link, WaitPolicy::for_ranks(2, 2));
    let lose = || {
        supervisor.announce_loss(loss.rank, loss.cause);
    };
    program(Packets::new(Arc::new(node)), &lose)
}

fn join<T>(thread: std::thread::ScopedJoinHandle<'_, T>) -> T {
    match thread.join() {
        Ok(value) => value,
        Err(panic) => std::panic::resume_unwind(panic),
    }
}
