//! Fuzz target for frames of events (`testing/fuzz`): a node whose program keeps its contract, by
//! peers that say anything.

use crate::frame::{Flags, Header, Kind, SIZE};
use crate::machine::{EventMachine, Outbox};
use crate::settings::Settings;
use crate::traditional::Storage;
use crate::{Breach, Status};
use std::collections::BTreeSet;
use weft_endpoint::Rank;

/// Nodes of the job, of which the one with a program is node 0.
const NODES: u16 = 4;
/// Events that the program sends in before it has received the first of them.
const AHEAD: u32 = 8;

struct Node {
    machine: EventMachine<()>,
    /// Fragments that the program has not received, and all that came.
    arrived: Vec<(Rank, Header, Storage)>,
    known: BTreeSet<(Rank, u32, u32)>,
    /// Fragments that fill receive buffers at most.
    buffers: usize,
    /// The events that the program sends in and receives.
    sends_in: u32,
    at: u32,
}

impl Node {
    fn new(settings: &Settings) -> Self {
        let limits = settings.limits(NODES.into(), 64).unwrap_or_else(|least| {
            panic!("{} receive buffers are at least {least}", settings.receive_buffers)
        });
        Node {
            machine: EventMachine::new(Rank(0), NODES.into(), settings, limits),
            arrived: Vec::new(),
            known: BTreeSet::new(),
            buffers: settings.receive_buffers,
            sends_in: 0,
            at: 0,
        }
    }

    /// Sends a fragment, the last of its message or not.
    fn send(&mut self, last: bool) {
        let (event, mut out) = (self.sends_in, Outbox::default());
        let crowd = event.is_multiple_of(2);
        let to = (!crowd).then(|| Rank(1 + event as u16 % (NODES - 1)));
        if event >= self.at + AHEAD || !self.machine.may_send(to) {
            return;
        }
        let flags = Flags { last, crowd, large: event.is_multiple_of(3) };
        self.machine.send(to, event, flags, || (), 1, &mut out);
        self.sends_in += u32::from(last);
        check(&out);
    }

    /// Receives a fragment of the program's event, and is done with it.
    fn receive(&mut self) {
        let is_next = |(_, header, _): &(Rank, Header, Storage)| header.event == self.at;
        let Some(place) = self.arrived.iter().position(is_next) else { return };
        let (from, header, storage) = self.arrived.remove(place);
        let status = self.machine.consume(from, header.event);
        self.at += u32::from(status == Status::EventDone);
        let mut out = Outbox::default();
        self.machine.released(from, storage, &mut out);
        check(&out);
    }

    fn arrive(&mut self, from: Rank, header: &Header) -> Result<(), Breach> {
        let mut out = Outbox::default();
        let storage = self.machine.received(from, header, &mut out)?;
        check(&out);
        if storage == Storage::Nowhere {
            return Ok(());
        }
        assert_eq!(header.kind, Kind::Fragment, "only fragments are kept");
        assert!(self.known.insert((from, header.event, header.index)), "{header:?} came twice");
        self.arrived.push((from, *header, storage));
        let kept = self.arrived.iter().filter(|(_, _, storage)| *storage == Storage::Buffer);
        assert!(kept.count() <= self.buffers, "more is kept than there are buffers");
        Ok(())
    }
}

/// Frames of a correct node: to another, and such that it is read as it was meant.
fn check(out: &Outbox<()>) {
    for (to, header, _) in &out.frames {
        assert!(to.is_none_or(|to| to.0 > 0 && to.0 < NODES), "{header:?} to {to:?}");
        assert_eq!(Header::decode(&header.encode()), Some((*header, &[][..])));
    }
}

/// A script of eight bytes a step, after one that chooses the protocol: the program sends,
/// receives and waits; peers send what is nearly right, or anything. A breach ends the script.
pub fn frames(data: &[u8]) {
    let Some((first, steps)) = data.split_first() else { return };
    let usual = if first % 2 == 0 { Settings::default() } else { Settings::traditional() };
    let receive_buffers = 3 * usize::from(NODES) + usize::from(first / 2);
    let settings = Settings { receive_buffers, receive_copies: 4, send_copies: 8, ..usual };
    let mut node = Node::new(&settings);
    for step in steps.chunks_exact(8) {
        let &[what, from, ..] = step else { continue };
        match what % 8 {
            0 => node.send(from % 3 > 0),
            1 => node.receive(),
            2 => {
                let mut out = Outbox::default();
                node.machine.timeout((from % 2 == 0).then_some(node.at), &mut out);
                check(&out);
            }
            _ => {
                let Some(header) = said(&node, step) else { continue };
                let from = Rank(1 + u16::from(from) % (NODES - 1));
                if node.arrive(from, &header).is_err() {
                    return;
                }
            }
        }
    }
}

/// Header of a peer that may well be right, or that of any bytes.
fn said(node: &Node, step: &[u8]) -> Option<Header> {
    let &[_, _, kind, flags, event, index, frames, odd] = step else { return None };
    let number = |near: u8| match odd {
        253 => u32::MAX - u32::from(near),
        252 => u32::from(near) << 24,
        _ => u32::from(near % 8),
    };
    let mut bytes = [0; SIZE];
    bytes[0] = if odd == 255 { kind } else { [0, 0, 0, 0, 0, 1, 2, 3][usize::from(kind % 8)] };
    bytes[1] = if odd == 255 { flags } else { flags % 16 };
    bytes[2..4]
        .copy_from_slice(&u16::from(if odd > 250 { frames } else { frames % 4 }).to_le_bytes());
    bytes[4..8].copy_from_slice(&node.at.wrapping_add(number(event)).to_le_bytes());
    bytes[8..12].copy_from_slice(&number(index).to_le_bytes());
    bytes[12..].copy_from_slice(&node.sends_in.min(number(frames)).to_le_bytes());
    Some(Header::decode(&bytes)?.0)
}
