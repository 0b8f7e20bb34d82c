//! What one rank needs to talk to all others.

use crate::{EVERYBODY, Keys, Opened, Opener, Protection, Refusals, Refused, Sealer};
use weft_wire::Rank;
use weft_wire::envelope::{self, Foreign};

/// The sealers and openers of one rank, made when a pair first meets.
pub struct Seals {
    keys: Keys,
    peers: Vec<Option<Box<Peer>>>,
    everybody: Option<Box<Sealer>>,
    refusals: Refusals,
}

/// One other rank.
struct Peer {
    sealer: Sealer,
    opener: Opener,
    /// For its frames to everybody.
    broadcast: Option<Box<Opener>>,
}

impl Seals {
    /// For the rank of `keys` in a job of `ranks`.
    pub fn new(keys: Keys, ranks: u16) -> Self {
        let peers = (0..ranks).map(|_| None).collect();
        Seals { keys, peers, everybody: None, refusals: Refusals::default() }
    }

    /// What is done to the bytes of packets.
    pub fn protection(&self) -> Protection {
        self.keys.protection
    }

    /// The sealer of frames to `to`, another rank of the job or [`EVERYBODY`].
    ///
    /// # Panics
    /// If the job has no such rank.
    #[inline]
    pub fn sealer(&mut self, to: Rank) -> &mut Sealer {
        let Seals { keys, peers, everybody, .. } = self;
        if to == EVERYBODY {
            return everybody.get_or_insert_with(|| Box::new(Sealer::new(keys, EVERYBODY)));
        }
        &mut peer(keys, &mut peers[to.index()], to).sealer
    }

    /// Opens `frame`, which anybody may have written, and counts it if it is refused.
    ///
    /// # Errors
    /// [`Refused`]; nothing else has changed.
    #[inline]
    pub fn open(&mut self, frame: &mut [u8]) -> Result<Opened, Refused> {
        let opened = self.try_open(frame);
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
    fn try_open(&mut self, frame: &mut [u8]) -> Result<Opened, Refused> {
        let envelope = envelope::parse(frame).map_err(|foreign| match foreign {
            Foreign::Short => Refused::Short,
            Foreign::Magic => Refused::Magic,
            Foreign::Version => Refused::Version,
        })?;
        let Seals { keys, peers, .. } = self;
        if envelope.job != keys.job {
            return Err(Refused::Job);
        }
        let source = envelope.source;
        let slot = peers.get_mut(source.index()).filter(|_| source != keys.own);
        let slot = slot.ok_or(Refused::Source)?;
        let for_all = envelope.destination == EVERYBODY;
        if !for_all && envelope.destination != keys.own {
            return Err(Refused::Destination);
        }
        let peer = peer(keys, slot, source);
        if !for_all {
            return peer.opener.open(&envelope, frame);
        }
        let broadcast = || Box::new(Opener::new(keys, source, EVERYBODY));
        peer.broadcast.get_or_insert_with(broadcast).open(&envelope, frame)
    }
}

/// The other rank of that slot.
#[inline]
fn peer<'a>(keys: &Keys, slot: &'a mut Option<Box<Peer>>, rank: Rank) -> &'a mut Peer {
    slot.get_or_insert_with(|| {
        Box::new(Peer {
            sealer: Sealer::new(keys, rank),
            opener: Opener::new(keys, rank, keys.own),
            broadcast: None,
        })
    })
}
