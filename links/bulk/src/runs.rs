//! Packets of several datagrams by a link beside the far one, whose system takes them with one
//! call.
//!
//! AF_XDP is the quickest way for one frame; each more costs as much again, because the system
//! takes them one by one. UDP takes a run of them with one call, and hands it over to one look. So
//! what fits no frame, but a few, goes there, without a connection.

use std::io;
use std::os::fd::OwnedFd;
use std::ptr::NonNull;
use weft_link::clock::Nanoseconds;
use weft_link::{Buffer, Layer, LinkPart, LinkViolation, Payload, Received};
use weft_wire::{Header, Rank};

/// Looks at the far link that find nothing between two at this one, while runs come: each is a
/// system call. While none do, the set of connections says when one has.
const EVERY: u32 = 2;
/// Looks at this link for which runs are said to come.
const STAYS: u32 = 256;

/// A link for packets of several datagrams: any [`LinkPart`], whose types nobody here needs to
/// know.
pub trait RunLink: Send {
    /// User bytes of a packet at most.
    fn most_payload(&self) -> usize;

    /// Sends a packet with these bytes. It may be lost.
    fn send(&mut self, to: Rank, header: &Header, bytes: &[u8]);

    /// The next packet.
    ///
    /// # Errors
    /// Violations of a peer, as those of [`weft_link::Link::receive`].
    fn receive(&mut self) -> Result<Option<Received>, LinkViolation>;

    /// True if [`Self::receive`] would find something.
    fn has_arrivals(&mut self) -> bool;

    /// Address of the bytes of a packet that has come.
    fn bytes(&self, buffer: Buffer) -> NonNull<u8>;

    /// Copies the first bytes of a packet that has come.
    fn copy_out(&self, buffer: Buffer, into: &mut [u8]);

    /// A packet that has come is used no more.
    fn free(&mut self, buffer: Buffer);

    /// Looks after the ways to others, and sends what the system has not taken.
    fn tend(&mut self, now: Nanoseconds);
}

impl<P: LinkPart> RunLink for P {
    fn most_payload(&self) -> usize {
        self.most_payload_at_once()
    }

    fn send(&mut self, to: Rank, header: &Header, bytes: &[u8]) {
        let _ = self.transmit_copy(to, header, bytes);
        self.flush();
    }

    fn receive(&mut self) -> Result<Option<Received>, LinkViolation> {
        weft_link::Link::receive(self)
    }

    fn has_arrivals(&mut self) -> bool {
        weft_link::Link::has_arrivals(self)
    }

    fn bytes(&self, buffer: Buffer) -> NonNull<u8> {
        weft_link::Link::bytes(self, buffer)
    }

    fn copy_out(&self, buffer: Buffer, into: &mut [u8]) {
        weft_link::Link::copy_out(self, buffer, into);
    }

    fn free(&mut self, buffer: Buffer) {
        weft_link::Link::free(self, buffer);
    }

    fn tend(&mut self, now: Nanoseconds) {
        // The far link says how long packets may be.
        let _ = self.paths().and_then(|paths| paths.tend(now));
        self.flush();
    }
}

/// Such a link, and a descriptor that is readable while something has come by it.
pub struct RunSettings {
    /// The link.
    pub link: Box<dyn RunLink>,
    /// The descriptor.
    pub arrivals: OwnedFd,
}

impl std::fmt::Debug for RunSettings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RunSettings").finish_non_exhaustive()
    }
}

/// The link, if there is one, and when to look at it.
pub(crate) struct Runs {
    link: Option<Box<dyn RunLink>>,
    most: usize,
    /// Looks at the far link since the last at this one, and looks at this that are left.
    looks: u32,
    stays: u32,
}

impl Runs {
    /// Adds the descriptor to the set that sleeping ranks wait for.
    pub fn new(
        settings: Option<RunSettings>,
        wait_for: impl FnOnce(OwnedFd) -> io::Result<()>,
    ) -> io::Result<Self> {
        let link = match settings {
            Some(RunSettings { link, arrivals }) => {
                wait_for(arrivals)?;
                Some(link)
            }
            None => None,
        };
        let most = link.as_ref().map_or(0, |link| link.most_payload());
        Ok(Runs { link, most, looks: 0, stays: 0 })
    }

    /// User bytes of a packet at most; 0 without a link.
    pub fn most(&self) -> usize {
        self.most
    }

    /// Sends a packet of more bytes than a frame has room for.
    pub fn send(&mut self, to: Rank, header: &Header, bytes: &[u8]) {
        if let Some(link) = &mut self.link {
            link.send(to, header, bytes);
        }
    }

    /// True if it is to be looked at, after a look at the far link that found nothing.
    #[inline]
    pub fn is_due(&mut self) -> bool {
        if self.stays == 0 {
            return false;
        }
        self.looks += 1;
        let is_due = self.looks >= EVERY;
        if is_due {
            (self.looks, self.stays) = (0, self.stays - 1);
        }
        is_due
    }

    /// Something has come: the next look finds it.
    pub fn notice(&mut self) {
        (self.looks, self.stays) = (EVERY, STAYS);
    }

    /// The next packet.
    pub fn receive(&mut self) -> Result<Option<Received>, LinkViolation> {
        let Some(link) = &mut self.link else { return Ok(None) };
        let Some(mut received) = link.receive()? else { return Ok(None) };
        self.stays = STAYS;
        if let Payload::Buffer(buffer) = received.payload {
            received.payload = Payload::Buffer(buffer.marked(Layer::Runs));
        }
        Ok(Some(received))
    }

    /// True if a packet has come.
    pub fn has_arrivals(&mut self) -> bool {
        let has = self.link.as_mut().is_some_and(|link| link.has_arrivals());
        if has {
            self.notice();
        }
        has
    }

    /// The link, which a buffer has come by.
    pub fn link(&self) -> &dyn RunLink {
        match &self.link {
            Some(link) => &**link,
            None => unreachable!("a buffer of this link has come by it"),
        }
    }

    /// A packet that has come is used no more.
    pub fn free(&mut self, buffer: Buffer) {
        if let Some(link) = &mut self.link {
            link.free(buffer);
        }
    }

    /// Looks after the link.
    pub fn tend(&mut self, now: Nanoseconds) {
        if let Some(link) = &mut self.link {
            link.tend(now);
        }
    }
}
