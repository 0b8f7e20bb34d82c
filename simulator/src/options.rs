//! Options of a simulation.

use crate::tape::Tape;
use std::time::Duration;
use weft_endpoint::{Preset, Pupa, Settings};
use weft_link_sim::{FaultError, Faults, MachineError, MachineModel, Observer, Scheme};

/// Options of a simulation.
pub struct Options {
    /// The protocols; says how many ranks there are.
    pub settings: Settings,
    /// Costs of everything.
    pub machine: MachineModel,
    /// Faults of the network.
    pub faults: Faults,
    /// Fixes everything that is random.
    pub seed: u64,
    /// Charges computation as measured: the real time that a rank's program runs between its calls
    /// into Weft, times the machine's [`measured_times`](weft_link_sim::machine::Host), and nothing
    /// for the work that it declares. Such a run cannot be repeated.
    pub measured: bool,
    /// Ends the run at this virtual time.
    pub limit: Duration,
    /// Ends it if nobody gets on for so long.
    pub stuck_after: Duration,
    /// The polling watchdog's delay; without one there are no interrupts.
    pub interrupt_delay: Option<Duration>,
    /// Stack of each coroutine of a rank's program. Pages that are not touched cost nothing.
    pub stack_bytes: usize,
    /// Has the job go on after a crash, in trees in which nobody forwards.
    pub goes_on: bool,
    /// Leaves a program that has to stop where it is, rather than unwind it ([`Setup::abandons`]).
    ///
    /// [`Setup::abandons`]: weft_link_sim::Setup::abandons
    pub abandons: bool,
    /// Events of each rank that are kept for [`crate::Report::last_events`].
    pub keep_events: usize,
    /// Sees every event as it happens.
    pub observer: Option<Box<dyn Observer>>,
    /// Trace that is written down.
    pub tape: Option<Tape>,
}

/// Reason why a simulation cannot be.
#[derive(Debug, thiserror::Error)]
pub enum OptionsError {
    /// Ranks, windows or stacks that cannot be.
    #[error("{what} cannot be {value}: {why}")]
    Value {
        /// Name of the option.
        what: &'static str,
        /// Value that was asked for.
        value: u64,
        /// Reason why it cannot be.
        why: &'static str,
    },
    /// A careful preset on a network that loses packets.
    #[error(
        "the preset {0} is for networks that lose nothing: take a retransmitting one, such as \
         irx-imc, or leave the faults out"
    )]
    Careful(Preset),
    /// Faults that cannot be.
    #[error(transparent)]
    Faults(#[from] FaultError),
    /// A machine description that is none.
    #[error(transparent)]
    Machine(#[from] MachineError),
    /// No memory for stacks.
    #[error(
        "no memory for the stacks of {ranks} ranks: {error} (each is two of the mappings that \
         vm.max_map_count allows a process)"
    )]
    Memory {
        /// Ranks in the job.
        ranks: u16,
        /// Error of the system.
        error: std::io::Error,
    },
}

impl Options {
    /// `ranks` ranks of the thesis's cluster, the default preset, nothing wrong.
    ///
    /// # Errors
    /// [`OptionsError`].
    pub fn new(ranks: u16) -> Result<Self, OptionsError> {
        Ok(Self::on(MachineModel::myrinet()?, ranks))
    }

    /// `ranks` ranks of `machine` under the default preset, with windows and delays as it says.
    pub fn on(machine: MachineModel, ranks: u16) -> Self {
        Self::with_preset(machine, ranks, Preset::default())
    }

    /// Options under `preset`, with the buffers that it has.
    pub fn with_preset(machine: MachineModel, ranks: u16, preset: Preset) -> Self {
        let machine = machine.for_scheme(scheme(preset));
        let timers = machine.timers;
        let defaults = Settings::new(ranks, machine.window_packets(ranks));
        let settings = Settings {
            pupa: Pupa { secondary_sends: machine.pools.ni_send_buffers, ..defaults.pupa },
            // The thesis's schemes have the timers that they were measured with.
            retransmit_at_least: defaults.retransmit_at_least.filter(|_| preset.is_optimistic()),
            receive_buffers: machine.pools.ni_receive_buffers,
            retransmit_after: timers.retransmit_after_ns,
            acknowledge_after: timers.acknowledge_after_ns,
            preset,
            ..defaults
        };
        Options {
            settings,
            faults: Faults::default(),
            seed: 1,
            measured: false,
            limit: Duration::MAX,
            stuck_after: Duration::from_secs(10),
            interrupt_delay: Some(Duration::from_nanos(timers.interrupt_delay_ns)),
            stack_bytes: 256 << 10,
            goes_on: false,
            abandons: false,
            keep_events: 0,
            observer: None,
            tape: None,
            machine,
        }
    }

    pub(crate) fn check(&self) -> Result<(), OptionsError> {
        let Settings { ranks, window_packets, preset, .. } = self.settings;
        let value = |what, value, why| Err(OptionsError::Value { what, value, why });
        if ranks == 0 || ranks == u16::MAX {
            return value("ranks", ranks.into(), "a job has 1 to 65,534");
        }
        if window_packets == 0 {
            return value("the window", 0, "a sender needs one credit at least");
        }
        if self.stack_bytes < 16 << 10 {
            return value(
                "a stack",
                self.stack_bytes as u64,
                "no program fits on less than 16 KiB",
            );
        }
        self.faults.check(ranks)?;
        if !preset.retransmits() && !self.faults.is_reliable() {
            return Err(OptionsError::Careful(preset));
        }
        Ok(())
    }

    /// The machine as it runs the preset.
    pub(crate) fn machine_for_preset(&self) -> MachineModel {
        self.machine.for_scheme(scheme(self.settings.preset))
    }
}

/// Scheme whose costs a machine has under `preset`.
fn scheme(preset: Preset) -> Scheme {
    match preset {
        Preset::NrxImc | Preset::NrxHmc => Scheme::Nrx,
        Preset::IrxImc | Preset::IrxHmc | Preset::Pupa => Scheme::Irx,
        Preset::HrxHmc | Preset::HrxImc => Scheme::Hrx,
    }
}
