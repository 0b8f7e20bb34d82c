//! Sender-based-protocols' figures 2 and 3 beside Weft's own path.

use super::bench::verdict;
use super::steps::{Between, STEPS, repeated, run};
use super::table::markdown;
use crate::results::{listed, short};
use anyhow::{Context, Result, bail};
use std::fmt::Write;
use std::process::Command;

/// Batches that are timed.
const TIMED: usize = 4000;
/// Batches that callgrind counts twice, so that what is done once does not count.
const COUNTED: [usize; 2] = [50, 150];
/// Cache lines that a step makes cross from core to core in shared memory, by design: nobody counts
/// them.
const LINES: [(&str, &str); 5] = [
    ("allocate", "0"),
    ("fill", "0; of more than 48 bytes, those that the receiver will read"),
    ("launch", "1, the slot"),
    ("look", "0 while nothing comes"),
    ("receive", "1, the slot; 1 in 32 packets for credits"),
];

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
    let mut table = markdown(&["Weft's step", "cache lines that cross to another core, `shm`"]);
    for (step, lines) in LINES {
        table.add_row([format!("`{step}`"), lines.to_owned()]);
    }
    let _ = writeln!(text, "\n{}", table.trim_fmt());
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
    let mut cycles_each = Vec::new();
    for (((step, what), time), counted) in STEPS.iter().zip(times).zip(&counts) {
        let cycles = megahertz.map(|megahertz| time * megahertz / 1e3);
        let counted = counted.as_ref().ok();
        let each = cycles.zip(counted).map(|(cycles, counted)| cycles / counted.instructions);
        cycles_each.push(each);
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
    // The paper's device is the system's here; in memory there is none.
    text.extend((between == Between::Udp).then(|| per_instruction(&cycles_each)).flatten());
    Ok(text)
}

/// Figure 2's order of cycles for each instruction, where instructions are counted.
fn per_instruction(each: &[Option<f64>]) -> Option<String> {
    let [Some(allocate), Some(fill), Some(launch), ..] = *each else { return None };
    let evidence = listed(&[("launch", launch), ("allocate", allocate), ("fill", fill)]);
    let holds = verdict(launch > allocate.max(fill));
    Some(format!(
        "\n- `SB-F2-order-cpi`, the step that reaches the device has the most cycles for each instruction: {holds} here ({evidence}).\n"
    ))
}

/// Counts of callgrind for a step.
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

/// Total that it counts in `batches` batches, in a process of its own.
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

fn in_words(figure: Option<f64>) -> String {
    figure.map_or("-".into(), short)
}
