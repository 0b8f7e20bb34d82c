//! Tagged messages that are received in another order than they are sent in.

use crate::Result;
use weft::prelude::*;
use weft_endpoint::{HeldPacket, Packets, Protocol, Step, Taken};
use weft_tagged::{
    Address, Exchange, ExchangeEvent, ReceivePattern, SendParameters, SendSource, Sending, Sink,
    Tagging,
};

/// Messages that rank 0 sends, each with a tag of its own.
const MESSAGES: u64 = 2_000;

/// A message of eight bytes, or memory for one.
#[derive(Debug, Default)]
struct Number([u8; 8]);

impl SendSource for Number {
    fn length(&self) -> u64 {
        self.0.len() as u64
    }

    fn pieces(&self, offset: u64, length: usize, take: &mut dyn FnMut(&[u8])) {
        take(&self.0[offset as usize..][..length]);
    }
}

impl Sink for Number {
    fn capacity(&self) -> u64 {
        self.0.len() as u64
    }

    fn place(&mut self, offset: u64, bytes: &[u8]) {
        self.0[offset as usize..][..bytes.len()].copy_from_slice(bytes);
    }
}

/// Rank 1 receives first what is sent last.
pub(crate) fn receives_backward(weft: Weft) -> Result {
    let packets = weft.packets().of(Protocol::TAGGED);
    let mut exchange = Exchange::new(weft.rank(), weft.size());
    match weft.rank().0 {
        0 => (0..MESSAGES).try_for_each(|tag| send(&mut exchange, &packets, tag))?,
        _ => (0..MESSAGES).rev().try_for_each(|tag| receive(&mut exchange, &packets, tag))?,
    }
    weft.barrier()?;
    Ok(())
}

type Numbers = Exchange<Number, Number>;

fn send(exchange: &mut Numbers, packets: &Packets, tag: u64) -> Result {
    let to = Address { rank: Rank(1), endpoint: 0 };
    let (kind, data) = (Tagging::Tagged, None);
    let message = SendParameters { to, from: 0, kind, tag, data, wants_done: false };
    let mut number = Some(Number(tag.to_le_bytes()));
    wait(exchange, packets, |exchange, mut packets| {
        let Some(left) = number.take() else { return Ok(true) };
        if let Sending::Again(left) = exchange.send(&mut packets, &message, left)? {
            number = Some(left);
        }
        Ok(number.is_none())
    })
}

fn receive(exchange: &mut Numbers, packets: &Packets, tag: u64) -> Result {
    let source = Some(Address { rank: Rank(0), endpoint: 0 });
    let pattern = ReceivePattern { source, tag, ignore: 0 };
    exchange.receive(0, Tagging::Tagged, pattern, Number::default());
    wait(exchange, packets, |exchange, _| match exchange.event() {
        Some(ExchangeEvent::Received { into, .. }) => {
            assert_eq!(into.0, tag.to_le_bytes());
            Ok(true)
        }
        _ => Ok(false),
    })
}

/// Takes what comes until `is_done`.
fn wait(
    exchange: &mut Numbers,
    packets: &Packets,
    mut is_done: impl FnMut(&mut Numbers, &Packets) -> weft_tagged::Result<bool>,
) -> Result {
    let mut failure = None;
    packets.presence().wait(&mut || {
        let progress = step(exchange, packets);
        match progress.and_then(|any| Ok((any, is_done(exchange, packets)?))) {
            Ok((any, false)) => return Ok(Step::of(any)),
            Ok(_) => {}
            Err(error) => failure = Some(error),
        }
        Ok(Step::Done)
    })?;
    failure.map_or(Ok(()), |error| Err(error.into()))
}

/// True if a packet has come, or something has left.
fn step(exchange: &mut Numbers, mut packets: &Packets) -> weft_tagged::Result<bool> {
    let mut held = HeldPacket::default();
    let taken = packets.take_unless(|_, _: &[u8]| false, &mut held)?;
    if let Taken::Held = taken {
        let from = held.source().unwrap_or(Rank(0));
        let taken_from = packets;
        let sorting = taken_from.sorting();
        let packet = packets.read(&held);
        let arrived = exchange.arrive(&mut packets, from, packet);
        drop(sorting);
        packets.release(&mut held);
        arrived?;
        packets.trace().record_unexpected(exchange.unexpected_count());
    }
    let left = exchange.transmit(&mut packets)?;
    Ok(left || !matches!(taken, Taken::Nothing))
}
