//! One rank's attachment to the simulated network.

use crate::coroutine;
use crate::frames::{Carried, Frame, Owner};
use crate::host::Processor;
use crate::machine::per_byte;
use crate::medium::Carriage;
use crate::state::{Event, Shared, State};
use crate::trace::FrameEvent;
use std::cell::RefMut;
use std::ptr::NonNull;
use std::sync::Arc;
use weft_link::bell::{Bells, Ticket, Waiter};
use weft_link::clock::{Nanoseconds, Work};
use weft_link::ni::{ControlProgram, NiEvent, SeparateNi};
use weft_link::{
    Buffer, Capabilities, Link, LinkViolation, NoNetwork, NoShort, Paths, Payload, Received,
    Services, SharedFrames, no_program_memory,
};
use weft_trace::Recorder;
use weft_wire::{Header, Rank, Tag};

/// One rank's attachment to a simulated [`crate::SimulatedNetwork`].
///
/// Its NI is apart: frames arrive there as events. Without an NI
/// ([`crate::SimulatedNetwork::attach`]) and outside of any program, looking for frames lets
/// virtual time pass until one is there, so that a link can be used by itself.
pub struct Sim {
    host: Processor,
    capabilities: Capabilities,
    recorder: Option<Arc<dyn Recorder>>,
}

impl Sim {
    pub(crate) fn new(host: Processor) -> Self {
        let state = host.shared.borrow();
        let pools = state.machine.pools;
        let reliable = state.injector.is_reliable();
        drop(state);
        let capabilities = Capabilities {
            max_payload: usize::from(pools.packet_bytes),
            multicast_payload: usize::from(pools.packet_bytes),
            inline_payload: 0,
            lossless: reliable,
            ordered: reliable,
            multicast: false,
            frames: pools.ni_send_buffers,
            receive_frames: 0,
            host_frames: pools.host_receive_buffers,
            threads: false,
        };
        Sim { host, capabilities, recorder: None }
    }

    /// Has what happens at this rank written down. Before the link is anybody's.
    pub fn set_recorder(&mut self, recorder: Arc<dyn Recorder>) {
        self.recorder = Some(recorder);
    }

    fn rank(&self) -> Rank {
        self.host.rank
    }

    fn state(&self) -> RefMut<'_, State> {
        self.host.shared.borrow()
    }

    /// Without an NI and a scheduler, lets time pass until `enough`.
    fn pump(&self, enough: impl Fn(&mut State) -> bool) {
        if coroutine::is_inside() {
            return;
        }
        let mut state = self.state();
        while !state.rank(self.host.rank).has_ni && !enough(&mut state) && state.pass_time() {}
    }
}

impl State {
    /// Handles the next event of a network without NIs. Says whether there was one.
    fn pass_time(&mut self) -> bool {
        match self.next() {
            crate::state::Next::Event(event) => {
                self.handle_wire(event);
                true
            }
            _ => false,
        }
    }

    /// Handles an event of the wire; others are given back.
    pub(crate) fn handle_wire(&mut self, event: Event) -> Option<Event> {
        match event {
            Event::Arrive(to, frame) => self.arrive(to, frame),
            Event::Arrived(to, frame) => self.accept(to, *frame),
            Event::FrameBack(rank, buffer) => self.frame_back(rank, buffer),
            Event::Deadline(rank) => self.deadline(rank),
            Event::Post(rank, event) => self.post(rank, event),
            other => return Some(other),
        }
        None
    }

    fn frame_back(&mut self, rank: Rank, buffer: Buffer) {
        let parts = self.rank(rank);
        let (bytes, _) = parts.slots.remove(buffer);
        if std::mem::take(&mut parts.starved) {
            let now = self.now;
            self.ring(rank, now);
        }
        self.spare.give(bytes);
    }

    /// Occupies the NI and the link of `from`, and puts the frame on its way.
    fn transmit(&mut self, from: Rank, to: Rank, header: &Header, payload: Payload) {
        let ni = self.machine.ni;
        let wire = self.machine.link;
        let now = self.time_of(from);
        let at_ni = self.at_ni == Some(from);
        let parts = self.rank(from);
        let frame = Frame { header: *header, carried: parts.slots.carried(payload) };
        let multicast = match payload {
            Payload::Buffer(buffer) if header.tag == Tag::Mcast => Some(buffer),
            _ => None,
        };
        // A medium may carry it to all its receivers at once; the NI has done it for the first.
        let is_under_way =
            self.machine.medium.is_some_and(|m| self.token.carries(m, from, now, multicast));
        let at_ni = at_ni && !is_under_way;
        let parts = self.rank(from);
        // Packets that the NI sends were queued while it received; it gets to the queue when it has
        // done with that (thesis 3.8, 4.2.5).
        let ready = now + if at_ni { std::mem::take(&mut parts.after) + ni.send_ns } else { 0 };
        let free = parts.out_free;
        let bytes = usize::from(wire.header_bytes) + frame.user_bytes();
        let length = per_byte(wire.ns_per_byte, bytes);
        let Carriage { start, end, way, again } = match self.machine.medium {
            Some(medium) => {
                let stations = self.ranks.len();
                self.token.carry(medium, stations, (from, to), (ready, length), multicast)
            }
            None => {
                let start = ready.max(free);
                Carriage { start, end: start + length, way: 0, again: false }
            }
        };
        let parts = self.rank(from);
        parts.out_free = end;
        if ni.one_port {
            parts.in_free = end;
        }
        if at_ni {
            parts.cursor = if ni.one_port { end } else { ready };
            let after = if is_light(header.tag) { 0 } else { ni.send_after_ns };
            if ni.queues_transmissions {
                parts.cursor += std::mem::replace(&mut parts.owed, after);
            } else {
                parts.after = after;
            }
        }
        if let Payload::Buffer(buffer) = payload {
            parts.slots.occupy(buffer, end);
        }
        let noted = Some((to, header, frame.head()));
        self.trace.note_frame(start, from, FrameEvent::Transmitted, noted);
        self.launch((from, to), frame, (start, end + way + wire.latency_ns), again);
    }

    /// A frame is at the end of the wire to `to`, whose link takes one at a time.
    fn arrive(&mut self, to: Rank, frame: Box<Frame>) {
        let (wire, one_port) = (self.machine.link, self.machine.ni.one_port);
        let bytes = usize::from(wire.header_bytes) + frame.user_bytes();
        let length = per_byte(wire.ns_per_byte, bytes);
        let now = self.now;
        let parts = self.rank(to);
        let end = now.max(parts.in_free + length);
        parts.in_free = end;
        if one_port {
            parts.out_free = end;
            // What the NI is doing waits meanwhile.
            parts.ni_free += if parts.ni_free + length > end { length } else { 0 };
        }
        match end > now {
            true => self.schedule(end, Event::Arrived(to, frame)),
            false => self.accept(to, *frame),
        }
    }

    fn copy_to_host(&mut self, rank: Rank, payload: Payload, size: u16) -> Option<Payload> {
        let (bus, limit) = (self.machine.bus, self.machine.pools.host_receive_buffers);
        let now = self.time_of(rank);
        let parts = self.rank(rank);
        let at_host = match payload {
            Payload::Buffer(_) if parts.slots.count(Owner::Host) >= limit => return None,
            Payload::Buffer(buffer) => {
                let (bytes, header) = (parts.slots.bytes(buffer), parts.slots.header(buffer));
                parts.copying.push_back(header);
                Payload::Buffer(parts.slots.insert(bytes, Owner::Host, header))
            }
            words => {
                parts.copying.push_back(None);
                words
            }
        };
        let start = now.max(parts.bus_free);
        let end = start + bus.setup_ns + per_byte(bus.ns_per_byte, size.into());
        parts.bus_free = end;
        parts.bus_brought += end - start;
        self.schedule(end, Event::Copied(rank));
        Some(at_host)
    }
}

/// True if a frame holds nothing but the NIs' own accounts.
fn is_light(tag: Tag) -> bool {
    !tag.is_data() && tag != Tag::FaReply
}

impl Link for Sim {
    type Clock = Processor;
    type Short = NoShort;
    type Network = NoNetwork;
    type SeparateNi = Lanai;

    const SHORT: Option<NoShort> = None;
    const NETWORK: Option<NoNetwork> = None;
    const NI: Option<Lanai> = Some(Lanai(()));

    fn clock(&self) -> Processor {
        self.host.clone()
    }

    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn alloc(&mut self, _: Option<Rank>) -> Option<Buffer> {
        let frames = self.capabilities.frames;
        self.pump(|state| state.rank(self.rank()).slots.count(Owner::Send) < frames);
        let mut state = self.state();
        let state = &mut *state;
        let parts = &mut state.ranks[self.rank().index()];
        if parts.slots.count(Owner::Send) >= frames {
            parts.starved = true;
            return None;
        }
        let bytes = state.spare.take(self.capabilities.max_payload);
        Some(parts.slots.insert(bytes, Owner::Send, None))
    }

    fn bytes(&self, buffer: Buffer) -> NonNull<u8> {
        self.state().rank(self.rank()).slots.start(buffer)
    }

    fn transmit(&mut self, to: Rank, header: &Header, payload: Payload) {
        self.state().transmit(self.rank(), to, header, payload);
    }

    fn flush(&mut self) {}

    fn receive(&mut self) -> Result<Option<Received>, LinkViolation> {
        let rank = self.rank();
        self.pump(|state| !state.rank(rank).arrived.is_empty());
        let mut state = self.state();
        let (ni, at_ni) = (state.machine.ni, state.at_ni == Some(rank));
        let parts = state.rank(rank);
        let Some(frame) = parts.arrived.pop_front() else { return Ok(None) };
        parts.arrived_frames -= usize::from(frame.fills_a_buffer());
        let head = frame.head();
        let Frame { header, carried } = frame;
        if at_ni {
            parts.cursor += ni.receive_ns;
            parts.after += if is_light(header.tag) { 0 } else { ni.receive_after_ns };
        }
        let payload = match carried {
            Carried::Empty => Payload::Empty,
            Carried::Words(words) => Payload::Words(words),
            Carried::Bytes(bytes) => {
                Payload::Buffer(parts.slots.insert(bytes, Owner::Ni, Some(header)))
            }
        };
        let time = state.time_of(rank);
        let noted = Some((header.source, &header, head));
        state.trace.note_frame(time, rank, FrameEvent::Received, noted);
        Ok(Some(Received { header, payload }))
    }

    fn has_arrivals(&mut self) -> bool {
        let rank = self.rank();
        self.pump(|state| !state.rank(rank).arrived.is_empty());
        !self.state().rank(rank).arrived.is_empty()
    }

    fn copy_out(&self, _: Buffer, _: &mut [u8]) {
        unreachable!("an NI apart copies packets to its host by itself");
    }

    fn free(&mut self, buffer: Buffer) {
        let rank = self.rank();
        let mut state = self.state();
        let now = state.time_of(rank);
        let parts = state.rank(rank);
        let busy_until = parts.slots.busy_until(buffer);
        let (bytes, owner) = match busy_until > now {
            true => {
                state.schedule(busy_until, Event::FrameBack(rank, buffer));
                return;
            }
            false => parts.slots.remove(buffer),
        };
        if owner == Owner::Send && std::mem::take(&mut parts.starved) {
            state.ring(rank, now);
        }
        state.spare.give(bytes);
    }

    fn bells(&self) -> Arc<dyn Bells> {
        Arc::new(self.host.clone())
    }

    fn arm(&mut self, waiter: Waiter) -> Option<Ticket> {
        let mut state = self.state();
        let parts = state.rank(self.rank());
        if !parts.has_ni && !parts.arrived.is_empty() {
            return None;
        }
        parts.armed = waiter == Waiter::Host;
        Some(Ticket(parts.rings))
    }

    fn disarm(&mut self, _: Waiter) {
        self.state().rank(self.rank()).armed = false;
    }

    fn services(&self) -> Services {
        Services {
            threads: Arc::new(self.host.clone()),
            recorder: self.recorder.clone(),
            ..Services::default()
        }
    }

    fn shared_frames(&mut self) -> Option<&mut dyn SharedFrames> {
        Some(self)
    }

    no_program_memory!();

    fn paths(&mut self) -> Option<&mut dyn Paths> {
        None
    }
}

impl SharedFrames for Sim {
    /// NIs that forward copy.
    fn share(&mut self, _: Buffer, _: u16, _: &[Rank]) {}

    fn detach(&mut self, buffer: Buffer, _: u16) -> Buffer {
        self.state().rank(self.rank()).slots.keep(buffer);
        buffer
    }

    /// Each reader has a copy.
    fn forget_reader(&mut self, _: Rank) {}
}

/// Simulated NI, after the processor of the thesis's.
#[derive(Clone, Copy, Debug)]
pub struct Lanai(());

impl SeparateNi<Sim> for Lanai {
    fn control_program(self, link: &Sim) -> ControlProgram {
        ControlProgram { loops_back: link.state().machine.ni.loops_back }
    }

    fn notify(self, link: &mut Sim, work: Option<Work>) {
        let (host, rank) = (&link.host, link.rank());
        let mut state = link.state();
        if let Some(work) = work {
            let cost = host.cost(&state, work);
            state.rank(rank).local = state.time_of(rank) + cost;
        }
        let time = state.time_of(rank);
        state.schedule(time, Event::Post(rank, NiEvent::Request));
    }

    fn copy_to_host(self, link: &mut Sim, payload: Payload, size: u16) -> Option<Payload> {
        link.state().copy_to_host(link.rank(), payload, size)
    }

    fn wake_at(self, link: &mut Sim, deadline: Option<Nanoseconds>) {
        link.state().set_deadline(link.rank(), deadline);
    }

    fn interrupt(self, link: &mut Sim) {
        link.state().interrupt(link.rank());
    }
}

pub(crate) fn processor(shared: &Arc<Shared>, rank: Rank, measured: bool) -> Processor {
    Processor { shared: Arc::clone(shared), rank, interrupt: Arc::default(), measured }
}
