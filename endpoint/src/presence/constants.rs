//! The constants of waiting, in one table: what each bounds, and the measurement that chose it.
//!
//! They are times, held against what the machine costs, or shares of times. Counts stand only where
//! they space looks at a clock, or count packets. Where no measurement is named there was none: the
//! reason stands there instead. Measurements are of two cores of a virtual machine, Linux 6.18,
//! unless they say otherwise (`docs/internals/waiting.md`, `docs/internals/performance.md`,
//! `docs/internals/ethernet.md`).

use std::time::Duration;
use weft_link::clock::Nanoseconds;

// ---- Backoff: a thread of the program that waits (`backoff`).

/// Time for which a rank with a core to itself looks again and again before it yields: about what
/// a wake-up costs (14 to 50 us), so that an answer that comes in this time costs neither.
pub const SPIN_FOR: Duration = Duration::from_micros(50);
/// Part of that time in which it does not even pause. As a count, 50 polls took 0.2 us in memory
/// and 15 over UDP.
pub const SPIN_AT_ONCE_FOR: Duration = Duration::from_micros(1);
/// Looks at memory between two of the clock while a rank spins. Such a look takes a few
/// nanoseconds, and one at the clock 20 to 30.
pub const LOOKS_PER_CLOCK: u32 = 16;
/// Time between two looks of a rank that waits, in nanoseconds: below the fastest line's way, which
/// takes 40 to 250, so that no look is late by more than the message's own way.
pub const BETWEEN_LOOKS_NS: f64 = 40.0;
/// Time for which a rank on a network may spin, in all of its waits together, before it yields
/// once: `ksoftirqd` gets the core. It was 1,000 looks.
pub const SPIN_ON_NETWORK_FOR: Duration = Duration::from_micros(100);
/// Time for which a rank with a core to itself yields before it sleeps, if some of its yields did
/// not come back at once: a few wake-ups.
pub const YIELD_FOR: Duration = Duration::from_micros(200);
/// Time for which it yields on a shared core, where a yield takes 3.4 us beside one thread that
/// yields, and 5.2 beside two. Ranks that were wrong about sharing slept after it: a first message
/// after 3 ms took 3.0 to 3.8 x TCP's, and 1.4 to 1.9 once they were not.
pub const YIELD_ON_SHARED_CORE_FOR: Duration = Duration::from_micros(500);
/// Time for which a rank yields while all of its yields come back at once (0.6 us each), and for
/// which one that polls by itself does on a shared core, too: `cg` took 1.29 of TCP's time with
/// sleeps after 0.5 ms, and 0.93 without any.
pub const YIELD_ALONE_FOR: Duration = Duration::from_millis(5);
/// Time before the sleep of a rank whose sleep is better than a yield, because others keep its core
/// for long, or because it may not use it for long. A sleep and a wake-up cost 9 to 39 us: who
/// sleeps after so long pays twice the best at most.
pub const PATIENCE: Duration = Duration::from_micros(20);
/// Time for which a rank that shares its core goes on, when all that it waits for is there. A yield
/// costs it a microsecond or two; the scheduler would take the core from it after a slice (1.4 ms),
/// in which it serves the ranks of other cores and none of its own.
pub const QUANTUM: Duration = Duration::from_micros(100);
/// Longest time between two yields, a look at the network included, that nobody else had the core:
/// a yield takes 0.6 us alone, and 4 ms beside a thread that computes.
pub const LONGEST_ALONE: Duration = Duration::from_micros(50);
/// Time that may be lost to others all the same: an interrupt or a thread of the kernel's takes a
/// moment (165 us were seen), a computation slices of 1.4 ms.
pub const MOMENT: Duration = Duration::from_micros(150);
/// ... and part of the wait that may. One time slice in a wait of 5 ms is more than that.
pub const LOST_SHARE: u32 = 20;

// ---- Polls: a program that polls by itself (`polls`).

/// Time between two yields of a program that polls, while nobody else wants its core: a yield of
/// 0.6 us takes less than a hundredth of it.
pub const PROBE_EVERY: Duration = Duration::from_micros(100);
/// Longest time between two polls of a program that does nothing else: a look at UDP takes 0.3 us,
/// and MPI's own work between two a few.
pub const LONGEST_POLL: Duration = Duration::from_micros(8);
/// Polls between two pauses of a program that polls, while nobody else wants its core. Spaces looks
/// at the clock; the times above decide.
pub const POLLS_PER_PAUSE: u32 = 256;
/// Polls between them while others want it that give it back soon, some 2 us: `sweep` on 4 ranks
/// took 0.234 s with one, 0.209 with two, 0.192 with four, 0.182 with twelve.
pub const POLLS_PER_PAUSE_ON_SHARED_CORE: u32 = 4;
/// Time after which a program that polls seldom pauses again, so that others see that it goes on:
/// a quarter of the 0.2 s after which it is taken to compute (`docs/internals/waits.md`).
pub const PAUSE_WITHIN: Duration = Duration::from_millis(50);
/// Longest sleep of a program that polls, and may wait for something besides packets, such as
/// another of its threads. Not measured: what it may be late by.
pub const LONGEST_NAP: Duration = Duration::from_millis(1);
/// Longest time after the end of a wait in which a read of a queue comes at once: where a look is a
/// system call (0.3 to 0.6 us), 8 bytes of Open MPI's take 6 % less time, 2 KiB 12 %.
pub const AT_ONCE: Duration = Duration::from_micros(2);
/// Reads of entries that wait of which one looks: who sends, and reads that it has sent, is to
/// receive acknowledgements. Not measured: far below a window.
pub const ENTRIES_PER_LOOK: u32 = 8;
/// Time of empty polls after which they are published: that after which a thread that blocks
/// sleeps ([`YIELD_ALONE_FOR`]).
pub const UNTOLD: Duration = Duration::from_millis(5);
/// Time after which what others were told is looked at again: a program that looks may begin
/// receives between two polls. A program that has not polled for as long computes.
pub const REFRESHED: Duration = Duration::from_millis(200);

// ---- Sleep: of a thread of the program (`sleep`).

/// The longest sleep before a waiting thread looks again by itself (I9): nothing depends on a bell
/// alone. Not measured: 10 wake-ups a second cost nothing.
pub const LONGEST_SLEEP: Duration = Duration::from_millis(100);
/// Length of a wait of which a trace says what it was for: to say it takes a hundredth of that.
pub const LONG_WAIT: Duration = Duration::from_micros(10);

// ---- Contention: who else wants the core (`contention`).

/// Nanoseconds between two looks at what the system says about the core: 0.9 us each, and 10 with
/// the limits.
pub const OBSERVE_EVERY: Nanoseconds = 5_000_000;
/// Nanoseconds between them after a look that took long ([`LONGEST_ALONE`]).
pub const OBSERVE_AT_ONCE: Nanoseconds = 500_000;
/// One part in this number of a time, of [`WINDOW`] at least, from which on delays count. One alone
/// was delayed for 20 us of 5 ms, one beside a spinner for 4 of 9 ms.
pub const DELAY_SHARE: u64 = 10;
/// One part in this number of a time, from which on it counts that it was stolen.
pub const STOLEN_SHARE: u64 = 10;
/// One yield in this number, from which on it counts that others ran: beside a rank that yields
/// each did (48 of 48), alone one of 48.
pub const YIELDS_SHARE: u64 = 4;
/// ... and the fewest yields that count.
pub const FEWEST_YIELDS: u64 = 8;
/// Time for each yield, at most, in a report of waits alone. A thread that does other things
/// besides is given its core again for many reasons (85 slices and 19 yields in 258 ms).
pub const TIME_PER_YIELD: Nanoseconds = 250_000;
/// Delay of a wake-up on a core that nobody else wants: it has to be woken as well (39 us).
pub const WAKE_UP: Nanoseconds = 60_000;
/// Time between two samples of the limits, 8 us each. Stolen time is counted in hundredths of a
/// second.
pub const LIMITS_EVERY: Nanoseconds = 200_000_000;
/// Mean delay from which on others most likely compute, and do not wait: a slice is 1.4 ms.
pub const SLICE: Nanoseconds = 500_000;
/// Time for which a verdict is held at first. Who is wrong about being alone finds out within 5 ms,
/// a hundredth of it.
pub const SHORTEST_HOLD: Nanoseconds = 500_000_000;
/// Longest time for which one is held: a thousandth of the time is spent in error then.
pub const LONGEST_HOLD: Nanoseconds = 16_000_000_000;
/// Shortest time in which long delays say that others compute. A yield among ranks that all yield
/// takes a time slice (1.4 ms) now and then, too, and ranks that have not noticed yet that they
/// share their core spin on it.
pub const WINDOW: Nanoseconds = 20_000_000;
/// Nanoseconds between two returns of a rank to its place at least. One takes some 20 us.
pub const RETURN_EVERY: Nanoseconds = 5_000_000;

// ---- Watch: the upcall thread (`watch`).

/// The delay between an arrival and an interrupt with a core for each rank: a little over twice
/// what a wake-up across cores costs (14 to 30 us).
pub const INTERRUPT_DELAY: Duration = Duration::from_micros(70);
/// Shortest delay where others want the rank's core: `asp` on 8 ranks and 2 cores took 0.41 s with
/// 70 us, 0.37 s with 300 us, 0.30 s with 1 ms, 0.28 s with 3 to 100 ms.
pub const DELAY_ON_SHARED_CORES: Duration = Duration::from_millis(2);
/// While the host polls, the delay grows up to this many times.
pub const MOST_DELAYS: u32 = 8;
/// A host that has been polling for long is looked at less often still: the delay is at most this
/// part of that time, and so is what an interrupt comes late by when the host begins to compute:
/// 200 looks a second instead of 1,800.
pub const SHARE_OF_ACTIVITY: u32 = 16;
/// Longest delay on those grounds. Each look takes the core from a rank, for 10 us or more.
pub const LONGEST_DELAY: Duration = Duration::from_millis(5);
/// Period in which a thread with nothing to do looks if it is still needed.
pub const IDLE_LOOK: Duration = Duration::from_secs(1);
/// Shortest sleep until a timer of the protocol: timers that follow each other closely share a
/// look, which takes 10 to 30 us.
pub const SHORTEST_SLEEP: Nanoseconds = 100_000;
/// Period in which the upcall thread looks while a thread of the program sleeps in the node, which
/// does all by itself.
pub const BESIDE_SLEEPER: Duration = Duration::from_millis(100);
/// Sleeps shorter than this end when they should: a slack of a tick of the kernel (1 to 10 ms) is
/// more than all of them.
pub const PUNCTUAL: Duration = Duration::from_millis(1);

// ---- Fallback: timers while the program computes (`fallback`), and packets held back
// (`coalescing`).

/// Time without a program that takes its packets by polls after which the upcall thread sees to the
/// node. A look takes 10 to 30 us of the core that the program computes on, and leads to more: an
/// integer sort had 14 wake-ups in rounds of 0.8 ms, a tenth of both cores, and has 4.
pub const PATIENT_TICK: Nanoseconds = 2_000_000;
/// Longest time by which a program that talks puts the upcall thread's look off, or a tick if that
/// is longer. Setting a timer takes 0.6 us, and 8 where it leaves the machine.
pub const LONGEST_PUT_OFF: Nanoseconds = 5_000_000;
/// Time by which it does where a timer is dear to set that comes before the kernel's tick (8 us
/// instead of 0.6): longer than a tick of 250 Hz.
pub const LATE: Nanoseconds = 6_000_000;
/// Time after which it does so again. The timer stays as it is: the thread wakes early, finds that
/// the program was here, and sleeps on.
pub const RENEWED_AFTER: Nanoseconds = 500_000;
/// Time for which looks are punctual after the upcall thread has made upcalls: for a program whose
/// peers count on them, a later look is a later answer.
pub const PUNCTUAL_FOR: Nanoseconds = 1_000_000_000;
/// Longest time for which a packet is held back if the program does not come back, and the upcall
/// thread sends it; twice that with the time until it looks.
pub const LONGEST_WAIT: Nanoseconds = 100_000;
/// Longest time for which a packet is held back while the program goes on sending: a few datagrams'
/// worth of calls.
pub const COALESCE_FOR: Nanoseconds = 10_000;
/// Packets that soon follow one another to one rank, and are taken for a stream: four ranks of a
/// wavefront sent 14,400 datagrams without streams, and 6,500 with.
pub const STREAM: u32 = 4;
/// Longest time between two of them: others may have the core meanwhile.
pub const STREAM_GAP: Nanoseconds = 100_000;
/// Empty polls in a row after which a program that sends a stream is taken to wait.
pub const LOOKS_OF_STREAM: u32 = 3;

// ---- Stay: the end of a rank on a network (`stay`). Not measured: bounds on what peers miss.

/// Time without any arrival after which a rank that ends gives up, if peers may not keep silent for
/// longer.
pub const STAY_WITH_PACKETS: Nanoseconds = 1_000_000_000;
/// Longest time without any arrival for which a rank that has ended stays for others, ...
pub const LONGEST_STAY: Nanoseconds = 100_000_000;
/// ... and longest time for which it does while others go on sending: they know that it has ended.
pub const LONGEST_STAY_IN_ALL: Nanoseconds = 1_000_000_000;
