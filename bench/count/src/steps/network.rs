//! A message of 8 bytes between two hosts, over UDP: there and back in turns, as programs talk.

use crate::collect::{Counter, Other, Turn};
use anyhow::{Context, Result, ensure};
use std::hint::black_box;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, UdpSocket};
use std::sync::Arc;
use weft_bulk::{Bulk, BulkSettings, keys};
use weft_datagram::seal::{Keys, Protection, Secret};
use weft_endpoint::{Node, Packets, Preset, Rank, Shape, WaitPolicy, network_settings};
use weft_link::Link;
use weft_link_shm::{Shm, create_memory};
use weft_messaging::{Engine, Mailbox, Port};
use weft_mixed::{Mixed, Near};
use weft_udp::UdpSettings;

/// Number of the job that the ranks are of.
const JOB: u32 = 1;
/// Bytes of a packet of IP on this network.
const MTU: usize = 1500;
/// Frames of each kind.
const FRAMES: usize = 512;
/// Nanoseconds after which anything is done only because time has passed: under callgrind it passes
/// fifty times as fast.
const NEVER: u64 = 3_600_000_000_000;

/// Sockets of a rank.
type Sockets = (UdpSocket, TcpListener);

/// Both hosts, with a rank each.
fn hosts(other: &Other) -> Result<[Arc<Engine>; 2]> {
    let any = (Ipv4Addr::LOCALHOST, 0);
    let bind = || Ok::<Sockets, std::io::Error>((UdpSocket::bind(any)?, TcpListener::bind(any)?));
    let sockets = [bind()?, bind()?];
    let mut datagrams = Vec::new();
    let mut connections = Vec::new();
    for (socket, listener) in &sockets {
        datagrams.push(socket.local_addr()?);
        connections.push(listener.local_addr()?);
    }
    let mut engines = Vec::new();
    for (rank, sockets) in (0..).map(Rank).zip(sockets) {
        let (datagrams, connections) = (datagrams.clone(), connections.clone());
        let engine = at(other, rank.index(), || -> Result<_> {
            let engine = Engine::new(joined(rank, sockets, datagrams, connections)?);
            engine.will_be_closed();
            Ok(engine)
        });
        engines.push(engine?);
    }
    engines.try_into().ok().context("two hosts")
}

/// Does this in the thread of a rank.
fn at<R: Send>(other: &Other, rank: usize, what: impl FnOnce() -> R + Send) -> R {
    if rank == 0 { what() } else { other.run(what) }
}

/// Plays a part of a step in the thread of a rank.
fn part(turn: &Turn<'_>, rank: usize, what: impl FnMut() -> Result<()> + Send) -> Result<()> {
    if rank == 0 { turn.step(what) } else { turn.other(what) }
}

/// A rank that joins as processes of two hosts join.
fn joined(
    rank: Rank,
    (socket, listener): Sockets,
    datagrams: Vec<SocketAddr>,
    connections: Vec<SocketAddr>,
) -> Result<Packets> {
    let memory = weft_link_shm::Settings::new(1);
    let near = Shm::attach(Rank(0), memory, &create_memory(&memory)?)?;
    let secret = Secret::new([7; 16]);
    let far = weft_udp::attach(UdpSettings {
        socket,
        keys: Keys::new(secret.clone(), JOB, rank, Protection::Tagged),
        datagram_bytes: UdpSettings::datagram_bytes(MTU, &datagrams[0]),
        only: Some(Rank(1 - rank.0)),
        peers: datagrams,
        group: None,
        frames: 0,
        receive_frames: FRAMES,
    })?;
    let arrivals = far.arrivals()?;
    let bulk = BulkSettings {
        listener,
        peers: connections,
        keys: keys(&secret, JOB, rank, Protection::Tagged),
        frames: FRAMES as u32,
        receive_frames: FRAMES,
        runs: None,
    };
    let far = Bulk::attach(far, bulk)?;
    let link = Mixed::new(near, Near { ranks: vec![rank], carries: true }, far, arrivals, 2)?;
    let usual = network_settings(2, Preset::Pupa, link.capabilities(), false);
    let settings = weft_endpoint::Settings {
        shape: Shape::Flat,
        retransmit_after: NEVER,
        retransmit_at_least: Some(NEVER),
        acknowledge_after: NEVER,
        ..usual
    };
    let policy = WaitPolicy::for_ranks(1, 1).with_own_cores();
    Ok(Packets::new(Arc::new(Node::new(rank, settings, link, policy))))
}

pub fn play(counter: &Counter) -> Result<()> {
    let other = &counter.other;
    let engines = hosts(other)?;
    let mailboxes =
        [Mailbox::new(&engines[0], "messages")?, Mailbox::new(&engines[1], "messages")?];
    let ports = [Port::sender(&engines[0], "messages")?, Port::sender(&engines[1], "messages")?];
    let send = |from: usize| -> Result<()> {
        Ok(ports[from].send(Rank(1 - from as u16), black_box(&[7; 8]))?)
    };
    let receive = |at: usize| -> Result<()> {
        let mut bytes = [0; 8];
        mailboxes[at].receive_into(&mut bytes)?;
        ensure!(bytes == [7; 8], "a message arrives as it was sent");
        Ok(())
    };
    // A thread that waits for a message has polled in vain before it comes.
    let look = |at: usize| -> Result<()> {
        while engines[at].progress()? {}
        Ok(())
    };
    counter.figure("message_udp", |round, turn| {
        let from = (round % 2) as usize;
        at(other, 1 - from, || look(1 - from))?;
        part(turn, from, || send(from))?;
        part(turn, 1 - from, || receive(1 - from))
    })?;
    counter.figure("message_udp_out", |round, turn| {
        let from = (round % 2) as usize;
        at(other, 1 - from, || look(1 - from))?;
        part(turn, from, || send(from))?;
        at(other, 1 - from, || receive(1 - from))
    })?;
    counter.figure("poll_empty_udp", |_, turn| turn.step(|| look(0)))?;
    engines.iter().for_each(|engine| engine.close());
    Ok(())
}
