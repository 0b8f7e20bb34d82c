//! The testbed: PCs on Fast Ethernet whose kernels run the preset `pupa`, and the library above
//! them.

use crate::cluster::{Ran, linger};
use crate::conditions::{PupaConditions, conditions, machine};
use anyhow::{Context, Result, anyhow};
use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;
use weft_endpoint::Packets;
use weft_protocol::{Pupa, SendBuffers};
use weft_simulator::{
    Faults, Happened, MachineModel, Options, Preset, Settings, Shape, Simulation,
};

/// The machine's name.
pub const MACHINE: &str = "fast-ethernet";
/// User bytes of a packet (3.2).
pub const PACKET_BYTES: usize = 1436;
/// Bytes of a message's header (2.1.3).
pub const HEADER_BYTES: usize = 28;
/// Message bodies up to this are in the primary buffer, with the header (2.1.3).
pub const PRIMARY_BYTES: usize = 32;
/// Larger ones up to this are copied to secondary receive buffers, those above stay in their mbuf.
pub const SECONDARY_BYTES: usize = 128;

/// Bytes of a secondary send buffer (2.1.2).
const SEND_BUFFER_BYTES: u16 = 512;
/// The default secondary send pool: 128 of them.
pub const SEND_POOL_BYTES: usize = 64 << 10;

/// An operation of the machine is a cycle of 90 MHz.
const CYCLES_PER_US: f64 = 90.0;
/// Time by which gettimeofday takes longer than microtime (3.1).
pub(super) const CALL_US: f64 = 4.0;
/// Buffer management at 64 bytes without that at 4 (table 2: calibrated).
const SECONDARY_US: f64 = 102.0 - 75.0;
/// Buffer management at 256 bytes without that at 4.
const MBUF_US: f64 = 94.0 - 75.0;

/// A part of the one-way delay, as table 2 divides it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part {
    /// Numbers, acknowledgements, timers.
    Protocol,
    /// System calls, interrupts, the driver.
    System,
    /// The wire and the card.
    Transmission,
    /// Copies of user bytes.
    Copy,
    /// Buffers and headers.
    Buffers,
}

impl Part {
    /// All, in the order of table 2.
    pub const ALL: [Part; 5] =
        [Part::Protocol, Part::System, Part::Transmission, Part::Copy, Part::Buffers];
}

/// Costs of the library for messages that primary buffers do not hold, in microseconds.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Library {
    /// Getting secondary send buffers: half of what mbufs cost more than primary buffers, for want
    /// of a figure that tells the ends apart.
    send_us: f64,
    /// A secondary receive buffer.
    receive_us: f64,
    /// A body that is left in its mbuf.
    mbuf_us: f64,
    /// The system call that gets it from there.
    call_us: f64,
}

impl Library {
    const PUPA: Library = Library {
        send_us: MBUF_US / 2.0,
        receive_us: SECONDARY_US - MBUF_US / 2.0,
        mbuf_us: MBUF_US / 2.0,
        call_us: CALL_US,
    };

    /// Declares its work at the sender of `bytes`, besides what every message costs.
    pub fn send(&self, packets: &Packets, bytes: usize) {
        if bytes > PRIMARY_BYTES {
            take(packets, self.send_us);
        }
    }

    /// Declares its work at the receiver: whatever is not too large is copied out of the mbuf in
    /// the interrupt, and then everything to the user (2.1.3).
    pub fn receive(&self, packets: &Packets, bytes: usize) {
        if bytes > SECONDARY_BYTES {
            take(packets, self.mbuf_us + self.call_us);
        } else {
            take(packets, if bytes > PRIMARY_BYTES { self.receive_us } else { 0.0 });
            packets.copied(bytes);
        }
        packets.copied(bytes);
    }
}

/// Cost of one message more in a packet at the sender: buffers, header, the start of its copy, its
/// number. System call, driver and wire are the packet's.
pub const ANOTHER_SENT_US: f64 = 32.444 + 1.595 + 19.899;
/// Cost of one message more in a packet at the receiver.
pub const ANOTHER_RECEIVED_US: f64 = 44.590 + 26.101;
/// Costs of an acknowledgement to its sender, and to its receiver: the NI's part of a packet.
pub const ACKNOWLEDGEMENT_US: (f64, f64) = (38.826, 56.174);

/// The program, or its library, takes so long.
pub fn take(packets: &Packets, time_us: f64) {
    packets.work((time_us * CYCLES_PER_US).round() as u64);
}

/// Setup of an experiment.
#[derive(Clone, PartialEq, Debug)]
pub struct Testbed {
    /// PCs.
    pub ranks: u16,
    /// Costs of everything.
    pub machine: MachineModel,
    /// And the library.
    pub library: Library,
    /// Water marks, buffers.
    pub pupa: Pupa,
    /// The part of the frames that the network loses.
    pub loss: f64,
}

/// No experiment takes so long, in virtual time.
const LIMIT: Duration = Duration::from_secs(3600);

impl Testbed {
    /// `ranks` PCs, with the buffers that they have by default (2.1.1, 2.1.2). A primary buffer has
    /// room for 67 messages with as many bytes as go there. What the paper does not print is as in
    /// the preset: the water marks.
    ///
    /// # Errors
    /// The machine's description is none.
    pub fn new(ranks: u16) -> Result<Self> {
        let machine = machine(MACHINE)?;
        let PupaConditions { low_water_percent, .. } = conditions().pupa;
        let entries = (4064 / (HEADER_BYTES + PRIMARY_BYTES)) as u16;
        let defaults = Pupa::new(ranks, machine.pools.ni_send_buffers);
        let pupa = Pupa {
            primary_sends: entries,
            primary_buffers: entries,
            low_water_percent,
            ..defaults
        };
        let testbed = Testbed { ranks, machine, library: Library::PUPA, pupa, loss: 0.0 };
        Ok(testbed.with_send_pool(SEND_POOL_BYTES))
    }

    /// Sets the time of `part` to zero.
    #[must_use]
    pub fn without(mut self, part: Part) -> Self {
        let MachineModel { host, ni, link, bus, .. } = &mut self.machine;
        match part {
            Part::Protocol => {
                ni.send_ns -= 19_899;
                ni.receive_ns -= 26_101;
            }
            Part::System => {
                host.launch_ns -= 4_000;
                ni.send_ns -= 18_927;
                ni.receive_ns -= 30_073;
                self.library.call_us = 0.0;
            }
            Part::Transmission => {
                (link.latency_ns, link.ns_per_byte, bus.ns_per_byte) = (0, 0.0, 0.0);
            }
            Part::Copy => {
                host.launch_ns -= 1_595;
                host.process_ns -= 2_134;
                (host.launch_ns_per_byte, host.copy_ns_per_byte) = (0.0, 0.0);
            }
            Part::Buffers => {
                host.allocate_ns = 0;
                host.process_ns -= 42_456;
                self.library =
                    Library { send_us: 0.0, receive_us: 0.0, mbuf_us: 0.0, ..self.library };
            }
        }
        self
    }

    /// Adds secondary send pools of `bytes` bytes (2.1.2, 2.1.3).
    #[must_use]
    pub fn with_send_pool(mut self, bytes: usize) -> Self {
        let buffers = SendBuffers { primary_bytes: PRIMARY_BYTES as u16, bytes: SEND_BUFFER_BYTES };
        self.pupa.secondary_sends = bytes / usize::from(SEND_BUFFER_BYTES);
        self.pupa.send_buffers = Some(buffers);
        self
    }

    /// Runs `program` on every PC, as [`crate::Setup::run`] does. With what each returned come the
    /// last `events` events of each.
    ///
    /// # Errors
    /// The job cannot be, or what a rank returned.
    pub fn run<T: 'static>(
        &self,
        events: usize,
        program: impl Fn(&Packets) -> Result<T> + 'static,
    ) -> Result<(Ran<T>, Vec<Vec<Happened>>)> {
        let options = Options::with_preset(self.machine.clone(), self.ranks, Preset::Pupa);
        let timers = self.machine.timers;
        let settings = Settings {
            shape: Shape::Flat,
            pupa: self.pupa,
            retransmit_at_least: Some(timers.retransmit_after_ns),
            ..options.settings
        };
        let faults = Faults { loss: self.loss, ..Faults::default() };
        let (interrupt_delay, keep_events) = (None, events);
        let options =
            Options { settings, faults, interrupt_delay, keep_events, limit: LIMIT, ..options };
        let busy = Rc::new(Cell::new(self.ranks));
        let report = Simulation::new(options).context(MACHINE)?.run_packets(move |packets| {
            let value = program(&packets).map_err(|error| format!("{error:#}"))?;
            linger(&packets, &busy).map_err(|error| error.to_string())?;
            Ok::<T, String>(value)
        });
        let (statistics, events) = (report.statistics.clone(), report.last_events.clone());
        let values = report.into_values().map_err(|what| anyhow!(what)).context(MACHINE)?;
        Ok((Ran { values, statistics }, events))
    }
}
