//! One NI of each preset, between a host that keeps its contract and peers that keep none.
//!
//! The script chooses the sizes of the job, and then events in any order: packets from peers,
//! sends, multicasts, packets processed, copied and released, time. `host` is the host and judges
//! what the NI does; `ledger` is what it and its peers have told each other; `peers` makes up
//! packets; `rest` is how it ends. The invariants after every event:
//!
//! - nothing panics, and a refused packet changes nothing;
//! - every buffer has one owner and is freed once, never while the host reads it (I4);
//! - credits are conserved as far as one end can see it (I1), never more than the window;
//! - numbers are consecutive, no more than a window of them is unacknowledged in either direction,
//!   and nothing is acknowledged before the host or its NI has it (I8, as far as one end can see
//!   it);
//! - a rank has one recovery at a time, and channels are cleared from the leaves up (I7);
//! - queues and buffers in use are bounded (I9), whatever peers send;
//! - a timer that is due has run out.
//!
//! In the end the host releases everything, and the peers return, clear, acknowledge and answer
//! what is due: the NI must come to rest with everything given back and no timer left.

mod host;
mod ledger;
mod peers;
mod rest;

use arbitrary::{Result, Unstructured};
use host::{BufferKind, COPIES, DEFERRED, Host, SEND_BUFFERS};
use ledger::is_numbered;
use peers::any_words;
use std::collections::VecDeque;
use weft_protocol::invariants::{i2_promised, i9_bounded};
use weft_protocol::tree::{MulticastGroup, Shape};
use weft_protocol::{
    Acknowledging, Adaptive, Congestion, Counters, Forwarding, Ni, PacketBody, Preset, Pupa,
    Recovery, Reliability, SendBuffers, Settings, Timer,
};
use weft_wire::{Atomic, GroupId, Header, Protocol, Rank, Tag, TreeId};

/// `nrx-imc`, with any recovery; so the others.
pub fn nrx_imc(data: &[u8]) {
    run(Preset::NrxImc, data);
}

/// `nrx-hmc`.
pub fn nrx_hmc(data: &[u8]) {
    run(Preset::NrxHmc, data);
}

/// `irx-imc`.
pub fn irx_imc(data: &[u8]) {
    run(Preset::IrxImc, data);
}

/// `irx-hmc`.
pub fn irx_hmc(data: &[u8]) {
    run(Preset::IrxHmc, data);
}

/// `hrx-hmc`.
pub fn hrx_hmc(data: &[u8]) {
    run(Preset::HrxHmc, data);
}

/// `hrx-imc`.
pub fn hrx_imc(data: &[u8]) {
    run(Preset::HrxImc, data);
}

/// `pupa`.
pub fn pupa(data: &[u8]) {
    run(Preset::Pupa, data);
}

/// Events of one script at most, so that each run is short.
const EVENTS: usize = 400;
/// User bytes of every packet that the host sends; the protocols never look at them.
const SIZE: u16 = 8;
/// Packets that may come again.
const RECENT: usize = 6;

fn run(preset: Preset, data: &[u8]) {
    let mut script = Unstructured::new(data);
    let _ = Bench::new(preset, &mut script).and_then(|mut bench| bench.play(&mut script));
}

/// An NI and what is around it.
struct Bench {
    ni: Ni<u64>,
    host: Host,
    settings: Settings,
    /// The groups that this rank is in.
    groups: Vec<GroupId>,
    /// One that it will create at some time.
    next: Option<MulticastGroup>,
    /// Packets that were received for groups that it has not created.
    early: Vec<Header>,
    now: u64,
    /// The host has refused a packet that the NI had accepted: the job is over.
    over: bool,
    /// The packets that arrived last, to come again.
    recent: VecDeque<(Header, PacketBody<u64>)>,
}

impl Bench {
    fn new(preset: Preset, script: &mut Unstructured<'_>) -> Result<Self> {
        let ranks = script.int_in_range(2..=7)?;
        let mut settings = Settings::new(ranks, script.int_in_range(1..=6)?);
        settings.preset = preset;
        settings.shape = *script.choose(&Shape::ALL)?;
        settings.recovery = match script.int_in_range(0..=3)? {
            0 | 1 => Recovery::Off,
            2 => Recovery::AtOnce,
            _ => Recovery::After(100),
        };
        if preset.retransmits() {
            settings.recovery = Recovery::Off;
            let most = if script.arbitrary()? { settings.receive_buffers } else { 3 };
            settings.receive_buffers = script.int_in_range(1..=most)?;
        }
        if preset.is_optimistic() {
            let low_water_percent: u8 = script.int_in_range(0..=50)?;
            settings.pupa = Pupa {
                primary_sends: script.int_in_range(1..=6)?,
                secondary_sends: script.int_in_range(1..=12)?,
                primary_buffers: script.int_in_range(0..=2)?,
                send_buffers: (low_water_percent % 2 == 1).then(|| SendBuffers {
                    primary_bytes: u16::from(low_water_percent) % (SIZE + 1),
                    bytes: 1 + u16::from(low_water_percent) % SIZE,
                }),
                low_water_percent,
                high_water_percent: low_water_percent + script.int_in_range(0..=50)?,
                ask_every: 1 + low_water_percent as u16 % 3,
                refresh_every: script.int_in_range(1..=3)?,
            };
            let first_packets = 1 + u16::from(low_water_percent) % 4;
            settings.congestion =
                low_water_percent.is_multiple_of(3).then_some(Congestion { first_packets });
        }
        settings.retransmit_at_least = None;
        settings.retransmit_after = 1000;
        settings.acknowledge_after = 200;
        let local = Rank(script.int_in_range(0..=ranks - 1)?);
        let members = script.arbitrary::<u8>()?;
        let late = members >> 7 == 1;
        settings.adaptive = adaptive(&settings, members);
        let members: Vec<Rank> =
            (0..ranks).filter(|rank| members >> rank & 1 == 1).map(Rank).collect();
        let next = MulticastGroup::new(&members, settings.shape, usize::from(ranks));
        let next = next.unwrap_or_else(|_| MulticastGroup::everyone(ranks, settings.shape));
        let mut bench = Bench {
            ni: Ni::new(local, settings),
            host: Host::new(local, &settings),
            settings,
            groups: vec![GroupId::ALL],
            next: Some(next),
            early: vec![],
            now: 0,
            over: false,
            recent: VecDeque::new(),
        };
        if !late {
            bench.create_group();
        }
        Ok(bench)
    }

    /// Creates the group that there is to be. Packets that came early for it have to have come from
    /// its parent.
    fn create_group(&mut self) {
        let Some(group) = self.next.take() else { return };
        self.tell_time();
        let local = self.host.local;
        let created = self.ni.create_group(group.members());
        let id = created.expect("it is one");
        if group.contains(local) {
            self.groups.push(id);
        }
        let is_right = |header: &Header| {
            header.tree.group() != Some(id)
                || group.parent(header.tree.root, local) == Some(header.source)
        };
        let right = self.early.iter().all(is_right);
        let (before, actions) = (format!("{:?}", self.ni), self.host.actions);
        let admitted = self.ni.admit_early(&mut self.host);
        assert_eq!(admitted.is_ok(), right, "{:?} of {group:?}", self.early);
        if admitted.is_err() {
            assert_eq!(format!("{:?}", self.ni), before, "a violation left a trace");
            assert_eq!(self.host.actions, actions, "a violation was acted upon");
            self.over = true;
        }
        self.early.retain(|header| header.tree.group() != Some(id));
        assert!(self.over || self.ni.observe().early() == self.early.len());
    }

    fn play(&mut self, script: &mut Unstructured<'_>) -> Result<()> {
        for _ in 0..EVENTS {
            if script.is_empty() {
                break;
            }
            self.event(script)?;
            self.check();
            if self.over {
                break;
            }
        }
        self.come_to_rest();
        Ok(())
    }

    fn event(&mut self, script: &mut Unstructured<'_>) -> Result<()> {
        match script.int_in_range(0..=31)? {
            0..=9 => {
                let (header, body) = self.likely_packet(script)?;
                self.receives(header, body);
            }
            10..=12 => {
                let (header, body) = self.unlikely_packet(script)?;
                self.receives(header, body);
            }
            13 => {
                if !self.recent.is_empty() {
                    let (header, body) = self.recent[script.choose_index(self.recent.len())?];
                    self.receives(header, body);
                }
            }
            14 | 15 => self.unicast(script)?,
            16 | 17 => self.multicast(script)?,
            18 => self.atomic(script)?,
            19..=23 => self.process(),
            24..=26 => self.release(script)?,
            27 => self.copy(script)?,
            28 if script.arbitrary()? => self.copy_deferred(script)?,
            28 => self.host_receives(),
            29 => self.advance(script.arbitrary::<u16>()?.into()),
            31 if self.next.is_some() => self.create_group(),
            _ => self.advance_to_deadline(),
        }
        Ok(())
    }

    fn is_careful(&self) -> bool {
        !self.settings.preset.retransmits()
    }

    /// True if the NI checks the numbers of packets, and not the host.
    fn ni_checks_numbers(&self) -> bool {
        let preset = self.settings.preset;
        preset.reliability() == Reliability::Ni
            || preset.reliability() == Reliability::Host && preset.forwarding() == Forwarding::Ni
    }

    /// A packet arrives. A refused one changes nothing, and its buffer is the link's again.
    fn receives(&mut self, header: Header, body: PacketBody<u64>) {
        if self.host.deferred.len() == DEFERRED {
            self.host_receives();
        }
        if self.over || self.is_full() && matches!(body, PacketBody::Buffer(_)) {
            return;
        }
        match self.settings.preset.reliability() {
            // The host runs the timers, when it gets to them.
            Reliability::Host => self.ni.tell_time(self.now),
            _ => self.tell_time(),
        }
        let body = match body {
            PacketBody::Buffer(_) => PacketBody::Buffer(self.host.lend(BufferKind::Receive)),
            other => other,
        };
        self.recent.truncate(RECENT - 1);
        self.recent.push_front((header, body));
        let (before, actions, ledger) =
            (self.ni.clone(), self.host.actions, self.host.ledger.clone());
        let correct = self.is_correct(&header, &body);
        match self.settings.preset.reliability() {
            Reliability::Careful => self.host.ledger.arrives(&header),
            Reliability::Ni => self.host.ledger.acknowledges(&header),
            Reliability::Host => {}
        }
        match self.ni.received(&header, body, &mut self.host) {
            Ok(()) => {
                assert!(correct, "{header:?} with {body:?} was accepted");
                let early = self.note_early(&header);
                if self.ni_checks_numbers() {
                    let seen = self.settings.preset.reliability() == Reliability::Ni;
                    self.note_number(&header, &before.counters(), seen, early);
                }
            }
            Err(violation) => {
                let (now, before) = (format!("{:?}", self.ni), format!("{before:?}"));
                assert_eq!(now, before, "{violation} left a trace");
                assert_eq!(self.host.actions, actions, "{violation} was acted upon");
                self.host.ledger = ledger;
                self.host.take_back(&body);
            }
        }
    }

    /// Notes a packet that is to wait for its group, and says whether it is.
    fn note_early(&mut self, header: &Header) -> bool {
        let early = self.ni.observe().early() > self.early.len();
        self.early.extend(early.then_some(*header));
        assert_eq!(self.ni.observe().early(), self.early.len());
        early
    }

    /// Notes the number of a packet that was not refused, unless it was dropped.
    fn note_number(&mut self, header: &Header, before: &Counters, seen: bool, early: bool) {
        let dropped = |counters: &Counters| (counters.out_of_sequence, counters.no_buffer);
        if is_numbered(header.tag) && dropped(&self.ni.counters()) == dropped(before) {
            self.host.ledger.accepted(header);
            match (seen, early) {
                (true, _) => self.host.ledger.seen(header),
                (false, true) => self.host.ledger.received_early(header),
                (false, false) => {}
            }
        }
    }

    /// True if a correct peer could send this, credits apart. Retransmitting presets drop packets
    /// for other reasons first, so they are not asked.
    fn is_correct(&self, header: &Header, body: &PacketBody<u64>) -> bool {
        let Header { source, tree, .. } = *header;
        let ranks = self.settings.ranks;
        let from_parent = || match self.ni.group(tree.group()?) {
            Some(group) => group.parent(tree.root, self.host.local),
            // Nobody knows yet.
            None => (tree.root != self.host.local && tree.root.0 < ranks).then_some(source),
        };
        match (header.tag, body) {
            _ if self.settings.preset.retransmits() => true,
            (Tag::Ucast, PacketBody::Buffer(_)) => tree.is_unicast_of(source),
            (Tag::Mcast, PacketBody::Buffer(_)) => from_parent() == Some(source),
            (Tag::FaRequest, PacketBody::Atomic { operation, .. }) => {
                operation.size() == header.size && tree == TreeId::unicast(source)
            }
            (Tag::FaReply, PacketBody::Fetched(_)) => self.host.fetching == Some(source),
            (tag, body) => !tag.is_data() && *body == PacketBody::Empty,
        }
    }

    /// The host gets to the oldest packet that was left to it.
    fn host_receives(&mut self) {
        let Some(deferred) = self.host.deferred.pop_front() else { return };
        self.tell_time();
        let (header, body) = (deferred.header, deferred.body);
        let (before, actions, ledger) =
            (self.ni.counters(), self.host.actions, self.host.ledger.clone());
        self.host.ledger.acknowledges(&header);
        match self.ni.host_received(deferred, &mut self.host) {
            Ok(()) if !self.ni_checks_numbers() => {
                let early = self.note_early(&header);
                self.note_number(&header, &before, true, early);
            }
            Ok(()) if is_numbered(header.tag) => self.host.ledger.reached_host(&header),
            Ok(()) => {}
            Err(violation) => {
                assert_eq!(self.ni.counters(), before, "{violation} was counted");
                assert_eq!(self.host.actions, actions, "{violation} was acted upon");
                self.host.ledger = ledger;
                self.host.take_back(&body);
                self.over |= self.ni_checks_numbers() && is_numbered(header.tag);
            }
        }
    }

    fn unicast(&mut self, script: &mut Unstructured<'_>) -> Result<()> {
        let to = Rank(script.int_in_range(0..=self.settings.ranks - 1)?);
        if let Some(buffer) = self.host.send_buffer() {
            self.tell_time();
            self.ni.unicast(TreeId::unicast(self.ni.local()), to, buffer, SIZE, &mut self.host);
        }
        Ok(())
    }

    fn multicast(&mut self, script: &mut Unstructured<'_>) -> Result<()> {
        let group = *script.choose(&self.groups)?;
        if let Some(buffer) = self.host.send_buffer() {
            self.tell_time();
            self.ni.multicast(Protocol::PACKETS, group, buffer, SIZE, &mut self.host);
        }
        Ok(())
    }

    fn atomic(&mut self, script: &mut Unstructured<'_>) -> Result<()> {
        let home = Rank(script.int_in_range(0..=self.settings.ranks - 1)?);
        let request = Atomic::parse(any_words(script)?);
        if let (Ok((variable, operation)), false) = (request, self.ni.observe().is_fetching()) {
            self.tell_time();
            self.host.fetching = Some(home);
            self.ni.atomic(home, variable, operation, &mut self.host);
        }
        Ok(())
    }

    /// The host re-injects the packet delivered first, if it must, and looks at it.
    fn process(&mut self) {
        let Some(mut delivery) = self.host.delivered.pop_front() else { return };
        if delivery.wants_reinjection() {
            self.tell_time();
            self.ni.reinject(&mut delivery, &mut self.host);
            assert!(!delivery.wants_reinjection());
        }
        self.host.kept.push(delivery);
    }

    fn release(&mut self, script: &mut Unstructured<'_>) -> Result<()> {
        if !self.host.kept.is_empty() {
            let index = script.choose_index(self.host.kept.len())?;
            self.release_kept(index);
        }
        Ok(())
    }

    fn release_kept(&mut self, index: usize) {
        let delivery = self.host.kept.swap_remove(index);
        self.tell_time();
        self.host.stops_reading(delivery.buffer);
        self.ni.released(delivery, &mut self.host);
    }

    /// The host copies the packet delivered first out of the NI's memory, or one that it keeps.
    fn copy(&mut self, script: &mut Unstructured<'_>) -> Result<()> {
        let fresh = script.arbitrary::<bool>()?;
        let delivery = match fresh {
            true => self.host.delivered.pop_front(),
            false => self.host.kept.pop(),
        };
        let Some(delivery) = delivery else { return Ok(()) };
        let Some(copy) = self.host.copy_buffer() else {
            match fresh {
                true => self.host.delivered.push_front(delivery),
                false => self.host.kept.push(delivery),
            }
            return Ok(());
        };
        self.tell_time();
        self.host.stops_reading(delivery.buffer);
        self.host.starts_reading(copy);
        let delivery = self.ni.copied(delivery, copy, &mut self.host);
        assert_eq!(delivery.buffer, copy);
        match fresh {
            true => self.host.delivered.push_front(delivery),
            false => self.host.kept.push(delivery),
        }
        Ok(())
    }

    /// The host copies one of the packets that were left to it, before it gets to it.
    fn copy_deferred(&mut self, script: &mut Unstructured<'_>) -> Result<()> {
        if self.host.deferred.is_empty() {
            return Ok(());
        }
        let index = script.choose_index(self.host.deferred.len())?;
        let PacketBody::Buffer(buffer) = self.host.deferred[index].body else { return Ok(()) };
        if Host::is_copy(buffer) {
            return Ok(());
        }
        let Some(copy) = self.host.copy_buffer() else { return Ok(()) };
        self.tell_time();
        let Some(deferred) = self.host.deferred.remove(index) else { return Ok(()) };
        let deferred = self.ni.copied_deferred(deferred, copy, &mut self.host);
        assert_eq!(deferred.body, PacketBody::Buffer(copy));
        self.host.deferred.insert(index, deferred);
        Ok(())
    }

    fn advance(&mut self, by: u64) {
        self.now += by;
        self.ni.advance(self.now, &mut self.host);
        if let Some((deadline, why)) = self.ni.next_deadline() {
            assert!(deadline > self.now, "{why:?} is due at {deadline}, which is past");
        }
    }

    fn advance_to_deadline(&mut self) {
        let (deadline, _) = self.ni.next_deadline().unwrap_or((self.now, Timer::Suspect));
        self.advance(deadline.saturating_sub(self.now));
    }

    fn tell_time(&mut self) {
        if self.ni.keeps_time() {
            self.ni.advance(self.now, &mut self.host);
        }
    }

    fn check(&mut self) {
        let window = self.window();
        for peer in self.host.ledger.peers() {
            let (held, blocked) = self.ni.observe().outgoing(peer);
            assert!(held <= window, "{held} credits of {window} for {peer:?}");
            i9_bounded("a blocked-sends queue", blocked, self.blocked_at_most());
            if self.is_careful() {
                self.check_credits(peer);
            }
        }
        if self.is_careful() {
            let promised = self.host.ledger.peers().map(|peer| self.ni.observe().promised(peer));
            i2_promised(promised.map(u64::from).sum(), self.settings.promised_buffers());
        }
        self.host.ledger.check();
        self.ni.observe().check_all_invariants().unwrap_or_else(|broken| panic!("{broken}"));
        let channels = self.host.ledger.channels.owners(self.host.local);
        assert!(self.ni.observe().channels().eq(channels), "I7 recovery: {:?}", self.ni);
        i9_bounded(
            "receive buffers",
            self.host.in_use(BufferKind::Receive),
            self.buffers_at_most(),
        );
        i9_bounded("actions of one event", std::mem::take(&mut self.host.actions), 1000);
    }

    /// Credits for a peer, or packets that may be unacknowledged by it.
    fn window(&self) -> u16 {
        match self.is_careful() {
            true => self.settings.window_packets,
            false => self.settings.unacknowledged(),
        }
    }

    /// Receive buffers that peers can fill.
    fn buffers_at_most(&self) -> usize {
        let Settings { ranks, recovery, .. } = self.settings;
        let others = usize::from(ranks) - 1;
        match (self.is_careful(), recovery) {
            (false, _) => self.settings.receive_buffers + others * self.settings.primary_buffers(),
            (true, Recovery::Off) => self.settings.promised_buffers(),
            (true, _) => self.settings.promised_buffers() + others,
        }
    }

    /// True if the link waits for a frame before it receives. Only under ACK-receive can that be:
    /// credits go back before packets are forwarded, so that nothing but frames bounds how many
    /// are.
    fn is_full(&self) -> bool {
        let early = self.settings.preset.acknowledging() == Acknowledging::Receive;
        let full = self.host.in_use(BufferKind::Receive) >= self.buffers_at_most();
        self.is_careful() && early && full
    }

    /// Most packets that may wait for one peer: all that the host sends, what is to be forwarded, a
    /// request and the answer to one.
    fn blocked_at_most(&self) -> usize {
        SEND_BUFFERS + 2 + COPIES + self.buffers_at_most()
    }

    /// I1, from one end: what is not here is in flight, or at the peer.
    fn check_credits(&self, peer: Rank) {
        let first = i64::from(self.settings.first_credits());
        let credits = &self.host.ledger.pair(peer).credits;
        let (held, _) = self.ni.observe().outgoing(peer);
        assert_eq!(i64::from(held), first - credits.spent(), "I1 credit conservation: {peer:?}");
        let (buffered, owed) = self.ni.observe().incoming(peer);
        let theirs = first - credits.filled();
        let promised = i64::from(self.ni.observe().promised(peer));
        let here = i64::from(buffered + owed);
        assert_eq!(here + theirs, promised, "I1 credit conservation: those of {peer:?}");
        assert!(promised >= first, "{peer:?} has less than its floor");
    }
}

/// Windows that follow demand, under some of the careful presets: as `dice` say.
fn adaptive(settings: &Settings, dice: u8) -> Option<Adaptive> {
    let window = settings.window_packets;
    let chosen = !settings.preset.retransmits() && dice >> 6 & 1 == 1;
    let floor_packets = 1 + u16::from(dice) % window;
    let pool_packets = u32::from(dice >> 2) % (2 * u32::from(window) + 1);
    chosen.then_some(Adaptive { floor_packets, pool_packets })
}
