//! Data by message and by put on this machine's links: the five applications, as their users run
//! them.

use super::table::markdown;
use crate::results::{percent, short};
use anyhow::{Context, Result, bail};
use std::fmt::Write;
use std::process::{Command, Stdio};
use weft_netns::{Cluster, Options};

/// Number of runs of each program in each way, in turns; odd, for the median.
const ROUNDS: usize = 5;
/// Ranks.
const RANKS: usize = 2;

/// A program, what is said to it, and whether regions have 1 KiB and more then, so that they can be
/// put.
struct Program {
    name: &'static str,
    words: &'static str,
    /// Bytes of a region on so many ranks.
    bytes: &'static str,
    puts: bool,
}

const PROGRAMS: [Program; 6] = [
    Program { name: "fft", words: "--points 1048576", bytes: "2,097,152", puts: true },
    Program { name: "lu", words: "--order 1024 --block 64", bytes: "32,768", puts: true },
    Program {
        name: "radix",
        words: "--keys 1000000 --region-bytes 16384",
        bytes: "16,384",
        puts: true,
    },
    Program {
        name: "radix",
        words: "--keys 1000000 --region-bytes 1024",
        bytes: "1,024",
        puts: true,
    },
    Program { name: "barnes", words: "--bodies 1024 --steps 1", bytes: "80 and 88", puts: false },
    Program { name: "water", words: "--molecules 216 --steps 4", bytes: "72", puts: false },
];
/// The ways, as programs are told them.
const WAYS: [&str; 2] = ["packets", "puts"];

/// Results of a program over a link: medians.
struct Row {
    program: &'static Program,
    messages: f64,
    puts: f64,
}

impl Row {
    /// Part of the time that puts take away, in percent.
    fn gained(&self) -> f64 {
        (1.0 - self.puts / self.messages) * 100.0
    }
}

/// The section.
pub fn section() -> String {
    let mut text = format!(
        "`weft run -n {RANKS}` of the same programs, in both ways by turns, medians of {ROUNDS} runs. `shm` is ranks of one host; `udp` and `xdp` are \
         two network namespaces that a veth pair joins, with a rank in each. Regions of less than 1 KiB travel in packets either way: what \
         their lines say is how far runs of the same differ.\n\n",
    );
    let header = ["link", "program", "bytes of a region", "by message", "by put", "gained"];
    let (mut table, mut said) = (markdown(&header), String::new());
    for link in ["shm", "udp", "xdp"] {
        eprintln!("weft-paper: today, on this machine: data by message and by put, {link} ...");
        match over(link) {
            Ok(rows) => {
                table.add_rows(rows.iter().map(|row| cells(link, row)));
                said += &conclusion(link, &rows);
            }
            Err(error) => {
                let _ = writeln!(said, "- `{link}` is not measured: {error:#}.");
            }
        }
    }
    let _ = writeln!(text, "{}\n\n{said}", table.trim_fmt());
    text.truncate(text.trim_end().len());
    text + "\n"
}

fn cells(link: &str, row: &Row) -> [String; 6] {
    [
        link.to_owned(),
        format!("{} {}", row.program.name, row.program.words),
        row.program.bytes.to_owned(),
        format!("{} ms", short(row.messages * 1e3)),
        format!("{} ms", short(row.puts * 1e3)),
        percent(row.gained()),
    ]
}

/// The most that was gained, and how much of that may be chance.
fn conclusion(link: &str, rows: &[Row]) -> String {
    let (put, same): (Vec<&Row>, Vec<&Row>) = rows.iter().partition(|row| row.program.puts);
    let most = put.into_iter().max_by(|a, b| a.gained().total_cmp(&b.gained()));
    let chance = same.into_iter().map(|row| row.gained().abs()).fold(0.0, f64::max);
    most.map_or_else(String::new, |most| {
        format!(
            "- `{link}`: the most that a program gains is {} (`{} {}`); runs of the same differ by up to {}.\n",
            percent(most.gained()),
            most.program.name,
            most.program.words,
            percent(chance)
        )
    })
}

/// The rows of a link.
fn over(link: &str) -> Result<Vec<Row>> {
    let cluster = match link {
        "shm" => None,
        _ => Some(Cluster::new(RANKS, Options::default()).context("no network namespaces")?),
    };
    let row = |program: &'static Program| {
        let mut times = WAYS.map(|_| Vec::new());
        for _ in 0..ROUNDS {
            for (way, times) in WAYS.iter().zip(&mut times) {
                let mut command = launcher(cluster.as_ref(), link)?;
                command.args(["-n", &RANKS.to_string(), "--", program.name]);
                command.args(program.words.split(' ')).args(["--data", way]);
                let run = || format!("{} {}", program.name, program.words);
                times.push(seconds(command).with_context(run)?);
            }
        }
        let [messages, puts] = times.map(|mut times| {
            times.sort_by(f64::total_cmp);
            times[ROUNDS / 2]
        });
        Ok(Row { program, messages, puts })
    };
    PROGRAMS.iter().map(row).collect()
}

/// `weft run` over `link`.
fn launcher(cluster: Option<&Cluster>, link: &str) -> Result<Command> {
    let weft = std::env::current_exe()?.with_file_name("weft");
    let Some(cluster) = cluster else {
        let mut command = Command::new(weft);
        command.arg("run");
        return Ok(command);
    };
    let mut command = cluster.host(0).command(weft);
    command.env("WEFT_RSH", cluster.remote_shell());
    let hosts: Vec<&str> = cluster.hosts().iter().map(|host| host.name()).collect();
    command.args(["run", "--hosts", &hosts.join(","), "--link", link]);
    Ok(command)
}

/// Time of the program, as it prints it.
fn seconds(mut command: Command) -> Result<f64> {
    let output = command.stdin(Stdio::null()).output();
    let output = output.context("there is no `weft` beside this program (make build)")?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!("{}", said.trim().lines().last().unwrap_or("it says nothing"));
    }
    let said = String::from_utf8(output.stdout)?;
    let found = said.lines().find_map(said_seconds);
    found.with_context(|| format!("it does not say how long it took: {said}"))
}

/// The time in a line such as `2 ranks, 0.213 s   packets 1,204 ...`.
fn said_seconds(line: &str) -> Option<f64> {
    let (_, rest) = line.split_once(" ranks, ")?;
    rest.split_once(" s ")?.0.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::said_seconds;

    #[test]
    fn times_are_found() {
        assert_eq!(said_seconds("2 ranks, 0.213 s   packets 1,204   blocked sends 0"), Some(0.213));
        assert_eq!(said_seconds("1,048,576 points   1024 x 1024   not verified (--verify)"), None);
    }
}
