//! A connection to one peer, and the records that wait for it.

use crate::frames::Frames;
use crate::record::HELLO_CONTENTS;
use crate::unsent::unsent;
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, SendAncillaryBuffer, SendFlags, SocketFlags, SocketType, bind, connect, sendmsg,
    socket_with, sockopt,
};
use std::collections::VecDeque;
use std::io::{self, IoSlice};
use std::net::{IpAddr, SocketAddr};
use std::os::fd::OwnedFd;
use weft_datagram::seal::{FrameKind, Sealer};
use weft_wire::{Header, envelope};

/// Records in one system call at most.
const AT_ONCE: usize = 16;
/// Bytes of a record of several short packets at most.
const PACKED_BYTES: usize = 8 << 10;
/// Records that wait at most, beside those in frames.
const WAITING: usize = 1024;

/// Connection to a peer, which this rank writes and the peer reads.
pub(crate) struct Connection {
    pub socket: OwnedFd,
    queue: VecDeque<Record>,
    /// Bytes of the first record that the kernel has.
    written: usize,
    /// Bytes of the records before it, all of which it has taken.
    taken: u64,
    /// Bytes that the other end's kernel had acknowledged at the last [`Self::progress`].
    acknowledged: u64,
    /// The kernel takes no more, or has not connected yet.
    blocked: bool,
    /// The kernel may keep the end of what it has until more comes.
    corked: bool,
}

/// Progress of a connection since the last question.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Progress {
    /// The other end's kernel has all.
    Arrived,
    /// It has more than before.
    Moves,
    /// It has nothing more, and something is under way.
    Still,
}

/// Record that waits.
struct Record {
    place: Place,
    bytes: usize,
    sealed: bool,
}

enum Place {
    /// In the frame that its packet was filled in.
    Frame(u32),
    /// In memory of its own.
    Own(Vec<u8>),
}

impl Connection {
    /// Begins to connect to `to` from `from`.
    ///
    /// # Errors
    /// What the system says.
    pub fn begin(from: IpAddr, to: SocketAddr) -> io::Result<Self> {
        let family = if to.is_ipv6() { AddressFamily::INET6 } else { AddressFamily::INET };
        let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
        let socket = socket_with(family, SocketType::STREAM, flags, None)?;
        sockopt::set_tcp_nodelay(&socket, true)?;
        // Of a host's addresses the one that it has in the job, if the system lets us.
        let _ = bind(&socket, &SocketAddr::new(from, 0));
        match connect(&socket, &to) {
            Ok(()) | Err(Errno::INPROGRESS) => {}
            Err(error) => return Err(error.into()),
        }
        Ok(Connection {
            socket,
            queue: VecDeque::new(),
            written: 0,
            taken: 0,
            acknowledged: 0,
            blocked: false,
            corked: false,
        })
    }

    /// True if the kernel takes no more for now.
    #[inline]
    pub fn is_blocked(&self) -> bool {
        self.blocked
    }

    /// True if the kernel has all, and keeps none of it back.
    #[inline]
    pub fn is_flushed(&self) -> bool {
        self.queue.is_empty() && !self.corked
    }

    /// True if the other end's kernel has acknowledged all that was handed to the connection.
    pub fn has_arrived(&self) -> bool {
        self.is_flushed() && unsent(&self.socket) == Some(0)
    }

    /// The kernel may take more.
    pub fn unblock(&mut self) {
        self.blocked = false;
    }

    /// Asks the kernel how far the connection has come.
    pub fn progress(&mut self) -> Progress {
        if self.has_arrived() {
            return Progress::Arrived;
        }
        let written = self.taken + self.written as u64;
        let acknowledged = written.saturating_sub(unsent(&self.socket).unwrap_or(0));
        let before = std::mem::replace(&mut self.acknowledged, acknowledged);
        if acknowledged == before { Progress::Still } else { Progress::Moves }
    }

    /// Adds the record that says whose this connection is.
    pub fn push_hello(&mut self, sealer: &mut Sealer, trailer_bytes: usize) {
        let mut record = vec![0; envelope::SIZE + HELLO_CONTENTS + trailer_bytes];
        sealer.seal(FrameKind::HELLO, &mut record);
        let bytes = record.len();
        self.queue.push_back(Record { place: Place::Own(record), bytes, sealed: true });
    }

    /// Adds the packet in a frame, which is kept until it has left.
    pub fn push_frame(&mut self, frame: u32, header: &Header, frames: &mut Frames) {
        let bytes = envelope::SIZE + envelope::packet_bytes(envelope::body_bytes(header));
        let record = frames.memory.record_mut(frame, bytes);
        envelope::put_around(&mut record[envelope::SIZE..], header);
        self.queue.push_back(Record { place: Place::Frame(frame), bytes, sealed: false });
    }

    /// Adds a copy of a packet. False if too many wait.
    #[must_use]
    pub fn push_copy(&mut self, header: &Header, body: &[u8], trailer_bytes: usize) -> bool {
        let packet = envelope::packet_bytes(body.len());
        if let Some(Record { place: Place::Own(bytes), sealed: false, bytes: end }) =
            self.queue.back_mut()
            && bytes.len() + packet + trailer_bytes <= PACKED_BYTES
        {
            let at = bytes.len();
            bytes.resize(at + packet, 0);
            envelope::put(&mut bytes[at..], header, body);
            *end = at + packet;
            return true;
        }
        if self.queue.len() >= WAITING {
            return false;
        }
        let end = envelope::SIZE + packet;
        let mut bytes = Vec::with_capacity((end + trailer_bytes).max(512));
        bytes.resize(end, 0);
        envelope::put(&mut bytes[envelope::SIZE..], header, body);
        self.queue.push_back(Record { place: Place::Own(bytes), bytes: end, sealed: false });
        true
    }

    /// Writes as much as the kernel takes. If `more` follows soon, the end of a record waits for
    /// it: else each record of 64 KiB would leave as one segment of the most that the card cuts up,
    /// and a short one.
    ///
    /// # Errors
    /// The connection is broken.
    pub fn flush(
        &mut self,
        more: bool,
        frames: &mut Frames,
        sealer: &mut Sealer,
        trailer_bytes: usize,
    ) -> io::Result<()> {
        while !self.queue.is_empty() && !self.blocked {
            self.seal(frames, sealer, trailer_bytes);
            match self.write(more, frames) {
                Ok(written) => {
                    self.corked = more;
                    self.take_off(written, frames);
                }
                Err(Errno::AGAIN) => self.blocked = true,
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        if self.corked && !more {
            self.corked = false;
            // Setting it again has the kernel send what it keeps.
            sockopt::set_tcp_nodelay(&self.socket, true)?;
        }
        Ok(())
    }

    /// Gives back what waits, which is lost.
    pub fn drop_all(&mut self, frames: &mut Frames) {
        let kept = self.queue.drain(..).filter_map(|record| record.frame());
        kept.for_each(|frame| frames.left(frame));
    }

    fn seal(&mut self, frames: &mut Frames, sealer: &mut Sealer, trailer_bytes: usize) {
        for record in self.queue.iter_mut().take(AT_ONCE).filter(|record| !record.sealed) {
            record.sealed = true;
            match &mut record.place {
                Place::Frame(frame) => {
                    let (head, tail) = frames.memory.parts_mut(*frame, record.bytes);
                    sealer.seal_parts(head, tail);
                }
                Place::Own(bytes) => {
                    record.bytes += trailer_bytes;
                    bytes.resize(record.bytes, 0);
                    sealer.seal(FrameKind::PACKETS, bytes);
                }
            }
        }
    }

    fn write(&self, more: bool, frames: &Frames) -> Result<usize, Errno> {
        let mut slices = [IoSlice::new(&[]); 2 * AT_ONCE];
        let mut skipped = self.written;
        let mut count = 0;
        for record in self.queue.iter().take(AT_ONCE) {
            let parts = match &record.place {
                Place::Frame(frame) => frames.memory.parts(*frame, record.bytes),
                Place::Own(bytes) => [bytes, &[][..]],
            };
            for part in parts {
                let rest = &part[skipped.min(part.len())..];
                skipped -= part.len() - rest.len();
                if !rest.is_empty() {
                    slices[count] = IoSlice::new(rest);
                    count += 1;
                }
            }
        }
        let mut flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
        flags.set(SendFlags::MORE, more);
        sendmsg(&self.socket, &slices[..count], &mut SendAncillaryBuffer::default(), flags)
    }

    fn take_off(&mut self, written: usize, frames: &mut Frames) {
        self.written += written;
        while let Some(first) = self.queue.front()
            && self.written >= first.bytes
        {
            self.written -= first.bytes;
            self.taken += first.bytes as u64;
            if let Some(frame) = self.queue.pop_front().and_then(|record| record.frame()) {
                frames.left(frame);
            }
        }
    }
}

impl Record {
    fn frame(&self) -> Option<u32> {
        match self.place {
            Place::Frame(frame) => Some(frame),
            Place::Own(_) => None,
        }
    }
}
