//! Messages of 8 bytes to both kinds of ports, and calls.

use super::ranks::{credits_are_due, pair};
use crate::collect::{Counter, Other};
use anyhow::{Context, Result, ensure};
use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use weft_endpoint::Rank;
use weft_messaging::rpc::{Client, Rpc, Service};
use weft_messaging::{Engine, Mailbox, Message, Port};

/// The engines of a sender and of a receiver.
struct Pair([Arc<Engine>; 2]);

impl Pair {
    fn new(other: &Other) -> Result<Self> {
        let [sender, receiver] = pair(other)?;
        let engine = |packets| {
            let engine = Engine::new(packets);
            engine.will_be_closed();
            engine
        };
        Ok(Pair([engine(sender), other.run(|| engine(receiver))]))
    }

    fn sender(&self) -> &Arc<Engine> {
        &self.0[0]
    }

    fn receiver(&self) -> &Arc<Engine> {
        &self.0[1]
    }

    /// Takes credits, and the grants of the port's window, every half window.
    fn take_credits(&self, round: u64) -> Result<()> {
        if credits_are_due(round) {
            while self.sender().progress()? {}
        }
        Ok(())
    }
}

impl Drop for Pair {
    fn drop(&mut self) {
        self.0.iter().for_each(|engine| engine.close());
    }
}

pub fn play(counter: &Counter) -> Result<()> {
    handled(counter)?;
    asked_for(counter)?;
    called(counter)
}

fn read(message: &mut Message) -> weft_messaging::Result<u64> {
    let mut bytes = [0; 8];
    message.read_exact(&mut bytes)?;
    Ok(u64::from_le_bytes(bytes))
}

fn handled(counter: &Counter) -> Result<()> {
    let pair = Pair::new(&counter.other)?;
    let handled = Arc::<AtomicU64>::default();
    let counted = Arc::clone(&handled);
    let _port = Port::new(pair.receiver(), "handled", move |mut message| {
        let bytes = read(&mut message).unwrap_or_default();
        // Nobody else writes it.
        counted.store(counted.load(Ordering::Relaxed) + bytes, Ordering::Relaxed);
    })?;
    let port = Port::sender(pair.sender(), "handled")?;
    let mut due = 0;
    counter.figure("message_handler", |round, turn| {
        turn.step(|| Ok(port.send(Rank(1), black_box(&1u64.to_le_bytes()))?))?;
        turn.other(|| pair.receiver().progress().map(drop).map_err(Into::into))?;
        turn.step(|| pair.take_credits(round))?;
        due += 1;
        ensure!(handled.load(Ordering::Relaxed) == due, "each message was handled");
        Ok(())
    })
}

fn asked_for(counter: &Counter) -> Result<()> {
    let pair = Pair::new(&counter.other)?;
    let mailbox = Mailbox::new(pair.receiver(), "asked for")?;
    let port = Port::sender(pair.sender(), "asked for")?;
    counter.figure("message_mailbox", |round, turn| {
        turn.step(|| Ok(port.send(Rank(1), black_box(&round.to_le_bytes()))?))?;
        turn.other(|| {
            ensure!(read(&mut mailbox.receive()?)? == round, "messages come in order");
            Ok(())
        })?;
        turn.step(|| pair.take_credits(round))
    })?;
    let mut room = [0; 8];
    counter.figure("message_into", |round, turn| {
        turn.step(|| Ok(port.send(Rank(1), black_box(&round.to_le_bytes()))?))?;
        turn.other(|| {
            mailbox.receive_into(&mut room)?;
            ensure!(u64::from_le_bytes(room) == round, "messages come in order");
            Ok(())
        })?;
        turn.step(|| pair.take_credits(round))
    })
}

/// A call with its answer.
fn called(counter: &Counter) -> Result<()> {
    let pair = Pair::new(&counter.other)?;
    let [calling, serving] = [Rpc::new(pair.sender())?, Rpc::new(pair.receiver())?];
    let _service = Service::new(&serving, "echo", |mut request| {
        let bytes = read(request.message()).unwrap_or_default();
        // The call returns a failure.
        let _ = request.reply(&bytes.to_le_bytes());
    })?;
    let client = Client::new(&calling, "echo")?;
    counter.figure("call", |round, turn| {
        let mut call = None;
        turn.step(|| {
            call = Some(client.call(Rank(1), black_box(&round.to_le_bytes()))?);
            Ok(())
        })?;
        turn.other(|| pair.receiver().progress().map(drop).map_err(Into::into))?;
        turn.step(|| {
            let call = call.take().context("a call was made")?;
            ensure!(read(&mut call.wait()?)? == round, "a call is answered");
            Ok(())
        })
    })
}
