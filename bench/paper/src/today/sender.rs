//! Sender-based-protocols' figures 2 and 3 beside Weft's own path.

use super::steps::{Between, STEPS, Times, repeated, run};
use crate::results::short;
use anyhow::{Context, Result, bail};
use comfy_table::{Table, presets};
use std::fmt::Write;
use std::net::UdpSocket;
use std::process::Command;
use std::time::Instant;

/// Batches that are timed.
const TIMED: usize = 4000;
/// Batches that callgrind counts twice, so that what is done once does not count.
const COUNTED: [usize; 2] = [50, 150];
/// Samples of what the system takes by itself.
const SYSTEM: usize = 20_000;

/// The paper's steps of a send (figure 2, BSD) beside ours, by what they are for.
const PAPER: [(&str, &str, &str); 7] = [
    ("system call entry", "9, 14", "none in memory; over UDP in `launch`"),
    (
        "decode and process arguments",
        "25, 33",
        "checked by the compiler, or in `allocate` and `launch`",
    ),
    ("read Medusa transmit queue", "5, 39", "`allocate`"),
    (
        "read/write 6-word FDDI header",
        "18, 101",
        "none in memory; the kernel's over UDP, in `launch`",
    ),
    ("write 1-word body", "12, 28", "`fill`"),
    ("write 7-word protocol header", "33, 61", "`launch`"),
    ("write Medusa transmit queue", "3, 7", "`launch`: a slot of the ring, or sendto"),
];

/// The section.
pub fn section() -> String {
    let mut text = String::from(
        "The paper's steps (figure 2: instructions with those of its measuring, cycles under BSD), and the step of Weft's own \
         path that does the same:\n\n",
    );
    let mut table = markdown(&["paper's step", "instructions, cycles", "Weft's step"]);
    for (step, cost, ours) in PAPER {
        table.add_row([step, cost, ours]);
    }
    table.add_row(["all of a send", "105, 283", "`allocate`, `fill`, `launch`"]);
    let _ = writeln!(text, "{}", table.trim_fmt());
    let megahertz = megahertz();
    for (between, name) in [(Between::Shm, "shm"), (Between::Udp, "udp")] {
        match budget(between, name, megahertz) {
            Ok(budget) => text += &budget,
            Err(error) => {
                let _ = writeln!(text, "\n`{name}` is not measured: {error:#}.");
            }
        }
    }
    text
}

/// The clock that the system names, in MHz; cycles are nanoseconds of it.
fn megahertz() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("cpu MHz"))?;
    line.split(':').nth(1)?.trim().parse().ok()
}

fn budget(between: Between, name: &str, megahertz: Option<f64>) -> Result<String> {
    let times = run(between, TIMED)?;
    let counts: Vec<Result<Counted>> =
        STEPS.iter().map(|(step, _)| count(name, step).context("callgrind")).collect();
    let mut table =
        markdown(&["step", "what", "ns", "cycles", "instructions", "cycles each", "D1 misses"]);
    for (((step, what), time), counted) in STEPS.iter().zip(times).zip(&counts) {
        let cycles = megahertz.map(|megahertz| time * megahertz / 1e3);
        let counted = counted.as_ref().ok();
        let each = cycles.zip(counted).map(|(cycles, counted)| cycles / counted.instructions);
        table.add_row([
            format!("`{step}`"),
            (*what).to_owned(),
            short(time),
            in_words(cycles),
            in_words(counted.map(|counted| counted.instructions)),
            in_words(each),
            in_words(counted.map(|counted| counted.misses)),
        ]);
    }
    let mut text = format!(
        "\nWeft, `{name}`, both ranks in one thread: medians, cycles of the nominal clock, and what callgrind counts outside of the system:\n\n{}\n",
        table.trim_fmt()
    );
    if let Some(Err(error)) = counts.into_iter().find(Result::is_err) {
        let _ = writeln!(text, "\nNot all is counted: {error:#}.");
    }
    text.push('\n');
    findings(&mut text, between, &times)?;
    Ok(text)
}

/// The paper's orders that can be asked of this path.
fn findings(text: &mut String, between: Between, times: &Times) -> Result<()> {
    let [allocate, fill, launch, look, receive] = *times;
    let send = allocate + fill + launch;
    let mut found = |id: &str, what: &str, holds: bool, evidence: String| {
        let verdict = if holds { "holds" } else { "does not hold" };
        let _ = writeln!(text, "- `{id}`, {what}: {verdict} here ({evidence}).");
    };
    let call = system_call_ns();
    match between {
        Between::Shm => {
            let evidence = format!("a look {} ns, getppid {} ns", short(look), short(call));
            let what = "an empty light call is far cheaper than an empty system call";
            found("SB-3-lw-order", what, look * 2.0 < call, evidence);
        }
        Between::Udp => {
            let (sent, received) = datagram_ns()?;
            let system = sent + received;
            let (ours, theirs) =
                ((launch - sent).max(0.0) + allocate + fill, (receive - received).max(0.0));
            let evidence = format!(
                "send {} ns, receive {} ns without the system's {} and {} for a bare datagram",
                short(ours),
                short(theirs),
                short(sent),
                short(received)
            );
            found(
                "SB-F3-order",
                "controller and wire, here the system's part, are the largest part of one way",
                system > ours && system > theirs,
                evidence.clone(),
            );
            let smallest = theirs <= ours && theirs <= system;
            found("SB-F3-order2", "the receive path is the smallest part", smallest, evidence);
            let of = format!("{} of {} ns", short(launch), short(send));
            found(
                "SB-F2-order",
                "what goes to the device costs most of a send",
                launch > send / 2.0,
                of,
            );
        }
    }
    Ok(())
}

/// Nanoseconds of a system call that does nothing.
fn system_call_ns() -> f64 {
    let start = Instant::now();
    for _ in 0..SYSTEM {
        std::hint::black_box(rustix::process::getppid());
    }
    start.elapsed().as_nanos() as f64 / SYSTEM as f64
}

/// Nanoseconds that the system takes to send a datagram of 64 bytes over loopback, and to receive it.
fn datagram_ns() -> Result<(f64, f64)> {
    let (from, to) = (UdpSocket::bind("127.0.0.1:0")?, UdpSocket::bind("127.0.0.1:0")?);
    from.connect(to.local_addr()?)?;
    let (mut sending, mut receiving, mut bytes) = (Vec::new(), Vec::new(), [0; 64]);
    for _ in 0..SYSTEM / 16 {
        let start = Instant::now();
        for _ in 0..16 {
            from.send(&bytes)?;
        }
        sending.push(start.elapsed().as_nanos() as f64 / 16.0);
        let start = Instant::now();
        for _ in 0..16 {
            to.recv(&mut bytes)?;
        }
        receiving.push(start.elapsed().as_nanos() as f64 / 16.0);
    }
    let median = |mut times: Vec<f64>| {
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    };
    Ok((median(sending), median(receiving)))
}

/// What callgrind counted of a step.
struct Counted {
    instructions: f64,
    misses: f64,
}

/// Has callgrind count `step`.
fn count(between: &str, step: &str) -> Result<Counted> {
    let [less, more] = COUNTED.map(|batches| counted(between, step, batches));
    let (less, more) = (less?, more?);
    let times = (repeated(COUNTED[1]) - repeated(COUNTED[0])) as f64;
    let each = |of: fn(&Counted) -> f64| (of(&more) - of(&less)) / times;
    Ok(Counted { instructions: each(|at| at.instructions), misses: each(|at| at.misses) })
}

/// What it counts in all in `batches` batches, in a process of its own.
fn counted(between: &str, step: &str, batches: usize) -> Result<Counted> {
    let this = std::env::current_exe()?;
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null", "--cache-sim=yes"])
        .arg(format!("--toggle-collect=*steps::{step}*"))
        .arg(this)
        .args(["--steps", between, "--batches", &batches.to_string()])
        .output()
        .context("valgrind does not run")?;
    let said = String::from_utf8_lossy(&output.stderr);
    let Some(line) = said.lines().find(|line| line.contains("Collected :")) else {
        bail!("it counted nothing: {}", said.lines().last().unwrap_or_default());
    };
    let numbers = line.split(':').nth(1).unwrap_or_default().split_whitespace();
    let numbers: Vec<f64> = numbers.map_while(|number| number.parse().ok()).collect();
    // Ir Dr Dw I1mr D1mr D1mw ...
    let [instructions, _, _, _, reads, writes, ..] = numbers[..] else { bail!("it says '{line}'") };
    Ok(Counted { instructions, misses: reads + writes })
}

fn markdown(header: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_preset(presets::ASCII_MARKDOWN).set_header(header.iter().copied());
    table
}

fn in_words(figure: Option<f64>) -> String {
    figure.map_or("-".into(), short)
}
