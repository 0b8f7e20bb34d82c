use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use crate::exchange::{Error, Exchange, copy};

/// Runs `program` once per rank, each on a thread, and returns what the ranks returned, in order.
///
/// Every ordered pair of ranks has room for `room` messages; with 0, a send ends only when its
/// receiver takes the message. A program that ends for every `room` does not depend on buffering.
/// The program owns its exchange, so its leaving is seen by the ranks that still wait for it.
pub fn on_threads<T: Send>(
    ranks: usize,
    room: usize,
    program: impl Fn(ThreadExchange) -> T + Sync,
) -> Vec<T> {
    let exchanges = connect(ranks, room);
    thread::scope(|scope| {
        let program = &program;
        let threads: Vec<_> =
            exchanges.into_iter().map(|exchange| scope.spawn(move || program(exchange))).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    })
}

/// An exchange between threads of one process, for tests that need several ranks and no job.
#[derive(Debug)]
pub struct ThreadExchange {
    rank: usize,
    outgoing: Vec<SyncSender<Vec<u8>>>,
    incoming: Vec<Receiver<Vec<u8>>>,
}

impl Exchange for ThreadExchange {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.outgoing.len()
    }

    fn send(&mut self, to: usize, bytes: &[u8]) -> Result<(), Error> {
        self.outgoing[to].send(bytes.to_vec()).map_err(|_| Error::Left(to))
    }

    fn broadcast(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let others = (0..self.size()).filter(|&to| to != self.rank);
        others.collect::<Vec<_>>().into_iter().try_for_each(|to| self.send(to, bytes))
    }

    fn receive(&mut self, from: usize, bytes: &mut [u8]) -> Result<(), Error> {
        let message = self.incoming[from].recv().map_err(|_| Error::Left(from))?;
        copy(from, &message, bytes)
    }
}

fn connect(ranks: usize, room: usize) -> Vec<ThreadExchange> {
    let mut exchanges: Vec<ThreadExchange> = (0..ranks)
        .map(|rank| ThreadExchange { rank, outgoing: Vec::new(), incoming: Vec::new() })
        .collect();
    for from in 0..ranks {
        for to in 0..ranks {
            let (sender, receiver) = sync_channel(room);
            exchanges[from].outgoing.push(sender);
            exchanges[to].incoming.push(receiver);
        }
    }
    exchanges
}
