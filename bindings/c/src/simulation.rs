//! Programs of C's on simulated ranks, in virtual time.
#![allow(unsafe_code)] // For `no_mangle` only; tidy sees to that.

use crate::handle::given;
use crate::job::{Job, lent};
use crate::memory::{Text, User};
use crate::status::{Failure, Status, call};
use std::mem::MaybeUninit;
use std::time::Duration;
use weft_endpoint::Word;
use weft_simulator::{
    Faults, MachineModel, Options, OptionsError, Outcome, Preset, Report, RunEnd,
};

/// Stack of each program and process, unless the caller says something else.
const STACK_BYTES: usize = 1 << 20;

/// Longest time for which a packet is held back, so that others overtake it.
const HELD_BACK: Duration = Duration::from_micros(200);

/// Simulated job: its ranks, their machine, and what goes wrong. All may be 0 or null but ranks.
#[repr(C)]
pub struct Simulation<'a> {
    /// Number of ranks: 1 to 65534.
    ranks: u32,
    /// The protocols, such as "irx-imc"; null for those that weft run has.
    preset: Text<'a>,
    /// The costs of everything: "myrinet", which null is, "myrinet-compared", "host",
    /// "fast-ethernet" or "medusa".
    machine: Text<'a>,
    /// Fixes everything that is random.
    seed: u64,
    /// Parts of all packets that are lost, arrive twice, are overtaken by others, and have bits
    /// that flip: 0 to 1.
    loss: f64,
    duplication: f64,
    reordering: f64,
    corruption: f64,
    /// Stack of each program and each process, in bytes; 0 for 1 MiB. What is not touched takes no
    /// memory.
    stack_bytes: usize,
}

/// Figures of a simulation.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Simulated {
    /// The time that passed in it, in nanoseconds.
    virtual_ns: u64,
    /// Data packets sent, and those of them that were sent again.
    packets: u64,
    retransmissions: u64,
    /// Faults of the network that were injected.
    faults: u64,
    /// Number of events, and a number that stands for all of them: the same for the same program
    /// and simulation, on any machine.
    events: u64,
    trace: u64,
}

/// Program of a simulated rank, which gets its place in the job, as long as it runs, and the
/// pointer that weft_simulate() was given. Returns 0 if all is well.
pub type SimulatedCode = Option<extern "C" fn(job: &Job, user: User) -> i32>;

/// Runs a program on all ranks of a simulated job, in virtual time, in this thread. The ranks take
/// turns, and share all variables but those on their stacks; processes of objects are coroutines
/// that take turns, too, each until it waits. The program gives back what it got from its job
/// before it returns, but not the job. Where it computes, no virtual time passes. If report is not
/// null, the figures are put there, also if a program has failed. WEFT_ABANDONED if a program
/// returns something other than 0, WEFT_WAITS_FOR_ITSELF if nothing happens any more before all
/// have returned: what those had is not freed then. Blocks. Not to be called in a callback or a
/// simulated program.
#[unsafe(no_mangle)]
pub extern "C" fn weft_simulate(
    simulation: Option<&Simulation<'_>>,
    program: SimulatedCode,
    user: User,
    report: Option<&mut MaybeUninit<Simulated>>,
) -> Status {
    call(|| {
        let options = given(simulation, "the simulation")?.options()?;
        let code = given(program, "the program")?;
        let simulation = weft_simulator::Simulation::new(options)?;
        let ran = simulation.run_joined(move |weft| match code(&lent(weft), user) {
            0 => Ok(()),
            status => Err(format!("its program returned {status}")),
        });
        if let Some(report) = report {
            report.write(Simulated::of(&ran));
        }
        failure(&ran).map_or(Ok(()), Err)
    })
}

/// Has the simulated rank that runs keep a pointer, for its program and the processes that begin
/// after this: it is to them what a global variable is to a rank that is a process. Returns the one
/// that it kept before, null at first. Never blocks.
#[unsafe(no_mangle)]
pub extern "C" fn weft_simulated_keep(pointer: User) -> User {
    User::from_bits(Word::PROGRAM.replace(pointer.to_bits()))
}

/// The pointer that the simulated rank that runs keeps. Never blocks.
#[unsafe(no_mangle)]
pub extern "C" fn weft_simulated_kept() -> User {
    User::from_bits(Word::PROGRAM.get())
}

impl Simulation<'_> {
    fn options(&self) -> Result<Options, Failure> {
        let ranks = u16::try_from(self.ranks).unwrap_or(0);
        let machine = MachineModel::named(self.machine.get_or("myrinet", "the machine")?);
        let machine = machine.map_err(OptionsError::from)?;
        let preset = match self.preset.get_or("", "the preset")? {
            "" => Preset::default(),
            name => {
                let known = name.parse::<Preset>();
                known.map_err(|error| Failure::new(Status::BadOption, error.to_string()))?
            }
        };
        if ranks == 0 {
            let text = format!("a simulated job of {} ranks: it has 1 to 65534", self.ranks);
            return Err(Failure::new(Status::BadOption, text));
        }
        let mut options = Options::with_preset(machine, ranks, preset);
        options.seed = self.seed;
        options.faults = Faults {
            loss: self.loss,
            duplication: self.duplication,
            reordering: self.reordering,
            corruption: self.corruption,
            held_back: HELD_BACK,
            ..Faults::default()
        };
        let is_default = self.stack_bytes == 0;
        options.stack_bytes = if is_default { STACK_BYTES } else { self.stack_bytes };
        // Frames of C cannot be unwound.
        options.abandons = true;
        Ok(options)
    }
}

impl Simulated {
    fn of(report: &Report<()>) -> Self {
        Simulated {
            virtual_ns: u64::try_from(report.virtual_time.as_nanos()).unwrap_or(u64::MAX),
            packets: report.packets(),
            retransmissions: report.retransmissions(),
            faults: report.injected.total(),
            events: report.events,
            trace: report.trace_hash,
        }
    }
}

/// The first thing that went wrong.
fn failure(report: &Report<()>) -> Option<Failure> {
    let failed = report.outcomes.iter().enumerate().find_map(|(rank, outcome)| match outcome {
        Outcome::Failed(what) => Some(format!("rank {rank}: {what}")),
        Outcome::Panicked(what) => Some(format!("rank {rank} panicked: {what}")),
        _ => None,
    });
    match (&report.ended, failed) {
        (_, Some(text)) => Some(Failure::new(Status::Abandoned, text)),
        (RunEnd::Finished, None) => None,
        (ended, None) => Some(Failure::new(Status::WaitsForItself, ended.to_string())),
    }
}

impl From<OptionsError> for Failure {
    fn from(error: OptionsError) -> Self {
        let status = match &error {
            OptionsError::Memory { .. } => Status::NoMemory,
            _ => Status::BadOption,
        };
        Failure::new(status, error.to_string())
    }
}
