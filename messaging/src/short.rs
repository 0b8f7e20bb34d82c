//! Messages that fit into one short packet: they leave with their header, in no frame.

use crate::format::{self, PacketHeader, PacketKind};
use crate::messages::Messages;
use crate::parts::Parts;
use crate::poll::Poller;
use crate::port::Port;
use std::mem;
use std::sync::Arc;
use std::time::Duration;
use weft_endpoint::{Gather, Rank, Step, copy_short};

/// Time for which a short packet waits for its credit at most. A receiver that reads gives back
/// half a window in a part of it, where lines of memory take long to cross or ranks share a core,
/// too.
const CREDIT_WITHIN: Duration = Duration::from_micros(100);

/// Sends all of a message to one rank in a short packet, if it fits into one that may leave at
/// once. If not, says which number it has if it has room at its receiver already.
#[inline(always)]
pub(crate) fn send_short(
    port: &Port,
    to: Rank,
    headers: &(impl AsRef<[u8]> + ?Sized),
    parts: &(impl Parts + ?Sized),
) -> std::result::Result<(), Option<u32>> {
    let (messages, headers, bytes) = (&port.messages, headers.as_ref(), parts.total());
    let size = format::SIZE + headers.len() + bytes;
    if size > messages.packets.short_payload(to) || port.asks_first(bytes as u64) {
        return Err(None);
    }
    let claimed = messages.state.enter().machine.claim_short(port.slot, to);
    let message = claimed.ok_or(None)?;
    let header = PacketHeader {
        port: port.number,
        message,
        bytes: bytes as u64,
        header_bytes: headers.len() as u8,
        kind: PacketKind::Whole,
        aligned: false,
    };
    let short = Short { size, header: header.emit(), headers, parts };
    let is_sent = messages.packets.send_short(to, &short);
    match is_sent || send_once_credited(messages, to, short) {
        true => Ok(()),
        false => Err(Some(message)),
    }
}

/// All of a message, as it is gathered into a short packet.
struct Short<'a, P: ?Sized> {
    size: usize,
    header: [u8; format::SIZE],
    headers: &'a [u8],
    parts: &'a P,
}

impl<P: ?Sized> Clone for Short<'_, P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<P: ?Sized> Copy for Short<'_, P> {}

impl<P: Parts + ?Sized> Gather for Short<'_, P> {
    #[inline(always)]
    fn size(&self) -> usize {
        self.size
    }

    #[inline(always)]
    fn gather(&self, room: &mut [u8]) {
        let room = copy_short(room, &self.header);
        let mut room = copy_short(room, self.headers);
        match self.parts.whole() {
            Some(bytes) => _ = copy_short(room, bytes),
            None => self.parts.for_each(&mut |part| room = copy_short(mem::take(&mut room), part)),
        }
    }
}

/// Sends a short packet that found no credit, if one comes soon: most often it is on its way, and
/// costs less to wait for than a frame does that waits. A thread that would have to sleep for it
/// does not: its receiver may be waiting for something else, for long. What arrives meanwhile is
/// sorted, but no handler starts in the middle of a send. Credits come in packets that bring no
/// message, so that a look that received nothing may have found them.
#[cold]
#[inline(never)]
fn send_once_credited(messages: &Arc<Messages>, to: Rank, short: impl Gather + Copy) -> bool {
    // Where no packet may be short now for another reason, there is nothing to wait for.
    if !messages.packets.awaits_credit(to) {
        return false;
    }
    let (mut any, mut is_sent) = (false, false);
    let since = messages.packets.now();
    let waited = messages.packets.presence().wait_awake(&mut || {
        // The error shows where the program goes on.
        let received = Poller::new(messages).receive().unwrap_or_default();
        any |= received;
        is_sent = messages.packets.send_short(to, &short);
        let is_over = is_sent || messages.packets.now() - since >= CREDIT_WITHIN;
        Ok(if is_over { Step::Done } else { Step::of(received) })
    });
    debug_assert!(waited.is_ok(), "no step fails");
    if any {
        messages.have_handlers_run();
    }
    is_sent
}
