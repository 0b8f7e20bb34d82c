//! Seals of one rank with all others.

use crate::seal::sealer::{head_of, holds_packets, length_of};
use crate::seal::{EVERYBODY, FrameRefused, Keys, Opened, Opener, Protection, Refusals, Sealer};
use weft_wire::envelope::{self, Envelope, Foreign, FrameKind};
use weft_wire::{Rank, several};

/// The sealers and openers of one rank, made when a pair first meets.
pub struct Seals {
    keys: Keys,
    peers: Vec<Option<Box<Peer>>>,
    refusals: Refusals,
}

/// One other rank.
struct Peer {
    sealer: Sealer,
    opener: Opener,
}

impl Seals {
    /// For the rank of `keys` in a job of `ranks`.
    pub fn new(keys: Keys, ranks: u16) -> Self {
        let peers = (0..ranks).map(|_| None).collect();
        Seals { keys, peers, refusals: Refusals::default() }
    }

    /// Protection of the bytes of packets.
    pub fn protection(&self) -> Protection {
        self.keys.protection
    }

    /// The sealer of frames to `to`, another rank of the job.
    ///
    /// # Panics
    /// If the job has no such rank.
    #[inline]
    pub fn sealer(&mut self, to: Rank) -> &mut Sealer {
        let Seals { keys, peers, .. } = self;
        &mut peer(keys, &mut peers[to.index()], to).sealer
    }

    /// Writes the envelope of a frame for several ranks, and what is theirs into its entries. The
    /// packet, with what its header has in common for all, and the entries
    /// ([`several::Entry::new`]) must be there already. The frame counts as one of each pair's, and
    /// is sealed once.
    ///
    /// # Panics
    /// If the frame does not hold one packet of this rank and entries for others of the job, or if
    /// frames are encrypted: its bytes would need a key that all receivers have.
    pub fn seal_several(&mut self, frame: &mut [u8]) {
        assert!(!self.keys.protection.encrypts(), "frames for several are not encrypted");
        let (start, contents) = frame.split_at_mut(envelope::SIZE);
        let split = several::split(contents).map(|split| split.packet.len());
        let bytes = split.expect("a frame for several holds a packet and entries");
        let (packet, table) = contents.split_at_mut(bytes);
        let right = holds_packets(packet, self.keys.own);
        assert!(right, "a frame holds a packet of the rank that seals it");
        let envelope = envelope::emit(&Envelope {
            kind: FrameKind::SEVERAL,
            job: self.keys.job,
            source: self.keys.own,
            destination: EVERYBODY,
            length: length_of(packet),
            sequence: 0,
            tag: 0,
        });
        let cover = self.keys.cover(packet);
        for entry in table.as_chunks_mut().0 {
            let sealer = self.sealer(several::destination(entry));
            sealer.seal_entry(head_of(&envelope), &cover, entry);
        }
        start.copy_from_slice(&envelope);
    }

    /// Opens `frame`, which anybody may have written, and counts it if it is refused.
    ///
    /// # Errors
    /// [`FrameRefused`]; nothing else has changed.
    #[inline]
    pub fn open(&mut self, frame: &mut [u8]) -> Result<Opened, FrameRefused> {
        let opened = self.try_open(frame, &[]);
        if let Err(reason) = opened {
            self.refusals.count(reason);
        }
        opened
    }

    /// Does what [`Self::open`] does, for a frame with one packet, of whose body the bytes from
    /// somewhere on are `tail`, elsewhere in memory.
    ///
    /// # Errors
    /// [`FrameRefused`]; nothing else has changed.
    #[inline]
    pub fn open_parts(&mut self, frame: &mut [u8], tail: &[u8]) -> Result<Opened, FrameRefused> {
        let opened = self.try_open(frame, tail);
        if let Err(reason) = opened {
            self.refusals.count(reason);
        }
        opened
    }

    /// The frames refused so far.
    pub fn refusals(&self) -> &Refusals {
        &self.refusals
    }

    #[inline]
    fn try_open(&mut self, frame: &mut [u8], tail: &[u8]) -> Result<Opened, FrameRefused> {
        let envelope = envelope::parse(frame).map_err(|foreign| match foreign {
            Foreign::Short => FrameRefused::Length,
            Foreign::Magic => FrameRefused::Magic,
            Foreign::Version => FrameRefused::Version,
        })?;
        let Seals { keys, peers, .. } = self;
        if envelope.job != keys.job {
            return Err(FrameRefused::Job);
        }
        let source = envelope.source;
        let slot = peers.get_mut(source.index()).filter(|_| source != keys.own);
        let slot = slot.ok_or(FrameRefused::Source)?;
        if envelope.destination == EVERYBODY
            && envelope.kind == FrameKind::SEVERAL
            && tail.is_empty()
        {
            return peer(keys, slot, source).opener.open_several(&envelope, frame, keys.own);
        }
        if envelope.destination != keys.own {
            return Err(FrameRefused::Destination);
        }
        let opener = &mut peer(keys, slot, source).opener;
        match tail.is_empty() {
            true => opener.open(&envelope, frame),
            false => opener.open_parts(&envelope, frame, tail),
        }
    }
}

/// The other rank of that slot.
#[inline]
fn peer<'a>(keys: &Keys, slot: &'a mut Option<Box<Peer>>, rank: Rank) -> &'a mut Peer {
    slot.get_or_insert_with(|| {
        Box::new(Peer { sealer: Sealer::new(keys, rank), opener: Opener::new(keys, rank) })
    })
}
