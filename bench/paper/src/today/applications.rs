//! The applications of chapter 8 on real ranks: of one host, and of network namespaces between
//! which packets are Ethernet's.
//!
//! A file beside the page keeps what was seen, so that some can be measured again.

use super::table::markdown;
use crate::lines;
use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::process::{Command, Stdio};
use weft_bench::suite::{Application, Size};
use weft_netns::{Cluster, Options};

/// Heading of the section.
pub const HEADING: &str = "## On two and on four hosts, today";
/// File that holds what was seen.
const FILE: &str = "applications-hosts.csv";
/// Number of runs of each in each way, in turns; odd, for the median.
const ROUNDS: usize = 3;
/// Numbers of hosts, with a rank on each.
const HOSTS: [usize; 2] = [2, 4];
/// Links between hosts.
const LINKS: [&str; 2] = ["udp", "xdp"];
/// Link of ranks that have one host, and of one rank.
const ONE_HOST: &str = "shm";

/// Median of an application's runs in one way, in seconds.
#[derive(Serialize, Deserialize, Clone, PartialEq, Debug)]
struct Line {
    application: String,
    link: String,
    ranks: usize,
    seconds: f64,
    /// Data packets that arrived at all ranks.
    packets: u64,
}

/// Way in which an application runs.
struct Way<'a> {
    link: &'static str,
    ranks: usize,
    cluster: Option<&'a Cluster>,
}

/// Result that an application's rank 0 prints.
#[derive(Deserialize)]
struct Said {
    seconds: f64,
    packets: u64,
}

/// Measures applications, keeps the results in a folder, and gives the section about all that it
/// has.
///
/// # Errors
/// There can be no namespaces, the programs are not built, or a result is wrong.
pub fn measure(folder: &Path, applications: &[Application]) -> Result<String> {
    let clusters = HOSTS.map(|hosts| Cluster::new(hosts, Options::default()));
    let clusters = clusters.into_iter().collect::<Result<Vec<_>, _>>()?;
    let ways = ways(&clusters);
    let path = folder.join(FILE);
    let mut lines: Vec<Line> = lines::read(&path)?;
    for &application in applications {
        eprintln!("weft-paper: {application} on hosts ...");
        let new = one(application, &ways).with_context(|| application.to_string())?;
        lines.retain(|line| line.application != application.name());
        lines.extend(new);
    }
    lines::write(&path, &lines)?;
    Ok(section(&lines))
}

/// The section about what a folder has.
///
/// # Errors
/// Its file is wrong.
pub fn read_section(folder: &Path) -> Result<String> {
    Ok(section(&lines::read(&folder.join(FILE))?))
}

fn ways(clusters: &[Cluster]) -> Vec<Way<'_>> {
    let alone = [1].into_iter().chain(HOSTS);
    let mut ways: Vec<Way<'_>> =
        alone.map(|ranks| Way { link: ONE_HOST, ranks, cluster: None }).collect();
    for (ranks, cluster) in HOSTS.into_iter().zip(clusters) {
        ways.extend(LINKS.map(|link| Way { link, ranks, cluster: Some(cluster) }));
    }
    ways
}

/// Medians of an application, all ways in turns.
fn one(application: Application, ways: &[Way<'_>]) -> Result<Vec<Line>> {
    let mut said: Vec<Vec<Said>> = ways.iter().map(|_| Vec::new()).collect();
    for _ in 0..ROUNDS {
        for (way, said) in ways.iter().zip(&mut said) {
            let run = || format!("{} ranks, {}", way.ranks, way.link);
            said.push(way.run(application).with_context(run)?);
        }
    }
    let median = |(way, mut said): (&Way<'_>, Vec<Said>)| {
        said.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
        let Said { seconds, packets } = said.swap_remove(ROUNDS / 2);
        let (application, link) = (application.name().to_owned(), way.link.to_owned());
        Line { application, link, ranks: way.ranks, seconds, packets }
    };
    Ok(ways.iter().zip(said).map(median).collect())
}

impl Way<'_> {
    /// Runs an application, which checks its result.
    fn run(&self, application: Application) -> Result<Said> {
        let beside = |program: &str| {
            Ok::<_, anyhow::Error>(std::env::current_exe()?.with_file_name(program))
        };
        let weft = beside("weft")?;
        let mut command = match self.cluster {
            Some(cluster) => cluster.host(0).command(weft),
            None => Command::new(weft),
        };
        command.args(["run", "-n", &self.ranks.to_string()]);
        if let Some(cluster) = self.cluster {
            let hosts: Vec<&str> = cluster.hosts().iter().map(|host| host.name()).collect();
            command.env("WEFT_RSH", cluster.remote_shell());
            command.args(["--hosts", &hosts.join(","), "--link", self.link]);
        }
        command.arg("--").arg(beside("weft-application")?);
        command.args([application.name(), "--json", "--"]).args(words(application));
        let output = command.env("WEFT_QUIET", "1").stdin(Stdio::null()).output();
        let output = output.context("there is no `weft` beside this program (make build)")?;
        if !output.status.success() {
            bail!("{}", String::from_utf8_lossy(&output.stderr).trim());
        }
        let text = String::from_utf8(output.stdout)?;
        let line = text.lines().find(|line| line.starts_with("{\"application\""));
        Ok(serde_json::from_str(line.with_context(|| format!("it tells nothing: {text}"))?)?)
    }
}

/// Problem, as words that state it to the application, if it is not that of table 8.6: one rank has
/// it for a second or two at most.
fn words(application: Application) -> &'static [&'static str] {
    match application {
        Application::Asp => &["--sample", "1026", "--to", "SYD"],
        Application::Awari => &["--stones", "10"],
        Application::Barnes => &["--two-party", "--bodies", "2048"],
        Application::Leq => &["--unknowns", "1000", "--iterations", "300", "--tolerance", "0"],
        Application::Puzzle4 => &["--korf", "4", "--most-moves", "52", "--jobs-per-message", "4"],
        Application::Puzzle64 => &["--korf", "4", "--most-moves", "52", "--jobs-per-message", "64"],
        Application::Radix => &["--two-party", "--keys", "300000"],
        other => other.words(Size::Thesis),
    }
}

fn section(lines: &[Line]) -> String {
    let header = [
        "application",
        "words",
        "1 rank",
        "2, one host",
        "2, udp",
        "2, xdp",
        "4, one host",
        "4, udp",
        "4, xdp",
        "packets of 4, udp",
    ];
    let mut table = markdown(&header);
    for application in Application::ALL {
        let of = |link: &str, ranks| {
            let is = |line: &&Line| {
                line.application == application.name() && line.link == link && line.ranks == ranks
            };
            lines.iter().find(is)
        };
        let Some(one) = of(ONE_HOST, 1) else { continue };
        let mut cells = vec![
            application.title().to_owned(),
            problem(application),
            format!("{:.3} s", one.seconds),
        ];
        for ranks in HOSTS {
            for link in [ONE_HOST].into_iter().chain(LINKS) {
                cells.push(of(link, ranks).map_or("-".into(), |line| {
                    format!("{:.3} s ({:.2})", line.seconds, one.seconds / line.seconds)
                }));
            }
        }
        let packets = of(LINKS[0], HOSTS[1]).map(|line| line.packets);
        cells.push(packets.map_or("-".into(), weft_app_common::thousands));
        table.add_row(cells);
    }
    format!("{HEADING}\n\n{WHAT}\n\n{}\n\n{LEARNT}\n", table.trim_fmt())
}

/// The problem, for people.
fn problem(application: Application) -> String {
    let (own, words) = (application.words(Size::Thesis), words(application));
    if own == words { "as in table 8.6".to_owned() } else { format!("`{}`", words.join(" ")) }
}

const WHAT: &str = "\
By `make study-hosts` (`weft-paper --on-hosts`): hosts are network namespaces of this machine, two on a veth pair and four at a bridge, with a rank on each, under `udp` and `xdp` with the preset that they have there (`pupa`); *one host* is as many ranks on shared memory. \
Medians of 3 runs, all ways in turns, each run verified, of a release build; in brackets the speed-up against one rank. All figures: [applications-hosts.csv](applications-hosts.csv).\n\n\
**The machine has 2 cores** (AMD EPYC, virtual). Two hosts have one core each, and the kernel's work for packets comes out of it. **Four hosts share two cores**: nobody can be faster there than two ranks without packets, and who waits takes time from who would answer. So these columns say what packets cost and that results are right, not how four machines scale. Most runs take 0.03 to 0.3 s, so that tenths are noise.";
const LEARNT: &str = "\
All ten give the right result on two and on four hosts over both links; none had to be left out. On two hosts ASP, Awari, FFT, LEQ, Puzzle-4 and QR gain over both links, SOR over one of them. Barnes is as fast as one rank, to 6 %; Puzzle-64 gains on one host neither, in 400 messages; Radix is 6 to 11 times slower, since \
300,000 keys are 4 ms of work for 10,718 packets. On four hosts on two cores FFT, Puzzle-4 and SOR are still as fast as one rank or faster, LEQ and QR within 17 %; ASP, Awari and Barnes are slower, by 33,000 and 100,000 packets in the case of the last two. Neither `udp` nor `xdp` is always ahead: without a card of its own AF_XDP copies through the kernel as UDP does.";
