//! Settings of the NIs of a job.

use crate::congestion::Congestion;
use crate::preset::Preset;
use crate::timer::Nanoseconds;
use crate::tree::Shape;

/// Settings of a job's NIs; the same on all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Ranks in the job, those among them that come later.
    pub ranks: u16,
    /// Ranks that the job begins with, the first ones: they are the broadcast group.
    pub founders: u16,
    /// `W`, for each ordered pair. Careful presets: receive buffers, and so credits.
    /// Retransmitting presets: packets that may be unacknowledged at once.
    pub window_packets: u16,
    /// If given, windows follow demand, and `window_packets` is the largest that one gets to;
    /// careful presets only. `None`: every pair has `window_packets`, always.
    pub adaptive: Option<Adaptive>,
    /// The levels that retransmit and forward.
    pub preset: Preset,
    /// The shape of multicast trees.
    pub shape: Shape,
    /// The suspicion of a deadlock; careful presets only.
    pub recovery: Recovery,
    /// Retransmitting presets: receive buffers of an NI, shared by all senders. Packets for which
    /// there is none are dropped, to be sent again. Under `pupa` these are the secondary buffers,
    /// beside the primary ones that each sender has for itself.
    pub receive_buffers: usize,
    /// Retransmitting presets: how long a packet may stay unacknowledged, as long as nothing is
    /// known of the way there and back.
    pub retransmit_after: Nanoseconds,
    /// If given, that wait follows the round trips that are measured (RFC 6298), and is never
    /// shorter than this; what the receiver may wait before it acknowledges is added. `None`:
    /// `retransmit_after`, whatever is measured.
    pub retransmit_at_least: Option<Nanoseconds>,
    /// Retransmitting presets: how long a receiver waits for a packet to take an acknowledgement
    /// along before it sends one by itself.
    pub acknowledge_after: Nanoseconds,
    /// Further settings of `pupa`.
    pub pupa: Pupa,
    /// If given, `pupa` has fewer packets under way where the network drops some.
    pub congestion: Option<Congestion>,
    /// If given, peers with whom this rank has exchanged packets that may be lost are heard of
    /// regularly, or are lost themselves.
    pub silence: Option<Silence>,
    /// True if the invariants that one NI can see by itself are checked at all peers after each
    /// packet that arrives; else at one peer now and then.
    pub checks_all: bool,
}

/// Windows that follow demand (careful-protocols 7): a few receive buffers for each sender, and a
/// pool for those who need more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Adaptive {
    /// Credits that a pair always has, 1 or more, so that nobody waits for a first one.
    pub floor_packets: u16,
    /// Receive buffers of an NI besides, which it shares out among all senders.
    pub pool_packets: u32,
}

impl Adaptive {
    /// One credit for everybody, and a pool in which `active` senders find the rest of a window of
    /// `window_packets`.
    pub fn new(window_packets: u16, active: u16) -> Self {
        let rest = u32::from(window_packets.saturating_sub(1));
        Adaptive { floor_packets: 1, pool_packets: rest * u32::from(active) }
    }
}

/// Buffers and water marks of `pupa` (Pupa 2.1, 2.2). Marks are in percent of what they are marks
/// in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pupa {
    /// Length of the FIFO of packets for each peer (2.1.1, the primary send buffer): as many may be
    /// unacknowledged. It is no window, in that nothing is meant to ever fill it.
    pub primary_sends: u16,
    /// Send buffers of the NI for all peers together (2.1.2): as many as the link has.
    pub secondary_sends: usize,
    /// Number of these that a packet takes. `None`: one, whatever its size, as where each is a
    /// frame of the link.
    pub send_buffers: Option<SendBuffers>,
    /// Receive buffers that each sender has for itself (2.1.1). With at least one of them,
    /// multicasts get through wherever they do under the careful presets; with none, as under
    /// `irx-imc`.
    pub primary_buffers: u16,
    /// The sender asks for acknowledgements from the moment that less than this part of its send
    /// buffers is free ...
    pub low_water_percent: u8,
    /// ... until this part is. A receiver that stopped a sender lets it send without limit again
    /// once this part of the sender's receive buffers is free.
    pub high_water_percent: u8,
    /// Meanwhile it asks with one packet in this number. The paper's asks with every one, and has
    /// most of them answered; that is a packet back for each, where packets cost more than memory.
    pub ask_every: u16,
    /// Each time that its acknowledgement timer has run out so often, a receiver tells all senders
    /// what it has told them since the last time (2.2.1, the fifth way).
    pub refresh_every: u16,
}

impl Pupa {
    /// For a job of `ranks` ranks, with `secondary_sends` send buffers at each NI. Primary buffers
    /// are shares of what is reasonable for all peers together: 16,384 entries of send FIFOs, and
    /// 256 receive buffers. The marks are a quarter and a half, and the timer's 50 is the paper's.
    pub fn new(ranks: u16, secondary_sends: usize) -> Self {
        let ranks = ranks.max(1);
        Pupa {
            primary_sends: (16_384 / ranks).clamp(32, 1024),
            secondary_sends,
            send_buffers: None,
            primary_buffers: (256 / ranks).clamp(1, 8),
            low_water_percent: 25,
            high_water_percent: 50,
            ask_every: 1,
            refresh_every: 50,
        }
    }

    /// Packets to one peer from which on that peer is asked to acknowledge, and down to which.
    pub(crate) fn marks(&self) -> (usize, usize) {
        self.marks_of(usize::from(self.primary_sends))
    }

    /// The marks for packets to all peers.
    pub(crate) fn pool_marks(&self) -> (usize, usize) {
        self.marks_of(self.secondary_sends)
    }

    /// Number of `all` that are in use when the low mark of free ones is passed, and when the high
    /// one is reached again.
    fn marks_of(&self, all: usize) -> (usize, usize) {
        let in_use = |free: u8| all - (all * usize::from(free)).div_ceil(100);
        (in_use(self.low_water_percent), in_use(self.high_water_percent))
    }
}

/// A pool of send buffers of one size (Pupa 2.1.2, 2.1.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SendBuffers {
    /// Packets with as many bytes, or fewer, have room in the FIFO and take none.
    pub primary_bytes: u16,
    /// Bytes of each; larger packets take several. More than 0.
    pub bytes: u16,
}

impl SendBuffers {
    /// Number that a packet with `size` bytes takes, be it for one receiver or for several.
    pub fn taken_by(self, size: u16) -> usize {
        if size <= self.primary_bytes { 0 } else { usize::from(size.div_ceil(self.bytes)) }
    }
}

/// Time that peers may keep silent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Silence {
    /// Time without a packet to a peer after which the peer is sent a heartbeat.
    pub heartbeat_after: Nanoseconds,
    /// Time without a packet from a peer after which the peer is lost.
    pub lost_after: Nanoseconds,
}

impl Silence {
    /// Settings by which a silent peer is lost after this time: at least three missed heartbeats.
    pub fn lost_after(lost_after: Nanoseconds) -> Self {
        let Silence { heartbeat_after, .. } = Silence::default();
        Silence { heartbeat_after: heartbeat_after.min(lost_after / 4), lost_after }
    }

    /// True if an NI that did not poll for this time may have missed heartbeats.
    #[inline]
    pub(crate) fn is_deaf(self, passed: Nanoseconds) -> bool {
        passed > 2 * self.heartbeat_after
    }
}

impl Default for Silence {
    /// Silence after which a loss is detected, announced and the job ended within a second.
    fn default() -> Self {
        Silence { heartbeat_after: 200_000_000, lost_after: 800_000_000 }
    }
}

impl Settings {
    /// The default preset and shape, no recovery, and for the retransmitting presets buffers for
    /// all packets that peers may send and for as many that wait to be acknowledged by children:
    /// with fewer, forwarding may deadlock (thesis 8.3.3).
    pub fn new(ranks: u16, window_packets: u16) -> Self {
        let buffers = 2 * usize::from(ranks) * usize::from(window_packets);
        Settings {
            ranks,
            founders: ranks,
            window_packets,
            adaptive: None,
            preset: Preset::default(),
            shape: Shape::default(),
            recovery: Recovery::default(),
            receive_buffers: buffers,
            retransmit_after: 1_000_000,
            retransmit_at_least: Some(100_000),
            acknowledge_after: 200_000,
            pupa: Pupa::new(ranks, buffers),
            congestion: None,
            silence: None,
            checks_all: false,
        }
    }
}

impl Settings {
    /// Checks that these settings agree with each other.
    ///
    /// # Errors
    /// The [`Contradiction`] in them.
    pub fn check(&self) -> Result<(), Contradiction> {
        if self.ranks == 0 {
            return Err(Contradiction::NoRanks);
        }
        if !(1..=self.ranks).contains(&self.founders) {
            return Err(Contradiction::Founders(self.founders, self.ranks));
        }
        if self.window_packets == 0 || self.window_packets > MOST_PACKETS {
            return Err(Contradiction::Window(self.window_packets));
        }
        self.check_adaptive()?;
        if self.preset.retransmits() && self.recovery != Recovery::Off {
            return Err(Contradiction::Recovery(self.preset));
        }
        if self.preset.retransmits() && self.receive_buffers == 0 {
            return Err(Contradiction::NoBuffers(self.preset));
        }
        if self.preset.is_optimistic() {
            self.check_pupa()?;
        }
        match self.silence {
            Some(silence) => silence.check(),
            None => Ok(()),
        }
    }

    /// Packets to one peer that may be unacknowledged, where packets are numbered.
    pub fn unacknowledged(&self) -> u16 {
        if self.preset.is_optimistic() { self.pupa.primary_sends } else { self.window_packets }
    }

    /// Credits, or places in the window, that a pair begins with, if they are not all of it. Its
    /// packets are numbered or not.
    pub(crate) fn floor(&self, is_numbered: bool) -> Option<u16> {
        let is_congested = is_numbered && self.preset.is_optimistic();
        let congestion = self.congestion.filter(|_| is_congested);
        let first =
            congestion.map(|congestion| congestion.first_packets.min(self.unacknowledged()));
        self.adaptive.map(|adaptive| adaptive.floor_packets).or(first)
    }

    /// Send buffers that a multicast of `size` bytes takes until all have acknowledged it.
    pub(crate) fn buffers_of_multicast(&self, size: u16) -> usize {
        self.pupa.send_buffers.map_or(0, |buffers| buffers.taken_by(size))
    }

    /// Receive buffers that each sender has for itself, where packets are numbered.
    pub fn primary_buffers(&self) -> usize {
        if self.preset.is_optimistic() { usize::from(self.pupa.primary_buffers) } else { 0 }
    }

    /// Credits that each ordered pair begins with, where packets have no numbers.
    pub fn first_credits(&self) -> u16 {
        self.adaptive.map_or(self.window_packets, |adaptive| adaptive.floor_packets)
    }

    /// Receive buffers that an NI has promised to its peers at most, where packets have no numbers:
    /// a window for each, or the floor for each and the pool for all.
    pub fn promised_buffers(&self) -> usize {
        let peers = usize::from(self.ranks) - 1;
        let pool = self.adaptive.map_or(0, |adaptive| adaptive.pool_packets as usize);
        peers * usize::from(self.first_credits()) + pool
    }

    fn check_adaptive(&self) -> Result<(), Contradiction> {
        let Some(Adaptive { floor_packets, .. }) = self.adaptive else { return Ok(()) };
        if self.preset.retransmits() {
            return Err(Contradiction::Adaptive(self.preset));
        }
        if floor_packets == 0 || floor_packets > self.window_packets {
            return Err(Contradiction::Floor(floor_packets, self.window_packets));
        }
        Ok(())
    }

    fn check_pupa(&self) -> Result<(), Contradiction> {
        let Pupa { primary_sends, secondary_sends, ask_every, refresh_every, .. } = self.pupa;
        let (low, high) = (self.pupa.low_water_percent, self.pupa.high_water_percent);
        if primary_sends == 0 || primary_sends > MOST_PACKETS {
            return Err(Contradiction::Window(primary_sends));
        }
        if low > high || high > 100 {
            return Err(Contradiction::Marks(low, high));
        }
        if secondary_sends == 0
            || refresh_every == 0
            || ask_every == 0
            || self.pupa.send_buffers.is_some_and(|buffers| buffers.bytes == 0)
            || self.congestion.is_some_and(|congestion| congestion.first_packets == 0)
        {
            return Err(Contradiction::NoSends);
        }
        Ok(())
    }
}

impl Silence {
    fn check(self) -> Result<(), Contradiction> {
        let Silence { heartbeat_after, lost_after } = self;
        if heartbeat_after == 0 || lost_after < 3 * heartbeat_after {
            return Err(Contradiction::Silence { heartbeat_after, lost_after });
        }
        Ok(())
    }
}

/// The largest window: what can be told in a header, and compared by numbers that wrap around.
const MOST_PACKETS: u16 = 1 << 14;

/// Settings that contradict themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Contradiction {
    /// A job has at least one rank.
    #[error("a job has at least one rank")]
    NoRanks,
    /// A job begins with some of its ranks.
    #[error("a job of {1} ranks cannot begin with {0}")]
    Founders(u16, u16),
    /// A window that cannot be.
    #[error("a window of {0} packets cannot be: it has 1 to {MOST_PACKETS}")]
    Window(u16),
    /// Recovery is for presets with credits.
    #[error("deadlock recovery belongs to nrx-imc and nrx-hmc; {0} has no credits to run out of")]
    Recovery(Preset),
    /// Windows that follow demand are for presets with credits.
    #[error("adaptive windows belong to nrx-imc and nrx-hmc; {0} has no credits to share out")]
    Adaptive(Preset),
    /// A floor that cannot be, in a window.
    #[error(
        "a floor of {0} credits cannot be in a window of {1}: it has 1 to as many as the window"
    )]
    Floor(u16, u16),
    /// Nothing could be received.
    #[error("{0} needs at least one receive buffer")]
    NoBuffers(Preset),
    /// Water marks that cannot be: low and high.
    #[error("water marks of {0} and {1} percent cannot be: low, high and all come in that order")]
    Marks(u8, u8),
    /// Nothing could be sent, or told again.
    #[error("pupa needs at least one send buffer, and a timer that runs out before it tells again")]
    NoSends,
    /// Peers would be lost between two heartbeats.
    #[error(
        "a peer cannot be lost after {lost_after} ns if a heartbeat is due after {heartbeat_after}: \
         a third of that at most, and more than nothing"
    )]
    Silence {
        /// Time after which a heartbeat is due.
        heartbeat_after: Nanoseconds,
        /// Time after which a peer is lost.
        lost_after: Nanoseconds,
    },
}

/// RECOV: when an NI suspects that it is part of a deadlock (thesis 4.3.1, 5.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Recovery {
    /// Never: MCAST as it is, safe on trees that meet Appendix A's condition.
    #[default]
    Off,
    /// At once, if a packet has to wait for a credit.
    AtOnce,
    /// Time without a departure after which packets for one destination are taken for deadlocked.
    After(Nanoseconds),
}
