//! The state of one NI, and the events that change it.

use crate::actions::{Actions, Deferred, Delivery, PacketBody, Sharing};
use crate::checks::Checks;
use crate::counters::Counters;
use crate::departure::Departure;
use crate::flows::Flows;
use crate::invariants::Broken;
use crate::multicast::Multicast;
use crate::observation::Observation;
use crate::planted::Bug;
use crate::router::Router;
use crate::settings::{Recovery, Settings};
use crate::timer::{Nanoseconds, Timer};
use crate::traffic::Traffic;
use crate::tree::{GroupError, MulticastGroup};
use crate::violation::Violation;
use weft_wire::{Atomic, Channel, GroupId, Header, Protocol, Rank, TreeId};

/// The NI half of the protocols for one rank. `B` names a packet buffer and is never looked into.
///
/// It takes events, and has its parts do what follows from them: [`Traffic`] what concerns pairs
/// of ranks, [`Multicast`] what concerns groups. [`Self::observe`] shows what is inside.
#[derive(Debug, Clone)]
pub struct Ni<B> {
    pub(crate) router: Router<B>,
    pub(crate) checks: Checks,
}

impl<B: Copy> Ni<B> {
    /// The NI of rank `local`, which must be below `settings.ranks`, with the broadcast group.
    ///
    /// # Panics
    /// If the settings contradict themselves: [`Settings::check`] says how.
    pub fn new(local: Rank, settings: Settings) -> Self {
        assert!(local.index() < usize::from(settings.ranks), "{local:?} is not in the job");
        if let Err(contradiction) = settings.check() {
            panic!("{contradiction}");
        }
        Ni {
            router: Router {
                traffic: Traffic::new(local, settings),
                multicast: Multicast::new(local, &settings),
                told_lost: Vec::new(),
            },
            checks: Checks::new(&settings),
        }
    }

    /// Nothing is lost between `peer` and this rank, whatever the preset: packets between the two
    /// are sent carefully, with credits for `window_packets`, and the preset's numbers,
    /// acknowledgements and timers are for the other pairs. Both ends must be told, before the
    /// first packet.
    ///
    /// # Panics
    /// If `peer` is no peer, or anything was sent there or came from there.
    pub fn set_lossless(&mut self, peer: Rank) {
        let Flows { base, peers, .. } = &mut self.router.traffic.flows;
        assert!(!base.is_foreign(peer), "{peer:?} is no peer of {:?}", base.local);
        let fresh = peers.get(peer).is_none_or(|peer| peer.is_fresh(&base.settings));
        assert!(fresh, "packets have passed between {peer:?} and {:?}", base.local);
        peers.set_lossless(peer);
    }

    /// A packet from the network (thesis fig. 4.3, 4.7). `body` must be a buffer for data packets;
    /// it is the NI's until delivered.
    ///
    /// # Errors
    /// [`Violation`] if no correct peer sends this; the caller still owns `body`.
    #[inline]
    pub fn received(
        &mut self,
        header: &Header,
        body: PacketBody<B>,
        out: &mut impl Actions<B>,
    ) -> Result<(), Violation> {
        self.router.received(header, body, out)
    }

    /// A packet that was left to the host ([`Actions::defer`]), once that gets to it.
    ///
    /// # Errors
    /// Those of [`Self::received`]; the caller still owns the body.
    pub fn host_received(
        &mut self,
        deferred: Deferred<B>,
        out: &mut impl Actions<B>,
    ) -> Result<(), Violation> {
        self.router.host_received(deferred, out)
    }

    /// The host is done with a packet (thesis fig. 4.3, 4.7).
    ///
    /// # Panics
    /// If the packet still [wants to be re-injected](Delivery::wants_reinjection): it would never
    /// reach those below this rank in its tree.
    #[inline]
    pub fn released(&mut self, delivery: Delivery<B>, out: &mut impl Actions<B>) {
        match delivery.sharing {
            Sharing::Alone => {
                out.free(delivery.buffer);
                if self.router.traffic.flows.base.strikes(Bug::ReleaseTwice) {
                    out.free(delivery.buffer);
                }
                self.router.traffic.buffer_freed(delivery.parent, delivery.tree, out);
            }
            Sharing::Forwarded(key) => self.router.traffic.drop_holder(key, out),
            Sharing::Unforwarded(_) => panic!("a packet was released before it was re-injected"),
        }
    }

    /// The host has taken a delivered packet out of the NI's buffer into `copy`, one of its own:
    /// the NI's part ends here, and what is left to release is `copy`. For NIs with memory apart
    /// from the host's (thesis fig. 3.2); elsewhere the host reads and releases what was delivered.
    pub fn copied(
        &mut self,
        delivery: Delivery<B>,
        copy: B,
        out: &mut impl Actions<B>,
    ) -> Delivery<B> {
        let Delivery { size, tree, parent: _, .. } = delivery;
        let (parent, mut sharing) = (self.local(), Sharing::Alone);
        match delivery.sharing {
            Sharing::Unforwarded(_) => {
                sharing = delivery.sharing;
                out.free(delivery.buffer);
                self.router.traffic.buffer_freed(delivery.parent, tree, out);
            }
            _ => self.released(delivery, out),
        }
        Delivery { buffer: copy, size, tree, parent, sharing }
    }

    /// The host has taken a deferred packet out of the NI's buffer into `copy`, one of its own; as
    /// [`Self::copied`] for those that were delivered. A packet without a buffer needs no copy.
    pub fn copied_deferred(
        &mut self,
        deferred: Deferred<B>,
        copy: B,
        out: &mut impl Actions<B>,
    ) -> Deferred<B> {
        let Deferred { header, body: PacketBody::Buffer(buffer), holders, .. } = deferred else {
            return deferred;
        };
        match holders {
            Some(key) => self.router.traffic.drop_holder(key, out),
            None => {
                out.free(buffer);
                self.router.traffic.flows.vacate_pool(header.source, out);
            }
        }
        Deferred { body: PacketBody::Buffer(copy), holders: None, copied: true, ..deferred }
    }

    /// The state inside, for who judges or reports it.
    pub fn observe(&self) -> Observation<'_, B> {
        Observation::new(self)
    }

    /// Counts of what this NI has done so far.
    pub fn counters(&self) -> Counters {
        let plain = self.checks.plain_packets();
        let counters = self.router.traffic.flows.base.counters;
        let Counters { packets_received, packets_delivered, .. } = counters;
        let (packets_received, packets_delivered) =
            (packets_received + plain, packets_delivered + plain);
        Counters { packets_received, packets_delivered, ..counters }
    }

    /// This NI's rank.
    pub fn local(&self) -> Rank {
        self.router.traffic.flows.base.local
    }

    /// The settings it was made with.
    pub fn settings(&self) -> &Settings {
        &self.router.traffic.flows.base.settings
    }

    /// True if all that was sent here is over: nothing waits for a credit, and nothing may have to
    /// be sent again.
    pub fn is_flushed(&self) -> bool {
        self.observe().blocked() == 0 && self.router.traffic.flows.send_pool.unacknowledged() == 0
    }

    /// Ranks with equal numbers in `host_of`, which is by rank, share a host: trees cross to each
    /// host once ([`MulticastGroup::on_hosts`]). All ranks must be told the same, before the first
    /// group and the first packet.
    ///
    /// # Panics
    /// If it does not name the host of every rank, or there are groups.
    pub fn set_hosts(&mut self, host_of: &[u16]) {
        self.router.multicast.groups.set_hosts(host_of, &self.router.traffic.flows.base.settings);
    }

    /// Creates the next multicast group; all ranks must create the same ones in the same order.
    /// Packets of it that came early are to be [admitted](Self::admit_early) then.
    ///
    /// # Errors
    /// [`GroupError`] if `members` is not a set of ranks of this job.
    ///
    /// # Panics
    /// After 65,535 groups: the next number stands for none.
    pub fn create_group(&mut self, members: &[Rank]) -> Result<GroupId, GroupError> {
        let Router { traffic, multicast, .. } = &mut self.router;
        let group = multicast.groups.create(members, &traffic.flows.base.settings)?;
        traffic.buried.iter().for_each(|lost| multicast.groups.bury(*lost));
        Ok(group)
    }

    /// The group `id`, if there is one.
    pub fn group(&self, id: GroupId) -> Option<&MulticastGroup> {
        self.router.multicast.groups.get(id)
    }

    /// Delivers and forwards what came early for the groups that are there now. Until then what
    /// comes for them waits too.
    ///
    /// # Errors
    /// [`Violation`] if a packet did not come from its parent in the tree of its group. Nothing was
    /// done then, and the job cannot go on.
    pub fn admit_early(&mut self, out: &mut impl Actions<B>) -> Result<(), Violation> {
        self.router.multicast.admit_early(&mut self.router.traffic, out)
    }

    /// Sends `size` bytes of `buffer` to the system `protocol` of all other members of `group`
    /// (thesis fig. 4.6). The buffer is the NI's until it is freed.
    ///
    /// # Panics
    /// If there is no such group or this rank is not a member: the packet would reach nobody.
    pub fn multicast(
        &mut self,
        protocol: Protocol,
        group: GroupId,
        buffer: B,
        size: u16,
        out: &mut impl Actions<B>,
    ) {
        self.router.multicast.send(
            (protocol, group),
            (buffer, size),
            &mut self.router.traffic,
            out,
        );
    }

    /// The host passes a packet on before it looks at it (host-level forwarding).
    pub fn reinject(&mut self, delivery: &mut Delivery<B>, out: &mut impl Actions<B>) {
        self.router.multicast.reinject(delivery, &mut self.router.traffic, out);
    }

    /// Does `operation` on `variable` of `home`; the value before comes through
    /// [`Actions::fetched`]. One request at a time: [`Observation::is_fetching`] tells.
    pub fn atomic(
        &mut self,
        home: Rank,
        variable: u16,
        operation: Atomic,
        out: &mut impl Actions<B>,
    ) {
        let local = self.local();
        let Traffic { atomics, .. } = &mut self.router.traffic;
        assert!(!atomics.is_asking(), "a rank has one atomic operation outstanding at a time");
        if home == local {
            let value = atomics.apply(variable, operation);
            out.fetched(value);
            return;
        }
        atomics.begin();
        let departure = Departure::request(TreeId::unicast(local), variable, operation);
        self.router.traffic.credit_send(home, departure, Channel::NONE, out);
    }

    /// Has the next packet to `to` ask for an acknowledgement, whatever is free: somebody waits for
    /// it. Presets whose senders do not ask have their receivers' timers.
    pub fn ask_with_next(&mut self, to: Rank) {
        let flows = &mut self.router.traffic.flows;
        if flows.base.settings.preset.is_optimistic() {
            flows.flow(to).sending.ask_with_next = true;
        }
    }

    /// This rank ends, in good order: its peers are told, where they would miss it. To be called
    /// once, after all else was sent; they know when [`Self::is_flushed`] says so.
    pub fn disconnect(&mut self, out: &mut impl Actions<B>) {
        self.router.traffic.disconnect(out);
    }

    /// Tells all peers that `lost` has ended, and the number of the cause: those never met, too,
    /// since they may wait for others that were. Does nothing if one of them
    /// has said so.
    pub fn tell_loss(&mut self, lost: Rank, cause: u32, out: &mut impl Actions<B>) {
        if !self.router.told_lost.contains(&lost) {
            self.router.traffic.flows.tell_loss(lost, cause, out);
        }
    }

    /// True if `peer` has ended, in good order: what is sent there reaches nobody.
    pub fn is_gone(&self, peer: Rank) -> bool {
        self.router.traffic.flows.peers.is_gone(peer)
    }

    /// Makes the mistake at its `opportunity`-th opportunity, the first being 0, and once.
    #[cfg(feature = "planted")]
    pub fn plant(&mut self, bug: Bug, opportunity: u32) {
        self.router.traffic.flows.base.planted = Some((bug, opportunity));
    }

    /// True if a planted mistake has been made.
    #[cfg(feature = "planted")]
    pub fn has_struck(&self) -> bool {
        self.router.traffic.flows.base.planted.is_none()
    }

    /// Counts a packet that [`Self::received_plain`] has accepted. True if
    /// [`Self::check_invariants`] must follow.
    #[inline(always)]
    pub fn count_plain(&mut self) -> bool {
        self.checks.count_plain()
    }

    /// Counts a packet that [`Self::received`] has accepted. True if [`Self::check_invariants`]
    /// must follow.
    #[inline(always)]
    pub fn is_check_due(&mut self) -> bool {
        self.checks.count_other()
    }

    /// Checks what must hold between two events.
    ///
    /// # Errors
    /// The invariant that does not hold. The job cannot go on.
    #[cold]
    #[inline(never)]
    pub fn check_invariants(&mut self) -> Result<(), Broken> {
        self.checks.look(&self.router.traffic)
    }

    /// True if this NI runs timers, and must be told the time with [`Self::advance`] before it is
    /// told of events.
    #[inline]
    pub fn keeps_time(&self) -> bool {
        let Settings { preset, recovery, .. } = self.settings();
        preset.retransmits() || matches!(recovery, Recovery::After(_))
    }

    /// The time is now `now`. Runs out the timers that are due. Time does not go back: a point
    /// before the last one counts as that.
    #[inline]
    pub fn advance(&mut self, now: Nanoseconds, out: &mut impl Actions<B>) {
        if !self.router.traffic.passes(now) {
            self.router.traffic.advance_slowly(now, out);
        }
    }

    /// The time is now `now`, and timers that are due wait for the next [`Self::advance`]: for an
    /// NI whose timers its host runs.
    pub fn tell_time(&mut self, now: Nanoseconds) {
        self.router.traffic.flows.tell_time(now);
    }

    /// The time, as it was told last.
    pub fn now(&self) -> Nanoseconds {
        self.router.traffic.flows.base.now
    }

    /// The latest time at which [`Self::advance`] is to be called, and the reason; `None` while no
    /// timer runs. It may be too early, which costs a look, but is never too late.
    pub fn next_deadline(&self) -> Option<(Nanoseconds, Timer)> {
        let Traffic { flows, recoveries, .. } = &self.router.traffic;
        let suspicion = recoveries.deadline().map(|deadline| (deadline, Timer::Suspect));
        [flows.timers.earliest(), suspicion].into_iter().flatten().min()
    }
}
