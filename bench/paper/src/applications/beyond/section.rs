//! The page's section about more ranks.

use super::{Beyond, Line, RANKS, WAYS};
use crate::plot::{Plot, Scale};
use crate::regions::table;
use comfy_table::Table;
use weft_app_common::thousands;
use weft_bench::suite::Application;

/// Heading of the section.
pub const HEADING: &str = "## On 256 and 1,024 ranks";

impl Beyond {
    /// The section, with its heading.
    pub fn section(&self) -> String {
        format!(
            "{HEADING}\n\n{WHAT}\n\n{}\n\n![](applications-ranks.svg)\n\n### What each protocol stops at\n\n{WHY}\n\n{}\n",
            self.speedups(),
            self.counters(),
        )
    }

    /// Picture of speed-ups under the default protocol, by ranks.
    pub fn plot(&self) -> Plot {
        let axes = (("ranks", Scale::Logarithmic), ("speed-up, nrx-imc", Scale::Logarithmic));
        let mut plot = Plot::new("applications-ranks", "Speed-ups by ranks", axes.0, axes.1);
        for application in Application::ALL {
            let points: Vec<(f64, f64)> = RANKS
                .iter()
                .filter_map(|&ranks| self.line(application, ranks, WAYS[0].0))
                .map(|line| (f64::from(line.ranks), line.speedup()))
                .collect();
            if !points.is_empty() {
                plot.line(application.title(), points);
            }
        }
        plot
    }

    fn line(&self, application: Application, ranks: u16, protocol: &str) -> Option<&Line> {
        let is = |line: &&Line| {
            line.application == application.name()
                && line.ranks == ranks
                && line.protocol == protocol
        };
        self.lines.iter().find(is)
    }

    fn speedups(&self) -> Table {
        let mut table = table(["application", "T1", "ranks"].into_iter().chain(Self::protocols()));
        for application in Application::ALL {
            for ranks in RANKS {
                let seen = WAYS.map(|(name, ..)| self.line(application, ranks, name));
                let Some(one) = seen.iter().flatten().next().map(|line| line.one) else { continue };
                let speedups = seen.map(|line| {
                    line.map_or("-".to_owned(), |line| {
                        format!("{:.1} ({:.4} s)", line.speedup(), line.seconds)
                    })
                });
                let first =
                    [application.title().into(), format!("{one:.2} s"), thousands(ranks.into())];
                table.add_row(first.into_iter().chain(speedups));
            }
        }
        table
    }

    fn counters(&self) -> Table {
        let mut table = table([
            "application",
            "ranks",
            "protocol",
            "computing",
            "host",
            "busiest host",
            "NI",
            "busiest NI",
            "data packets",
            "acks, credits",
            "interrupts",
            "waits",
            "sent again",
            "no buffer",
        ]);
        for line in &self.lines {
            let percent = |part: f64| format!("{part:.0} %");
            let title = line.application.parse().map(Application::title);
            table.add_row([
                title.unwrap_or_default().to_owned(),
                thousands(line.ranks.into()),
                line.protocol.clone(),
                percent(line.computing),
                percent(line.host),
                percent(line.busiest_host),
                percent(line.ni),
                percent(line.busiest_ni),
                thousands(line.data),
                thousands(line.acknowledgements),
                thousands(line.interrupts),
                thousands(line.blocked),
                thousands(line.retransmissions),
                thousands(line.no_buffer),
            ]);
        }
        table
    }
}

impl Line {
    fn speedup(&self) -> f64 {
        self.one / self.seconds
    }
}

const WHAT: &str = "\
By `make study-ranks` (`weft-paper --beyond`): the machine and settings of above, with four protocols. Each run checks its result. Problems are those of table 8.6, so that a rank has less and less to do, \
less of them where the rest is more of the same: Awari 11 stones, Barnes one step, LEQ 6 iterations of 1,024 equations, Puzzle up to 52 moves, SOR 10 iterations. T1 is one rank's time of that problem, with the same time of an operation as above.\n\n\
Receive buffers of an NI: `nrx-imc` has 8 for each peer, 504, 2,040 and 8,184 for 64, 256 and 1,024 ranks; `adaptive` is `nrx-imc` whose windows follow demand, one buffer for each peer and 448 for who needs more: 511, 703 and 1,471. \
`hrx-hmc` and `pupa` have 384 in common, whatever the ranks, and `pupa` one to four more for each peer.\n\n\
A dash was not run. On 1,024 ranks a run takes from 20 s to 14 minutes on one core, and all but Awari have two protocols there; Awari has one, which took 47 minutes beside other work and 5 GB. \
`weft-paper --beyond fft --ranks 1024 --protocols pupa` runs one of them. \
All figures: [applications-beyond.csv](applications-beyond.csv).\n\n\
Speed-ups, and times:";
const WHY: &str = "\
Parts are percents of all ranks' time, as above; *busiest* is the rank that had most data packets, by these only. A host is charged here for each copy of a multicast, also where its NI makes them, so that its part is too large for LEQ, ASP and QR under `imc`. \
*Sent again* and *no buffer* count the whole run, also while rank 0 checks the result (as the 1.8 million of `pupa` on SOR: its data packets of the phase are as many as elsewhere); all else is of the parallel phase.\n\n\
- **LEQ stops first, under all**, between 64 and 256 ranks: everybody sends to everybody, so packets become 16 times as many (24,402 and 392,191) while a rank computes a quarter. At 256 NIs are busy for 51 % of the time under `nrx-imc`, hosts for 65 % under `hrx-hmc`, and computing is 3 %. No protocol mends that.\n\
- **SOR stops between 256 and 1,024**: of a rank's 9.3 ms an iteration 0.7 are computing. One host is busy for 74 % of the time where the mean is 14 %: it is rank 0, to which each of the other 1,023 sends a packet for the test of convergence, 6 us of a host each. The program stops there, not the protocol; a reduction along a tree would mend it.\n\
- **What 1,023 packets at once need is memory.** There `hrx-hmc` finds no buffer for 86,164 packets and sends 104,167 again: 0.161 s for 0.093 s of `nrx-imc`, whose NI has 8,184 buffers. On 256 ranks 272 found none, on 64 none did.\n\
- **Windows that follow demand save that memory and cost packets.** A pair has one credit, and half of one is one: each packet is answered by a credit of its own (Barnes on 256: 3.6 million for 67,535; Radix 1.7 million for 33,842), and NIs are busy for more of a longer time (Awari on 64: 18 for 12 %, Radix on 256: 40 for 33 %). On 64 ranks nothing is saved, for which ASP, Awari, FFT and SOR pay 1 % or less, QR and Puzzle up to 3, \
Barnes 10, LEQ 12 and Radix 13 %; on 256 a third of the buffers costs Awari 1 %, and others from 7 % (FFT) to 25 % (LEQ, Barnes); on 1,024 less than a fifth of them costs QR 16 %, LEQ and FFT 19, Radix 21, SOR and ASP 23, and Barnes and Puzzle 40.\n\
- **`hrx-hmc` pays by host**, and the more the fewer operations there are between packets: it takes 18 % longer for ASP on 64 ranks and 36 on 256, 25 and 48 for QR, 7 and 20 for FFT, 7 and 15 for Barnes. QR on 256 is what forwarding by hosts is worst for: the same packets, and hosts that are busy for 16 % of the time and compute for 11. The rest is waiting, for who forwards among others.\n\
- **`pupa` is within 2 % of `nrx-imc` for ASP, SOR and Puzzle on 64 ranks, and the worst on 256 where a rank has many peers.** It acknowledges when it is asked, and is asked when its 256 send buffers, for all peers together, run short: for LEQ, FFT and Puzzle-4 on 256 ranks that is more than an acknowledgement for each packet (537,099, 526,950 and 5.3 million), \
and 102,228 (Radix) to 1.6 million (Puzzle-4) packets are sent again, though none was lost and none found no buffer: time-outs came before the answers. FFT gains 9 % from four times the ranks, Radix nothing, Barnes loses a quarter; Awari has 33.5 where `nrx-imc` has 42.2, with 10.5 million acknowledgements for 8.2 million data packets, and 1.5 million sent again. On 1,024 it takes Barnes 3.2 times as long as `nrx-imc`, LEQ 2.2 times, and ASP 1.16 times. Send buffers have to grow with the peers, as careful receive buffers do.\n\
- **Past 256 ranks Awari alone gains**, 58 for 42; QR stays where it was (77 for 76), Barnes has 30 for 40, FFT 38 for 89, Radix 8 for 14, LEQ 3.5 for 14. What is to be done is that of 64 ranks, and what they say to one another grows: FFT and LEQ have 16 times the packets of 256 ranks, Radix 8 times, QR 4 and Barnes 3. \
FFT keeps its NIs busy for 59 % of the time, and LEQ its hosts for 67.\n\
- **Roundtrips scale until ranks wait for each other**: of Barnes's time on 256 ranks computing and packets are 15 and 11 %, of Radix's 6 and 33 %. The rest is waiting for answers, under whichever protocol.\n\
- **ASP does best**: 240 on 256 ranks under `nrx-imc`, with its rows in the caches, and its NIs are busy for a third of the time. Its sender runs ahead, so that nobody waits for a round trip. On 1,024 it is 216: a rank has one row, and 13 % of its time are computing; windows that follow demand wait 1.9 million times there, where whole ones wait twice.\n\
- **Puzzle stops between 256 and 1,024**: 4.8 million positions are 4,700 a rank, 37 ms of its 307. Puzzle-4 has 124 on 1,024 ranks where it has 138 on 256, Puzzle-64 116 and 137. One host is busy for 61 % of the time with packets where the mean is 6 to 10 %, and one NI for 80 % where the mean is 8 to 13 %; windows that follow demand take 40 % longer, with 15 times the acknowledgements for Puzzle-4.";
