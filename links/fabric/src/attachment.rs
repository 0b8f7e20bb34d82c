//! One rank's attachment: the endpoint, and what looks after those at the other ends.

mod ending;
mod in_one_piece;

use crate::carrier::{Carried, Carrier};
use crate::endpoint::Endpoint;
use crate::hearing::{Hearing, Heartbeats};
use crate::meeting::Meeting;
use crate::pieces::Pieces;
use crate::transport::DatagramTransport;
use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;
use weft_datagram::memory::DatagramPlace;
use weft_datagram::seal::{Keys, Protection};
use weft_datagram::{
    ArrivalSource, DatagramBells, DatagramLink, DatagramSettings, Device, InOnePiece, Landed,
    Queues, WayChange,
};
use weft_link::bell::{Bells, Cause, Loss};
use weft_link::clock::Nanoseconds;
use weft_link::timer::KernelTimer;
use weft_wire::Rank;

/// Time between two looks of who sleeps where no descriptor says that there is something.
const LOOK_EVERY: Duration = Duration::from_micros(100);
/// Time between two looks where datagrams wait until the provider takes more.
const RETRY_EVERY: Duration = Duration::from_millis(1);
/// Time that the news of a clean end may be behind an error that follows from it.
const NEWS_TAKE: Nanoseconds = 600_000_000;

/// A link over a provider of libfabric.
pub type Fabric<T = Endpoint> = DatagramLink<Attachment<T>>;

/// Settings with which a rank attaches.
pub struct FabricSettings<T = Endpoint> {
    /// The endpoint, which knows the addresses of all others.
    pub transport: T,
    /// Descriptor that is readable while something has arrived, if the provider has one.
    pub arrivals: Option<OwnedFd>,
    /// Keys of the job, and this rank's number.
    pub keys: Keys,
    /// Ranks of the job.
    pub ranks: u16,
    /// Bytes of a datagram at most.
    pub datagram_bytes: usize,
    /// Frames for sending.
    pub frames: usize,
    /// Frames for receiving, as many as the receive buffers of the protocol.
    pub receive_frames: usize,
    /// Places that are lent to the provider for arrivals.
    pub posted: usize,
    /// Meeting that goes on telling others where this rank is.
    pub meeting: Option<Meeting>,
    /// Heartbeats, if the protocol has none of its own.
    pub heartbeats: Option<Heartbeats>,
    /// Bells that announce the rank to which a datagram was lost, if the protocol does not send
    /// again: the job's. Their own, if `None`.
    pub announce_by: Option<Arc<dyn Bells>>,
}

/// Attaches to a job.
///
/// # Errors
/// Those of the system about descriptors, or that the settings leave no room for packets.
pub fn attach<T: DatagramTransport>(settings: FabricSettings<T>) -> io::Result<Fabric<T>> {
    let FabricSettings { keys, ranks, datagram_bytes, arrivals, .. } = settings;
    let count = usize::from(ranks);
    let (own, pieces, protection) = (keys.own(), Pieces::new(&keys), keys.protection());
    let mut carrier = Carrier::new(settings.transport, pieces, count, settings.posted);
    let no_memory = || io::Error::new(io::ErrorKind::OutOfMemory, "no memory for frames");
    let frames = carrier.take_frames(settings.frames).ok_or_else(no_memory)?;
    let timer = KernelTimer::new()?;
    let either = Arc::new(one_of(arrivals.as_ref().map(AsFd::as_fd), &timer)?);
    let bells = Arc::new(DatagramBells::new(either)?);
    let attachment = Attachment {
        carrier,
        hearing: Hearing::new(count, settings.heartbeats),
        suspects: Vec::new(),
        own,
        ranks,
        protection,
        timer,
        timer_runs: false,
        has_descriptor: arrivals.is_some(),
        bells: Arc::clone(&bells),
        meeting: settings.meeting,
        announce_by: settings.announce_by,
    };
    let settings = DatagramSettings {
        keys,
        ranks: count,
        room: 0..datagram_bytes,
        header_bytes: 0,
        reliable: true,
        frames,
        receive_frames: settings.receive_frames,
        // The provider brings them.
        places: Vec::new(),
        bells,
    };
    DatagramLink::new(attachment, settings)
}

/// A descriptor that is readable while one of these is.
fn one_of(arrivals: Option<BorrowedFd<'_>>, timer: &KernelTimer) -> io::Result<OwnedFd> {
    let both = epoll::create(CreateFlags::CLOEXEC)?;
    for each in arrivals.into_iter().chain([timer.as_fd()]) {
        epoll::add(&both, each, EventData::new_u64(0), EventFlags::IN)?;
    }
    Ok(both)
}

/// An endpoint, and the ranks at its other ends.
pub struct Attachment<T: DatagramTransport = Endpoint> {
    carrier: Carrier<T>,
    /// Peers that were met, and heard of.
    hearing: Hearing,
    /// Ranks to which a datagram was lost, each with the time at which that was seen.
    suspects: Vec<(Rank, Nanoseconds)>,
    own: Rank,
    ranks: u16,
    protection: Protection,
    timer: KernelTimer,
    timer_runs: bool,
    has_descriptor: bool,
    bells: Arc<DatagramBells>,
    meeting: Option<Meeting>,
    announce_by: Option<Arc<dyn Bells>>,
}

impl<T: DatagramTransport> Attachment<T> {
    /// Counters of datagrams at the provider so far.
    pub fn carried(&self) -> Carried {
        self.carrier.counters
    }

    /// Seals what was put together and hands it to the carrier.
    #[inline]
    fn hand_over(&mut self, Queues { outgoing, seals, .. }: &mut Queues) {
        outgoing.seal(seals);
        while let Some(datagram) = outgoing.pop() {
            outgoing.sent.datagrams += 1;
            let end = datagram.end();
            self.hearing.sends(datagram.to);
            self.carrier.send(datagram.to, datagram.place, end);
        }
    }

    /// Has the provider work. What arrives meanwhile does not make the descriptor readable any
    /// more.
    #[inline]
    fn progress(&mut self) {
        self.carrier.progress();
        if self.carrier.has_arrived() && self.bells.is_armed() {
            self.bells.ring_armed();
        }
    }

    /// Says that the job has lost a rank to which a datagram did not get, once it has had the time
    /// to say that it ended in good order.
    #[cold]
    fn look_after_broken(&mut self, gone: &[Rank], now: Nanoseconds) {
        for (rank, _) in &self.carrier.broken {
            if !self.suspects.iter().any(|(suspect, _)| suspect == rank) {
                self.suspects.push((*rank, now));
            }
        }
        let lost = self.suspects.iter().find(|(suspect, since)| {
            since.saturating_add(NEWS_TAKE) <= now && !gone.contains(suspect)
        });
        let Some((rank, _)) = lost else { return };
        self.announce(*rank, NEWS_TAKE);
    }

    /// Says that the job has lost `rank`, which was not reached for so long.
    fn announce(&self, rank: Rank, silence: Nanoseconds) {
        let tenths = u8::try_from(silence / 100_000_000).unwrap_or(u8::MAX);
        let loss = Loss { rank, cause: Cause::Unreachable(tenths) };
        match &self.announce_by {
            Some(bells) => bells.announce(loss),
            None => self.bells.announce(loss),
        }
    }

    /// Adds the heartbeats that are due, and says who is lost.
    #[cold]
    fn look_after_silent(
        &mut self,
        queues: &mut Queues,
        now: Nanoseconds,
        lost_after: Nanoseconds,
    ) {
        let Queues { outgoing, incoming, seals } = queues;
        // Of what has come, what can be opened without anybody's reading is.
        let is_behind = incoming.find(self, seals);
        let Attachment { hearing, carrier, own, .. } = self;
        let gone = incoming.gone.clone();
        let is_watched =
            |rank: Rank| rank != *own && !gone.contains(&rank) && !carrier.is_broken(rank);
        let look = hearing.look(now, is_behind, is_watched, |rank| incoming.has_come(rank));
        for to in look.due {
            // Datagrams that wait say as much once they leave.
            if outgoing.is_full() || carrier.waits_for(to) {
                continue;
            }
            if let Some(place) = carrier.place() {
                outgoing.put_heartbeat(to, place);
            }
        }
        if let Some(rank) = look.lost {
            self.announce(rank, lost_after);
        }
    }
}

impl<T: DatagramTransport> ArrivalSource<DatagramPlace> for Attachment<T> {
    #[inline]
    fn look(
        &mut self,
        spare: &mut Vec<DatagramPlace>,
        arrived: &mut VecDeque<(DatagramPlace, Landed)>,
    ) -> bool {
        self.carrier.look(spare, arrived)
    }
}

impl<T: DatagramTransport> Device for Attachment<T> {
    const SENDS_FRAMES: bool = true;

    #[inline]
    fn place(&mut self) -> Option<DatagramPlace> {
        self.carrier.place()
    }

    #[inline]
    fn send(&mut self, queues: &mut Queues) -> bool {
        let sends = !queues.outgoing.is_empty();
        if sends {
            self.hand_over(queues);
        }
        // What has just left is looked after next time. What sends again by itself has no
        // descriptor, and work that nobody knows of.
        let has_work = !sends && (self.carrier.has_work() || !self.has_descriptor);
        if has_work || self.carrier.is_stuck() {
            self.progress();
        }
        false
    }

    #[inline]
    fn returned(&mut self) -> Option<DatagramPlace> {
        self.carrier.returned()
    }

    fn sending(&self, index: u32) -> Option<&DatagramPlace> {
        self.carrier.sending(index)
    }

    #[inline]
    fn has_work(&self) -> bool {
        self.carrier.has_work() || !self.has_descriptor
    }

    fn starve(&mut self) {
        self.progress();
        // A thread that waits for a frame may have slept on the one that this look took: the
        // provider has to be asked again before one waits for its descriptor.
        if self.has_descriptor && self.bells.is_armed() && !self.carrier.may_sleep() {
            self.bells.ring_armed();
        }
    }

    #[inline]
    fn received(&mut self, from: Rank) {
        self.hearing.receives(from);
    }

    #[cold]
    fn dropped(&mut self, to: Rank) {
        self.carrier.fail(to, "no memory is left for datagrams that wait".into());
    }

    fn tend(&mut self, queues: &mut Queues, now: Nanoseconds) -> Option<WayChange> {
        self.progress();
        if let Some(meeting) = &mut self.meeting {
            meeting.take_in();
            meeting.gone().for_each(|rank| queues.incoming.note_gone(rank));
        }
        if !self.carrier.broken.is_empty() {
            self.look_after_broken(&queues.incoming.gone, now);
        }
        if let Some(lost_after) = self.hearing.lost_after() {
            self.look_after_silent(queues, now, lost_after);
        }
        None
    }

    fn may_sleep(&mut self) -> bool {
        if self.carrier.pieces.take_news() {
            return false;
        }
        let after = match (self.carrier.is_stuck(), self.has_descriptor) {
            (_, false) => Some(LOOK_EVERY),
            (true, true) => Some(RETRY_EVERY),
            (false, true) => None,
        };
        match after {
            Some(after) => self.timer.set(after),
            None if self.timer_runs => drop(self.timer.take()),
            None => {}
        }
        self.timer_runs = after.is_some();
        !self.has_descriptor || self.carrier.may_sleep()
    }

    fn in_one_piece(&mut self) -> Option<&mut dyn InOnePiece> {
        Some(self)
    }

    fn leave(&mut self, queues: &mut Queues) {
        self.end(queues);
    }
}
