//! Testbed of the experiments: the thesis's cluster, simulated.

use crate::conditions::{conditions, machine};
use anyhow::{Context, Result, anyhow};
use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;
use weft::Weft;
use weft_endpoint::{Packets, Statistics};
use weft_protocol::Recovery;
use weft_simulator::{Options, Preset, Report, RunEnd, Settings, Shape, Simulation};

/// A stretch of time, or a point in it, in nanoseconds.
pub type Nanoseconds = u64;

/// Calibration of the machine: the thesis measured the default LFC and, in other versions, the
/// three reliability schemes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Calibration {
    /// Table 5.1.
    Chapter5,
    /// Table 8.4: a row for each reliability scheme.
    Chapter8,
}

impl Calibration {
    /// Both.
    pub const ALL: [Self; 2] = [Calibration::Chapter5, Calibration::Chapter8];

    /// The name of the machine that has it.
    pub fn machine(self) -> &'static str {
        match self {
            Calibration::Chapter5 => "myrinet",
            Calibration::Chapter8 => "myrinet-compared",
        }
    }
}

/// Setup of a job.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Setup {
    /// Calibration of the machine.
    pub calibration: Calibration,
    /// Ranks.
    pub ranks: u16,
    /// The protocols.
    pub preset: Preset,
    /// The shape of multicast trees.
    pub shape: Shape,
    /// Times at which a deadlock is suspected.
    pub recovery: Recovery,
    /// Credits, or unacknowledged packets, for each ordered pair.
    pub window_packets: u16,
    /// Bytes that a packet holds.
    pub packet_bytes: u16,
    /// Receive buffers of a retransmitting NI for all senders together; `None`: as many as the
    /// machine says.
    pub receive_buffers: Option<usize>,
    /// Delay after which packets that nobody polled for raise an interrupt; `None`: never.
    pub interrupt_delay: Option<Duration>,
    /// True if what receivers copy to stays in a cache.
    pub cached: bool,
}

/// Bytes that a packet holds (thesis 5.3.1, 8.5.1).
pub const PACKET_BYTES: usize = 1024;

/// Results and counters of every rank of a job, by rank.
#[derive(Clone, PartialEq, Debug)]
pub struct Ran<T> {
    /// Values that its program returned.
    pub values: Vec<T>,
    /// Counters of its node, to the end of the job.
    pub statistics: Vec<Statistics>,
}

/// No experiment takes so long, in virtual time.
const LIMIT: Duration = Duration::from_secs(1);
/// Operations between two looks of a rank that has nothing left to do.
const IDLE_OPERATIONS: u64 = 1000;

impl Setup {
    /// The default LFC of the thesis's chapter 5: careful, binary trees, no recovery, 512 receive
    /// buffers divided among the senders.
    pub fn lfc(ranks: u16) -> Self {
        Setup {
            calibration: Calibration::Chapter5,
            ranks,
            preset: Preset::NrxImc,
            shape: Shape::Binary,
            recovery: Recovery::Off,
            window_packets: 512 / ranks.max(1),
            packet_bytes: PACKET_BYTES as u16,
            receive_buffers: None,
            interrupt_delay: None,
            cached: true,
        }
    }

    /// One of the implementations that chapter 8 compares, with its window of 8 packets.
    pub fn version(preset: Preset, ranks: u16) -> Self {
        Setup { calibration: Calibration::Chapter8, preset, window_packets: 8, ..Setup::lfc(ranks) }
    }

    /// Adds the polling watchdog's delay of the thesis (5.1.3).
    pub fn with_interrupts(self) -> Self {
        Setup { interrupt_delay: Some(Duration::from_micros(70)), ..self }
    }

    /// Has receivers copy to more than a cache holds, 1 Mbyte or so.
    pub fn beyond_cache(self) -> Self {
        Setup { cached: false, ..self }
    }

    /// Runs `program` on every rank. A rank whose program has returned polls until all have.
    ///
    /// # Errors
    /// The job cannot be, or what a rank returned.
    pub fn run<T: 'static>(
        &self,
        program: impl Fn(&Packets) -> Result<T> + 'static,
    ) -> Result<Ran<T>> {
        self.taken_apart(self.packets_of(program)?)
    }

    /// End of a run of `program`, which may be never.
    ///
    /// # Errors
    /// The job cannot be.
    pub fn end<T: 'static>(
        &self,
        program: impl Fn(&Packets) -> Result<T> + 'static,
    ) -> Result<RunEnd> {
        Ok(self.packets_of(program)?.ended)
    }

    /// Runs a program that uses messages.
    ///
    /// # Errors
    /// Those of [`Self::run`].
    pub fn run_messages<T: 'static>(
        &self,
        program: impl Fn(&Weft) -> Result<T> + 'static,
    ) -> Result<Ran<T>> {
        let simulation = self.simulation()?;
        let report =
            simulation.run_joined(move |weft| program(&weft).map_err(|error| format!("{error:#}")));
        self.taken_apart(report)
    }

    fn packets_of<T: 'static>(
        &self,
        program: impl Fn(&Packets) -> Result<T> + 'static,
    ) -> Result<Report<T>> {
        let busy = Rc::new(Cell::new(self.ranks));
        Ok(self.simulation()?.run_packets(move |packets| {
            let value = program(&packets).map_err(|error| format!("{error:#}"))?;
            linger(&packets, &busy).map_err(|error| error.to_string())?;
            Ok::<T, String>(value)
        }))
    }

    fn simulation(&self) -> Result<Simulation> {
        let context = || format!("{self:?}");
        let mut machine = machine(self.calibration.machine()).with_context(context)?;
        if !self.cached {
            machine = machine.beyond_cache().context("the machine's file knows no cache")?;
        }
        let Setup { preset, shape, recovery, window_packets, interrupt_delay, .. } = *self;
        machine.pools.packet_bytes = self.packet_bytes;
        let options = Options::with_preset(machine, self.ranks, preset);
        let receive_buffers = self.receive_buffers.unwrap_or(options.settings.receive_buffers);
        let settings =
            Settings { shape, recovery, window_packets, receive_buffers, ..options.settings };
        let options = Options { settings, interrupt_delay, limit: LIMIT, ..options };
        Simulation::new(options).with_context(context)
    }

    fn taken_apart<T>(&self, report: Report<T>) -> Result<Ran<T>> {
        let statistics = report.statistics.clone();
        let values = report.into_values().map_err(|what| anyhow!(what));
        Ok(Ran { values: values.with_context(|| format!("{self:?}"))?, statistics })
    }
}

/// Serves the others until all are done: they may still wait for what this rank acknowledges or
/// forwards.
pub(crate) fn linger(packets: &Packets, busy: &Cell<u16>) -> weft_endpoint::Result<()> {
    packets.flush()?;
    busy.set(busy.get() - 1);
    while busy.get() > 0 {
        packets.poll()?;
        packets.work(IDLE_OPERATIONS);
    }
    // An upcall may hold what it belongs to.
    packets.on_packet(|_| ());
    Ok(())
}

/// Instructions that Weft takes for a message beside those for its packet, on its way out and where
/// it is received, from `bench/instructions.toml`, which a test compares: together
/// `message_handler` less `packet`, of which the way out is assumed.
pub(crate) const MESSAGE_INSTRUCTIONS: [u64; 2] = [100, 526];
/// Nanoseconds of an instruction of a Pentium Pro at 200 MHz (thesis 1.6.2). That it does one a
/// cycle, of three at most, is assumed.
pub(crate) const INSTRUCTION_NS: u64 = 5;
/// Instructions in an operation, which takes 20 ns.
const INSTRUCTIONS_PER_OPERATION: u64 = 20 / INSTRUCTION_NS;

/// This host executes what sending a message takes beside its packets, which the machine knows
/// nothing of.
pub fn work_to_send(packets: &Packets) {
    packets.work(conditions().message[0] / INSTRUCTIONS_PER_OPERATION);
}

/// Declares the work of receiving it.
pub fn work_to_receive(packets: &Packets) {
    packets.work(conditions().message[1] / INSTRUCTIONS_PER_OPERATION);
}

/// Instructions that Weft takes for operations on objects beside those for their messages, from
/// `bench/instructions.toml`, which a test compares: `object_call` less `call`; `object_write_in`
/// less `broadcast_in`; and `object_write_out` less `broadcast_out` and the writer's own copy.
pub(crate) const OBJECT_INSTRUCTIONS: ObjectInstructions =
    ObjectInstructions { call: 1010, copy: 491, write: 534 };

/// Instructions of operations on objects.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ObjectInstructions {
    /// An operation on a copy elsewhere, at both ranks together.
    pub call: u64,
    /// A write at each copy.
    pub copy: u64,
    /// A write at its writer, besides.
    pub write: u64,
}

/// Declares the work of an operation on a copy elsewhere, at both ranks.
pub fn work_to_operate(packets: &Packets) {
    packets.work(conditions().objects.call / INSTRUCTIONS_PER_OPERATION);
}

/// Declares the work of writing an object of which there are copies everywhere.
pub fn work_to_write(packets: &Packets) {
    packets.work(conditions().objects.write / INSTRUCTIONS_PER_OPERATION);
}

/// Declares the work of a copy that executes a write.
pub fn work_to_update(packets: &Packets) {
    packets.work(conditions().objects.copy / INSTRUCTIONS_PER_OPERATION);
}

/// Instructions that Weft takes for a miss of a region beside those of its two packets, at both
/// ranks together, from `bench/instructions.toml`, which a test compares: `region_miss_read` less
/// twice `packet`.
pub(crate) const REGION_INSTRUCTIONS: u64 = 3572;

/// Declares the work of a miss, at both ranks.
pub fn work_to_miss(packets: &Packets) {
    packets.work(conditions().region / INSTRUCTIONS_PER_OPERATION);
}

/// The time at this rank, in nanoseconds; one time for all ranks.
pub fn now(packets: &Packets) -> Nanoseconds {
    packets.now().as_nanos() as Nanoseconds
}
