//! Groups that send by TCP of the kernel: threads of this process, with sockets on the hosts.

use super::board::{Board, Interval, now};
use super::rank::{Activity, Received, Sent};
use anyhow::{Context, Result};
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::thread::{Scope, ScopedJoinHandle};
use weft_netns::Host;

/// Bytes that are written and read at once.
const BLOCK: usize = 128 * 1024;
/// Bytes of a small message.
const SMALL: usize = 8;

/// Connections of one sender.
struct Flow {
    /// Both ends of that of the stream, sender first.
    stream: Option<[TcpStream; 2]>,
    /// Both ends of that of small messages.
    small: Option<[TcpStream; 2]>,
}

/// A sender that runs.
pub struct Running<'scope> {
    sends: ScopedJoinHandle<'scope, Result<()>>,
    receives: ScopedJoinHandle<'scope, Result<u64>>,
    asks: ScopedJoinHandle<'scope, Result<Vec<f64>>>,
    answers: ScopedJoinHandle<'scope, Result<()>>,
}

/// Opens connections from `from` to `to` and starts threads that send once the board says so.
///
/// # Errors
/// What the system says.
pub fn start<'scope>(
    scope: &'scope Scope<'scope, '_>,
    (from, to): (&Host, &Host),
    activity: Activity,
    board: &Board,
) -> Result<Running<'scope>> {
    let open = |wanted: bool| wanted.then(|| connect(from, to)).transpose();
    let flow = Flow {
        stream: open(activity != Activity::Small)?,
        small: open(activity != Activity::Stream)?,
    };
    let ([near, far], [asks, answers]) = (ends(flow.stream), ends(flow.small));
    let board = [(); 3].map(|()| board.clone());
    let [first, second, third] = board;
    Ok(Running {
        sends: scope.spawn(move || near.map_or(Ok(()), |near| send(near, begin(&first)?))),
        receives: scope.spawn(move || far.map_or(Ok(0), |far| receive(far, begin(&second)?))),
        asks: scope.spawn(move || asks.map_or(Ok(Vec::new()), |asks| ask(asks, begin(&third)?))),
        answers: scope.spawn(move || answers.map_or(Ok(()), answer)),
    })
}

impl Running<'_> {
    /// Waits for its end.
    ///
    /// # Errors
    /// It could not be made.
    pub fn end(self) -> Result<(Received, Sent)> {
        let bytes = vec![joined(self.receives)?];
        joined(self.sends)?;
        let round_trips = joined(self.asks)?;
        joined(self.answers)?;
        Ok((Received { bytes }, Sent { round_trips, again: 0 }))
    }
}

fn joined<T>(thread: ScopedJoinHandle<'_, Result<T>>) -> Result<T> {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

fn ends(pair: Option<[TcpStream; 2]>) -> [Option<TcpStream>; 2] {
    pair.map_or([None, None], |pair| pair.map(Some))
}

fn begin(board: &Board) -> Result<Interval> {
    board.await_begin(|| Ok(()))
}

fn connect(from: &Host, to: &Host) -> Result<[TcpStream; 2]> {
    let listener = to.enter(|| TcpListener::bind((to.ipv4(), 0)))??;
    let at = listener.local_addr()?;
    let near = from.enter(|| TcpStream::connect(at))?.context("hosts do not reach one another")?;
    near.set_nodelay(true)?;
    let (far, _) = listener.accept()?;
    far.set_nodelay(true)?;
    Ok([near, far])
}

fn send(mut near: TcpStream, interval: Interval) -> Result<()> {
    let block = vec![7; BLOCK];
    while now() < interval.until {
        near.write_all(&block)?;
    }
    Ok(near.shutdown(Shutdown::Write)?)
}

fn receive(mut far: TcpStream, interval: Interval) -> Result<u64> {
    let (mut block, mut bytes) = (vec![0; BLOCK], 0);
    loop {
        let some = far.read(&mut block)?;
        std::hint::black_box(&block[..some]);
        if some == 0 {
            return Ok(bytes);
        }
        bytes += if interval.contains(now()) { some as u64 } else { 0 };
    }
}

/// Does what ranks do ([`super::rank`]).
fn ask(mut asks: TcpStream, interval: Interval) -> Result<Vec<f64>> {
    let mut round_trips = Vec::new();
    loop {
        let start = now();
        if start >= interval.until {
            return Ok(round_trips);
        }
        let mut message = [7; SMALL];
        asks.write_all(&message)?;
        asks.read_exact(&mut message)?;
        let end = now();
        if end >= interval.from {
            round_trips.push((end - start) as f64);
        }
    }
}

fn answer(mut answers: TcpStream) -> Result<()> {
    let mut message = [0; SMALL];
    loop {
        match answers.read_exact(&mut message) {
            Ok(()) => answers.write_all(&message)?,
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(()),
            Err(error) => return Err(error.into()),
        }
    }
}
