//! Reading and writing memory of other ranks.

use super::transfers::Transfers;
use crate::abi::{RemoteMessage, RemotePiece, flag};
use crate::info::INJECT_BYTES;
use crate::memory::{Memory, Vector};
use crate::pointer::Context;
use crate::refusal::{Refusal, Result};
use crate::slots::CounterId;
use crate::state::State;
use crate::transfer::{Notice, SendOp};
use weft_endpoint::Packets;
use weft_tagged::remote::{Access, Submission};

/// Parameters of an access, besides its bytes.
#[derive(Clone, Copy)]
pub(super) struct Accessing {
    pub to: u64,
    pub address: u64,
    pub key: u64,
    pub flags: u64,
    pub context: Context,
    /// Nobody is told, unless it fails.
    pub silent: bool,
}

impl Transfers {
    /// An access that is told of, for calls that have no flags.
    pub fn access_of(&self, to: u64, address: u64, key: u64) -> Accessing {
        let (flags, context) = (self.send_flags, Context::NONE);
        Accessing { to, address, key, flags, context, silent: false }
    }
}

impl Accessing {
    /// Asks for an access by `ask`, which is reported as one of this kind.
    pub fn begin(
        &self,
        by: &Transfers,
        memory: Memory,
        (kind, counter): (u64, Option<CounterId>),
        ask: impl FnOnce(
            &mut State,
            &Packets,
            &Access,
            SendOp,
        ) -> weft_tagged::Result<Submission<SendOp>>,
    ) -> Result {
        let Accessing { to, address, key, flags, context, silent } = *self;
        let bound = by.bound()?;
        let inject = silent || flags & flag::INJECT != 0;
        if inject && memory.length() > INJECT_BYTES {
            return Err(Refusal::TOO_LONG);
        }
        let mut state = by.job.enter();
        let queue = bound.send.queue;
        if !state.reports.has_room(queue) {
            return Err(Refusal::AGAIN);
        }
        let vector = bound.vector.ok_or(Refusal::NO_VECTOR)?;
        let to = state.address(vector, to)?;
        let access = Access { to, from: by.number, key, offset: address };
        let tells = !silent && bound.send.tells(flags);
        let notice = Notice { queue, tells, counter, context, flags: kind as u32 };
        let op = SendOp { memory, inject, notice };
        let asking = ask(&mut state, by.job.packets(), &access, op);
        let began = asking.map(|asking| state.asked(by.job.packets(), &asking));
        by.began(&mut state, began)
    }

    /// Writes the bytes. `data` is told to the endpoint there.
    pub fn write(&self, by: &Transfers, memory: Memory, data: Option<u64>) -> Result {
        let report = (flag::RMA | flag::WRITE, by.bound()?.writes);
        self.begin(by, memory, report, |state, mut packets, access, op| {
            state.remote.write(&mut packets, access, data, op)
        })
    }

    /// Reads as many bytes as there is room for.
    pub fn read(&self, by: &Transfers, memory: Memory) -> Result {
        let report = (flag::RMA | flag::READ, by.bound()?.reads);
        self.begin(by, memory, report, |state, mut packets, access, op| {
            state.remote.read(&mut packets, access, op)
        })
    }
}

/// The program's bytes of a message, and where those of the other rank are, which are as many.
pub(super) fn parts(message: &RemoteMessage, flags: u64) -> Result<(Memory, Accessing)> {
    let memory = Vector::of(message.iov).memory(message.iov_count)?;
    let [RemotePiece { address, length, key }] = *message.remote.slice(message.remote_count)?
    else {
        return Err(Refusal::INVALID);
    };
    if length != memory.length() {
        return Err(Refusal::INVALID);
    }
    let RemoteMessage { addr: to, context, .. } = *message;
    Ok((memory, Accessing { to, address, key, flags, context, silent: false }))
}
