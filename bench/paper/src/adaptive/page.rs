//! The page: `docs/paper/adaptive.md`, and its figures.

use super::{ACTIVE, BYTES, Policy, RANKS, Seen, WINDOW, Workload, run};
use crate::plot::{Plot, Scale};
use crate::report::PageFile;
use crate::suite::{on_threads, threads};
use anyhow::Result;
use comfy_table::{Table, presets};
use std::fmt::Write;
use weft_app_common::thousands;

/// The files that [`pages`] gives.
pub const PAGES: [&str; 3] = ["adaptive.md", "adaptive-throughput.svg", "adaptive-latency.svg"];

/// Peers that each rank talks to.
const PEERS: [u16; 7] = [1, 2, 4, 8, 16, 32, 64];
/// Packets to a peer that a rank has never talked to.
const BURSTS: [u64; 4] = [1, 4, 16, 64];
/// Numbers of times that each rank turns to other peers while it sends as many packets as always.
const PHASES: [u16; 4] = [1, 4, 16, 64];
/// Packets that a rank sends to one peer before it turns to the next.
const RUN: u64 = 8;
/// Operations between packets of ranks that do not only send: 30 us of this machine, so that the
/// load saturates no NI.
const COMPUTES: u64 = 1_500;
/// Packets that each rank sends.
const PACKETS: u64 = 256;
/// Pings that each rank sends.
const PINGS: u64 = 64;

/// One quantity of every policy, by what was varied.
struct Rows {
    xs: Vec<u64>,
    /// For each policy, for each x.
    seen: Vec<Vec<Seen>>,
}

impl Rows {
    fn measure<X: Copy + Into<u64> + Sync>(
        xs: &[X],
        workload: impl Fn(X) -> Workload + Sync,
    ) -> Result<Self> {
        let cases: Vec<(Policy, X)> =
            Policy::ALL.iter().flat_map(|&policy| xs.iter().map(move |&x| (policy, x))).collect();
        let one = |&(policy, x): &(Policy, X)| run(policy, workload(x));
        let all: Vec<Seen> =
            on_threads(threads(), &cases, one).into_iter().collect::<Result<_>>()?;
        let seen = all.chunks(xs.len()).map(<[Seen]>::to_vec).collect();
        Ok(Rows { xs: xs.iter().map(|&x| x.into()).collect(), seen })
    }

    /// A table of one quantity: the first policy's, and what part of that the others have.
    fn table(&self, what: &str, digits: usize, of: impl Fn(&Seen) -> f64) -> String {
        let mut table = Table::new();
        table.load_preset(presets::ASCII_MARKDOWN);
        let names = Policy::ALL.iter().map(|policy| policy.name.to_owned());
        table.set_header([what.to_owned()].into_iter().chain(names));
        for (at, x) in self.xs.iter().enumerate() {
            let first = of(&self.seen[0][at]);
            let others = self.seen.iter().skip(1).map(|seen| of(&seen[at]));
            let cells = others.map(|value| match first > 0.0 {
                true => format!("{value:.digits$} ({:.2})", value / first),
                false => format!("{value:.digits$}"),
            });
            let first = format!("{first:.digits$}");
            table.add_row([thousands(*x), first].into_iter().chain(cells));
        }
        table.to_string()
    }

    fn plot(
        &self,
        (name, title): (&'static str, &str),
        x: &str,
        y: &str,
        of: impl Fn(&Seen) -> f64,
    ) -> Plot {
        let mut plot = Plot::new(name, title, (x, Scale::Logarithmic), (y, Scale::Linear));
        for (policy, seen) in Policy::ALL.iter().zip(&self.seen) {
            let points = self.xs.iter().zip(seen).map(|(&x, seen)| (x as f64, of(seen)));
            plot.line(policy.name, points.collect());
        }
        plot
    }

    /// Ratio of the adaptive policy's result to the first one's, for `x`.
    fn ratio(&self, x: u64, of: impl Fn(&Seen) -> f64) -> f64 {
        let at = self.xs.iter().position(|&known| known == x).unwrap_or(0);
        of(&self.seen[1][at]) / of(&self.seen[0][at])
    }
}

/// Measures everything, and returns the page and its figures.
///
/// # Errors
/// What a rank or the simulator says.
pub fn pages() -> Result<Vec<PageFile>> {
    let flood = |run, operations| {
        Rows::measure(&PEERS, |active| Workload::Flood {
            operations,
            run,
            active,
            packets: PACKETS,
            phases: 1,
        })
    };
    let (flood, runs, paced) = (flood(1, 0)?, flood(RUN, 0)?, flood(RUN, COMPUTES)?);
    let ping = Rows::measure(&PEERS, |active| Workload::Ping {
        active,
        rounds: (PINGS / u64::from(active)).max(1),
    })?;
    let burst = Rows::measure(&BURSTS, |packets| Workload::Flood {
        operations: 0,
        run: 1,
        active: 1,
        packets,
        phases: 1,
    })?;
    let moves = Rows::measure(&PHASES, |phases| Workload::Flood {
        operations: 0,
        run: 1,
        active: ACTIVE,
        packets: PACKETS,
        phases,
    })?;
    let x = "peers that each rank talks to";
    let plots = [
        runs.plot(
            (PAGES[1].trim_end_matches(".svg"), "Throughput of each rank, over active peers"),
            x,
            "Mbyte/s",
            |seen| seen.throughput,
        ),
        ping.plot(
            (PAGES[2].trim_end_matches(".svg"), "One-way latency of pings, over active peers"),
            x,
            "us",
            |seen| seen.latency_us,
        ),
    ];
    let page = page(&Measured { flood, runs, paced, ping, burst, moves });
    let drawn = plots.map(|plot| (format!("{}.svg", plot.name), plot.svg()));
    Ok([(PAGES[0].to_owned(), page)].into_iter().chain(drawn).collect())
}

/// Everything.
struct Measured {
    flood: Rows,
    runs: Rows,
    paced: Rows,
    ping: Rows,
    burst: Rows,
    moves: Rows,
}

fn page(measured: &Measured) -> String {
    let Measured { flood, runs, paced, ping, burst, moves } = measured;
    let mut page = format!(
        "# Windows that follow demand\n\n{}\n\n## Receive memory\n\n{}\n\n",
        introduction(),
        memory(runs)
    );
    let sections = [
        (FLOOD, flood.table("peers", 2, |seen| seen.throughput)),
        (RUNS, runs.table("peers", 2, |seen| seen.throughput)),
        (PING, ping.table("peers", 1, |seen| seen.latency_us)),
        (PACED, paced.table("peers", 1, |seen| seen.latency_us)),
        (WAITING, runs.table("peers", 0, |seen| seen.latency_us)),
        (BURST, burst.table("packets", 0, |seen| seen.took_us)),
        (MOVES, moves.table("sets of peers", 2, |seen| seen.throughput)),
        (CREDITS, runs.table("peers", 3, |seen| seen.credit_packets)),
        (RECALLS, moves.table("sets of peers", 3, |seen| seen.recalls)),
    ];
    for (text, table) in sections {
        let _ = write!(page, "{text}\n\n{table}\n\n");
    }
    page + &verdict(runs, ping, paced)
}

fn introduction() -> String {
    format!(
        "Measured by `make paper` in the simulator, on the thesis's cluster with {} ranks, under `nrx-imc`, \
         without interrupts: no paper has figures to lay beside these. Packets have {} bytes. Windows that stay \
         (*static*) are compared with windows of 1 to {WINDOW} packets that come out of a pool in which {ACTIVE} peers \
         find whole windows (*adaptive*), and with what else could be done about memory: smaller windows that stay. \
         Numbers in parentheses are parts of what the largest static windows have. How adaptive windows work, and why \
         they do not deadlock, is in [internals](../internals/adaptive.md).",
        thousands(u64::from(RANKS)),
        thousands(BYTES as u64),
    )
}

fn memory(flood: &Rows) -> String {
    let mut table = Table::new();
    table.load_preset(presets::ASCII_MARKDOWN);
    table.set_header(["windows", "receive buffers", "Mbyte", "part", "in use at most, 8 peers"]);
    let all = Policy::ALL[0].buffers() as f64;
    let eight = flood.xs.iter().position(|&x| x == u64::from(ACTIVE)).unwrap_or(0);
    for (policy, seen) in Policy::ALL.iter().zip(&flood.seen) {
        let buffers = policy.buffers();
        table.add_row([
            policy.name.to_owned(),
            thousands(buffers as u64),
            format!("{:.1}", (buffers * BYTES) as f64 / 1e6),
            format!("{:.3}", buffers as f64 / all),
            seen[eight].in_use.to_string(),
        ]);
    }
    table.to_string()
}

const FLOOD: &str = "\
## Throughput

Every rank sends 256 packets as fast as it can, one to each of its peers in turn; user Mbyte/s that each rank receives.";
const RUNS: &str = "\
The same, but 8 packets to a peer, as messages are, before it is the next one's turn.

![](adaptive-throughput.svg)";
const PACED: &str = "\
Every rank computes for 30 us before each packet that it sends, and sends 8 to a peer in a row; how long the packet in \
the middle took from its send to the upcall, in us. No NI is full under this load: by the sums of the machine's file a credit is back \
before the next packet to its peer leaves, so that even a window of 1 is open again, and nobody waits. Receivers look between two \
computations only, which hides what is shorter. So this row shows that an open window costs nothing, whatever keeps it open, and tells no \
two policies apart; what waits for credits does so under the loads that follow, which fill queues.";
const WAITING: &str = "\
The same of ranks that send as fast as they can: how long the packet in the middle took, most of that in queues.";
const PING: &str = "\
## Latency

Every rank sends to one peer after the other and waits for each answer; half of the time for that, in us. One packet is under way \
to a peer at a time, for which a window of 1 is enough: what could differ is what the windows' own packets take.

![](adaptive-latency.svg)";
const BURST: &str = "\
## A first burst

Every rank sends so many packets at once to a peer that it has never talked to; until the last of them is there, in us.";
const MOVES: &str = "\
## Other peers

Every rank sends its 256 packets to 8 peers, or to so many sets of 8 peers, one after the other; Mbyte/s. What the \
first peers leave idle has to be asked for.";
const CREDITS: &str = "\
## What it costs

Packets with credits alone, for each packet with data, when all send as fast as they can.";
const RECALLS: &str = "\
Requests for credits and answers to them, for each packet with data, when peers change.";

fn verdict(runs: &Rows, ping: &Rows, paced: &Rows) -> String {
    let eight = u64::from(ACTIVE);
    let memory = Policy::ALL[1].buffers() as f64 / Policy::ALL[0].buffers() as f64;
    let throughput = runs.ratio(eight, |seen| seen.throughput);
    let latency = ping.ratio(eight, |seen| seen.latency_us);
    let loaded = paced.ratio(eight, |seen| seen.latency_us);
    let holds = memory <= 0.1 && throughput >= 0.9 && latency <= 1.05 && loaded <= 1.05;
    format!(
        "## Verdict\n\nWith {ACTIVE} active peers: {:.1} % of the static receive memory, {throughput:.2} of its \
         throughput, {latency:.2} of its latency ({loaded:.2} while all compute and send); a tenth, 0.9 and within 5 % were asked for: {}.\n\n{VERDICT}\n",
        memory * 100.0,
        if holds { "**met**" } else { "**not met**" },
    )
}

const VERDICT: &str = "\
Adaptive windows do what they are for: receive memory follows the peers that a rank has, and once a window is open it is as good as one \
that was never closed. **Static stays the default** all the same:

- Nearly as much memory is saved by smaller windows that stay. On this machine four packets keep a link busy (thesis fig. 8.2): windows of 4 \
take an eighth of the buffers, and next to nothing here is slower with them. Round-robin traffic to many peers hardly needs more than one.
- A window opens while packets wait. A first burst of a few packets is slower, and ranks that leave their peers after a few packets get no more \
out of adaptive windows than out of windows of 1: what they are given comes too late.
- When more peers are active than the pool is made for, what is left is little more than the floor.
- It is two kinds of packets and a bit more, and a proof that takes a page where static windows have a line. careful-protocols 8 expected that.

They are the better choice where even small static windows are too much: thousands of ranks with long packets, each of which talks to few \
others, and for long. With 10,000 ranks and packets of 8 Kbyte, windows of 4 take 328 Mbyte of each NI, and a floor of 1 with this pool 84.";
