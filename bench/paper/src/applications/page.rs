//! The page about applications.

use super::choices;
use super::judge::{CLASSES, Row, number, rows, sign, slowdown, speedup};
use super::model::{Model, PRESETS, Variation};
use super::observe::Kind;
use super::parts::Parts;
use super::run::Cell;
use super::study::Study;
use crate::Targets;
use crate::plot::{Plot, Scale};
use crate::regions::table;
use crate::report::PageFile;
use anyhow::Result;
use comfy_table::Table;
use weft_app_common::thousands;
use weft_bench::suite::Application;
use weft_simulator::Preset;

/// The files that [`pages`] gives.
pub const PAGES: [&str; 3] =
    ["applications.md", "applications-times.svg", "applications-packets.svg"];

/// The page about a study.
///
/// # Errors
/// Something was not run.
pub fn pages(study: &Study) -> Result<Vec<PageFile>> {
    let targets = Targets::read()?;
    let rows = rows(study, &targets)?;
    let text = format!(
        "# Applications\n\n{INTRODUCTION}\n\n## In one page\n\n{}\n\n## Three classes then, and today\n\n{TODAY}\n\n## What is assumed\n\n{ASSUMED}\n\n{}\n\n\
         ## Chosen after a look\n\n{}\n\n\
         ## Speed-ups (table 8.6)\n\n{SPEEDUPS}\n\n{}\n\n{}\n\n\
         ## Positions in a table (8.4.1)\n\n{}\n\n\
         ## Times under all presets (figure 8.9)\n\n{TIMES}\n\n{}\n\n![]({})\n\n\
         ## Classes (table 8.7)\n\n{SIGNS}\n\n{}\n\n\
         ## Broadcasts by messages (figure 8.7)\n\n{BROADCASTS}\n\n{}\n\n\
         ## Packets (figure 8.8)\n\n{PACKETS}\n\n{}\n\n![]({})\n\n\
         ## Where the time goes\n\n{WHERE}\n\n{}\n\n\
         ## What did not come out\n\n{MISSES}\n\n## Row by row\n\n{}\n\n{}\n",
        conclusion(study, &rows, &targets)?,
        models(study, &targets)?,
        choices::changed(study, &rows, &targets)?,
        speedups(study, &targets)?,
        choices::bias(study, &targets)?,
        choices::tables(study, &targets)?,
        times(study)?,
        PAGES[1],
        signs(study, &targets)?,
        broadcasts(study, &targets)?,
        packets(study)?,
        PAGES[2],
        breakdown(study, &targets)?,
        hits(&rows, &targets),
        judged(&rows, &targets),
    );
    let plots = [times_plot(study)?, packets_plot(study)?];
    let pictures = PAGES[1..].iter().zip(plots).map(|(name, plot)| ((*name).into(), plot.svg()));
    Ok([(PAGES[0].into(), text)].into_iter().chain(pictures).collect())
}

fn models(study: &Study, targets: &Targets) -> Result<Table> {
    let mut table =
        table(["application", "words", "one processor", "an operation", "in the cache"]);
    for application in study.applications() {
        let operation_ns = study.operation_ns(application)?;
        let cell = Cell::new(application, study.extent.ranks, Preset::NrxImc);
        let model = Model::new(application, study.extent.problem, targets)?;
        let cached = model.cached_ns(operation_ns, study.extent.ranks)?;
        let cached = match cached == operation_ns {
            true => "-".to_owned(),
            false => format!("{cached:.1} ns"),
        };
        table.add_row([
            application.title().to_owned(),
            format!("`{}`", model.words(&cell).join(" ")),
            format!("{} s", model.one),
            format!("{operation_ns:.1} ns"),
            cached,
        ]);
    }
    Ok(table)
}

fn speedups(study: &Study, targets: &Targets) -> Result<Table> {
    let mut table = table([
        "application",
        "T1",
        "T64",
        "speed-up",
        "table 8.6",
        "off",
        "efficiency",
        "table 8.6",
    ]);
    for application in study.applications() {
        let measured = speedup(study, application, targets)?;
        let printed = |what: &str| number(targets, &format!("T8.6-{application}-{what}"));
        let paper = printed("S64")?;
        table.add_row([
            application.title().to_owned(),
            format!("{} s", printed("T1")?),
            format!("{:.3} s", study.seconds(application, Preset::NrxImc)?),
            format!("{measured:.2}"),
            format!("{paper:.2}"),
            format!("{:+.0} %", 100.0 * (measured / paper - 1.0)),
            format!("{:.2}", measured / f64::from(study.extent.ranks)),
            format!("{:.2}", printed("E64")?),
        ]);
    }
    Ok(table)
}

fn times(study: &Study) -> Result<Table> {
    let names = PRESETS.map(|preset| preset.to_string());
    let mut table = table(["application".to_owned()].into_iter().chain(names));
    for application in study.applications() {
        let relative = PRESETS
            .iter()
            .map(|preset| Ok(format!("{:.3}", 1.0 + study.slower(application, *preset)? / 100.0)));
        let relative = relative.collect::<Result<Vec<_>>>()?;
        table.add_row([application.title().to_owned()].into_iter().chain(relative));
    }
    Ok(table)
}

fn times_plot(study: &Study) -> Result<Plot> {
    let axes = (
        ("application, in the table's order", Scale::Linear),
        ("time / that of nrx-imc", Scale::Linear),
    );
    let mut plot =
        Plot::new("applications-times", "Times of applications (figure 8.9)", axes.0, axes.1);
    for preset in PRESETS {
        let point = |(place, one)| Ok((place as f64, 1.0 + study.slower(one, preset)? / 100.0));
        let points = study.applications().enumerate().map(|(place, one)| point((place + 1, one)));
        plot.line(preset.to_string(), points.collect::<Result<_>>()?);
    }
    Ok(plot)
}

fn signs(study: &Study, targets: &Targets) -> Result<Table> {
    let names = PRESETS.map(|preset| preset.to_string());
    let mut table = table(["class".to_owned()].into_iter().chain(names));
    for class in &CLASSES {
        let signs = PRESETS.iter().map(|preset| {
            let slower = slowdown(study, class, *preset)?;
            let id = format!("T8.7-{}-{}", class.name, preset.to_string().replace('-', ""));
            let paper = targets.get(&id).map_or("not there", |target| target.value.as_str());
            Ok(format!("{} ({slower:+.1} %; thesis {paper})", sign(slower)))
        });
        let titles: Vec<&str> = class.applications.iter().map(|one| one.title()).collect();
        let first = format!("{}: {}", class.name, titles.join(", "));
        table.add_row([first].into_iter().chain(signs.collect::<Result<Vec<_>>>()?));
    }
    Ok(table)
}

fn broadcasts(study: &Study, targets: &Targets) -> Result<Table> {
    let mut table = table(["application", "native", "tree of messages", "slower", "thesis"]);
    for application in [Application::Asp, Application::Qr] {
        let native = study.seconds(application, Preset::NrxImc)?;
        let tree = study.seen(application, Preset::NrxImc, Variation::Tree)?.seconds;
        let paper = number(targets, &format!("S8.4.1-{application}"))?;
        table.add_row([
            application.title().to_owned(),
            format!("{native:.3} s"),
            format!("{tree:.3} s"),
            format!("{:.0} %", 100.0 * (tree / native - 1.0)),
            format!("{paper:.0} %"),
        ]);
    }
    Ok(table)
}

fn packets(study: &Study) -> Result<Table> {
    let names = ["unicast", "multicast", "acknowledgements", "synchronization"];
    let mut table = table(["application"].into_iter().chain(names));
    for application in study.applications() {
        let seen = study.seen(application, Preset::NrxImc, Variation::Usual)?;
        let rates = Kind::ALL.iter().map(|kind| {
            let (packets, bytes) = seen.rate(*kind, study.extent.ranks);
            format!("{packets:.0}, {:.3} Mbyte", bytes / 1e6)
        });
        table.add_row([application.title().to_owned()].into_iter().chain(rates));
    }
    Ok(table)
}

fn packets_plot(study: &Study) -> Result<Plot> {
    let axes = (
        ("application, in the table's order", Scale::Linear),
        ("packets a second and rank", Scale::Linear),
    );
    let mut plot =
        Plot::new("applications-packets", "Packets received (figure 8.8)", axes.0, axes.1);
    for kind in Kind::ALL {
        let mut points = Vec::new();
        for (place, application) in study.applications().enumerate() {
            let seen = study.seen(application, Preset::NrxImc, Variation::Usual)?;
            points.push((place as f64 + 1.0, seen.rate(kind, study.extent.ranks).0));
        }
        plot.line(format!("{kind:?}").to_lowercase(), points);
    }
    Ok(plot)
}

fn breakdown(study: &Study, targets: &Targets) -> Result<Table> {
    let mut table = table([
        "application",
        "preset",
        "computing",
        "host, for packets",
        "NI",
        "bus",
        "waits of the window",
        "interrupts",
        "acknowledgements",
    ]);
    for application in study.applications() {
        for preset in PRESETS {
            let seen = study.seen(application, preset, Variation::Usual)?;
            let operation_ns = study.operation_ns(application)?;
            let model = Model::new(application, study.extent.problem, targets)?;
            let cell = Cell::new(application, study.extent.ranks, preset);
            let parts = Parts::of(&cell, &model, seen, model.one, operation_ns)?;
            table.add_row([
                application.title().to_owned(),
                preset.to_string(),
                format!("{:.0} %", parts.computing),
                format!("{:.0} %", parts.host),
                format!("{:.0} %", parts.ni),
                format!("{:.0} %", parts.bus),
                thousands(seen.traffic.blocked_sends),
                thousands(seen.traffic.interrupts),
                thousands(seen.acknowledgements()),
            ]);
        }
    }
    Ok(table)
}

/// Parts of the rows that are asked that came out.
fn hits(rows: &[Row], targets: &Targets) -> String {
    let is_asked = |row: &&Row| targets.get(&row.id).is_some_and(|one| one.role.is_asked());
    let asked: Vec<&Row> = rows.iter().filter(is_asked).collect();
    let of = |kind: &str, take: &dyn Fn(&Row) -> bool| {
        let all = asked.iter().filter(|row| take(row)).count();
        let hits = asked.iter().filter(|row| take(row) && row.holds).count();
        format!("{kind} {hits} of {all}")
    };
    let speedup = |row: &Row| row.id.starts_with("T8.6") && row.id.ends_with("S64");
    format!(
        "Came out: {}; {}; {}; {}. Not asked, because an input was chosen after a look at them: {}.",
        of("of all rows", &|_| true),
        of("speed-ups within 25 %", &speedup),
        of("signs of table 8.7", &|row| row.id.starts_with("T8.7")),
        of("orders", &|row| row.id.ends_with("-order")),
        rows.len() - asked.len(),
    )
}

fn judged(rows: &[Row], targets: &Targets) -> Table {
    let mut table = table(["row", "what", "thesis", "measured", "verdict"]);
    for row in rows {
        let target = targets.get(&row.id);
        let what = target.map_or("", |target| target.what.as_str());
        let says = choices::says(row, targets);
        let verdict = row.verdict(targets).to_string();
        table.add_row([row.id.as_str(), what, &says, &row.measured, &verdict]);
    }
    table
}

fn conclusion(study: &Study, rows: &[Row], targets: &Targets) -> Result<String> {
    let of = |class: usize, preset| slowdown(study, &CLASSES[class], preset);
    let hrx_imc = (of(0, Preset::HrxImc)?, of(1, Preset::HrxImc)?, of(2, Preset::HrxImc)?);
    let hrx_hmc = (of(0, Preset::HrxHmc)?, of(1, Preset::HrxHmc)?, of(2, Preset::HrxHmc)?);
    Ok(format!(
        "Where should reliability and multicast live? The thesis found three classes of programs, each of which one cost decides.\n\n\
         - **Roundtrip** (Barnes, Radix, Awari): who asks waits for the answer, so what an NI takes for a packet counts. Without retransmission is best \
         (`nrx-hmc` {:+.1} %), retransmission by the host costs {:+.1} %, by the slow NI {:+.1} %.\n\
         - **Multicast** (ASP, QR): forwarding by hosts takes their time and theirs only when they look: `nrx-hmc` {:+.1} %, `hrx-hmc` {:+.1} %; forwarding by \
         the NI with retransmission there {:+.1} %.\n\
         - **One-way** (Puzzle-4, Puzzle-64): nobody waits, so only what a host takes for a packet counts: `hrx-hmc` {:+.1} %, all others {:+.1} % at most.\n\n\
         `hrx-imc`, which the thesis left out because a forwarding NI would need the host's sequence numbers, gives each multicast tree sequence numbers of its \
         own. It costs {:+.1} % in the first class, {:+.1} % in the second and {:+.1} % in the third, where `hrx-hmc` costs {:+.1}, {:+.1} and {:+.1} %: what the host forwards \
         is saved, what the host acknowledges is not.\n\n{}",
        of(0, Preset::NrxHmc)?,
        hrx_hmc.0,
        of(0, Preset::IrxImc)?,
        of(1, Preset::NrxHmc)?,
        hrx_hmc.1,
        of(1, Preset::IrxImc)?,
        hrx_hmc.2,
        [Preset::NrxHmc, Preset::IrxImc, Preset::IrxHmc]
            .map(|preset| of(2, preset))
            .into_iter()
            .collect::<Result<Vec<_>>>()?
            .into_iter()
            .fold(f64::NEG_INFINITY, f64::max),
        hrx_imc.0,
        hrx_imc.1,
        hrx_imc.2,
        hrx_hmc.0,
        hrx_hmc.1,
        hrx_hmc.2,
        hits(rows, targets),
    ))
}

const INTRODUCTION: &str = "\
The study of the thesis's chapter 8, done again by `make study` (`weft-paper --applications`): its ten applications, written anew in `apps/`, on 64 simulated nodes of its cluster \
(`myrinet-compared`) under its five implementations and `hrx-imc`. Settings are those of 8.5.1: packets of 1 KiB, windows of 8, 4,096 host buffers, interrupts after 70 us, \
timers that tick each 5 ms (a packet is sent again after 8 ticks; an acknowledgement waits 0.5 ms, for which the thesis has no figure but 'small', 8.2.5), 256 send and 384 receive buffers of an NI that retransmits, 128 and 512 of a careful one. Each run computes its result and checks it. Virtual time is a function of the seed. All runs: [applications.csv](applications.csv); `weft-paper --judge` makes this page from it.";
const ASSUMED: &str = "\
**Computing.** Programs declare operations, by the time of which one node takes T1 of table 8.6 (the column *an operation*). So T1 is put in, and all else comes out. Operations are: ASP a way tried through a pivot, \
Awari a board looked at (6) or an update made (2), Barnes, FFT and Radix steps of their kernels, LEQ a product, Puzzle a position made, QR a product or a sum of one element, SOR a point relaxed.\n\n\
**Caches.** ASP, LEQ and QR go through a matrix that does not fit the second-level cache (256 KiB) of one node and does on 64. There an operation takes less by what the memory takes for its bytes (4, 8 and 8): \
18.34 - 5.61 ns for a copied byte that is not in the cache, of three transfers (chapter 5's figures). No other program's part fits.\n\n\
**Systems.** The simulator charges for packets and copies. What CRL, Orca, Panda and MPI take besides is charged once, by table 7.2, here and on the [page about regions](regions.md): each packet what the system loses of the throughput of \
large messages, each message (at its last packet, which is not full) what is left of what the system adds to the latency of a small one. For a small message that is 2.5 us for regions ((28 - 23) / 2), 11 for objects ((46 - 24) / 2), 9 for MPI's messages \
(21 - 12) and 3 for search (15 - 12); for a full packet 1.2, 1.9, 0.8 and 0.5 us. Until now each packet was charged 2.5, 11, 3 and 3, full ones too, and MPI's own 6 us were left out. The [page about objects](objects.md) charges Weft's instructions instead, because there \
they are what is predicted.\n\n\
**Programs.** ASP takes pivots one by one, and polls after each row where hosts forward (8.5.2). Awari has one call under way, as the thesis's has one thread that sends. LEQ does 690 of the 6,906 iterations, \
which are alike, and times are ten times that. Puzzle pushes each position to its owner; the thesis does not say which board it solved: Korf's instance 4 up to 54 moves, some 41 million positions of 7 us, all iterations of which no one finds \
a solution, so that work does not depend on luck. SOR exchanges whole rows of 12 KB in one direction at a time. Messages and collectives poll only; regions and objects take interrupts.";
const TODAY: &str = "\
**Then.** Table 8.7 has three classes, and which of them a program is in decides where reliability and multicast should live: for roundtrips nowhere or in the host, but not in a slow NI; for multicasts forwarding in the NI; for one-way programs anywhere but in the host. FFT, LEQ and SOR are in none.\n\n\
**Our runs give the same three**, but for one thing. `nrx-imc` is best for all but a part of a percent. Forwarding by hosts costs the multicast class, and hardly the others; retransmission by hosts costs all three. What did not come out is that NI-level retransmission is the worst for roundtrips: here it is the host's, for Radix and Awari.\n\n\
**With more ranks classes move** ([measured](#on-256-and-1024-ranks)). At four times the ranks each has a quarter to compute between packets, and a class is what is left: on 256 ranks it is how many peers a rank has, and whether all send at once, that decides, more than who waits for whom. LEQ, in no class then, is the first to stop. \
A new cost has come: state for each peer. Careful windows take 8 buffers a peer, which the thesis's NI has for 64 ranks and no more; windows that follow demand take one, and an answer for each packet; `pupa` and `hrx-hmc` take none, and drop or ask where many send at once.\n\n\
**Today, on Ethernet** ([measured](#on-two-and-on-four-hosts-today)) the network loses packets, and no NI is programmed: reliability lives in the host, and so does forwarding. That is the corner of the table with the most minuses, and hosts are fast enough for it where a packet carries enough work. \
What holds of the classes is what was the host's: a program that pushes work and waits for nobody (Puzzle-4), that runs ahead (ASP) or sends large messages (FFT, QR) gains from a second host; one whose messages are small and waited for (Barnes, Radix) does not. One rank now computes 90 (SOR) to 1,300 (ASP) times as fast as in table 8.6, so that a packet weighs more than it did.\n\n\
For a person who writes a program: on one host take what is natural. Between hosts send few and large messages, run ahead of the receiver where it can be done (ASP alone is nearly as fast as its ranks are many on 256), and look at whether all send at once before looking at protocols.";
const SPEEDUPS: &str = "Under `nrx-imc`.";
const TIMES: &str = "Times divided by those under `nrx-imc`.";
const SIGNS: &str = "\
Mean slowdown of a class. The thesis gives no limits for its signs: here `+` is below 3 %, `--` from 12 % on.";
const BROADCASTS: &str = "\
ASP and QR under `nrx-imc` with broadcasts by messages along a binomial tree, where a rank forwards a message when all of it is there.";
const PACKETS: &str = "\
Packets that a rank receives a second under `nrx-imc`, and their user bytes. A broadcast counts at each receiver. Synchronization is fetch-and-adds.";
const WHERE: &str = "\
Parts of all ranks' time, from what was counted and what the machine takes for it; beside one another, so that they need not add up to 100 %. What is missing to 100 % of computing and host is waiting, and \
failed looks for packets.";
const MISSES: &str = "\
Figures are those of the tables above.\n\
\n\
- *NI-level retransmission is too cheap for Radix and Awari* (orders, signs, 8.6). NIs are busy for 24 to 35 % of Radix's time and 9 to 14 % of Awari's, on the average; hosts are as busy with packets, and there `hrx` adds what shows: 25 to 37 % of Radix's time, 14 to 18 % of Awari's and half as many interrupts again. Barnes has `irx` behind `hrx` as in the thesis, by little. Whether the thesis's NIs met longer bursts is not known.\n\
- *Host-level forwarding has two minuses where the thesis has one*: 14 and 16 % are beyond the limit of 12 % that was chosen beforehand; the order within the class is the thesis's. The thesis itself gives one minus to a 16 % (Puzzle-4) and two to another (Barnes, Radix or Awari).\n\
- *Broadcasts by messages cost ASP more and QR less than MPICH's did.* By the machine's figures a root copies a row of 4 KB to its NI in 53 us for each of six children, which is 0.32 ms of the 0.53 ms that an iteration of ASP takes in all. The reduction of QR is Weft's in both columns; the thesis does not say whether MPICH's changed with the broadcast.\n\
- *Barnes sends 8 times the acknowledgements on `hrx-hmc`, not 31.* How many there are depends on the wait of an acknowledgement, of which the thesis has no figure: with 5 ms instead of 0.5 they are 3 times as many.\n\
- *FFT's careful runs acknowledge one packet of five*: a block is three packets in one direction, and half a window is four. *With a longer wait* there are no delayed acknowledgements left, and half as many of all; why nothing is gained by it was not measured.\n\
- *SOR by pairs* is no faster on `hrx-hmc`: its sends wait for the window 79,000 times where those of `nrx-imc`, by the NI, do 53,000 times, and 13 packets are more than a window in any order. The thesis does not say how it changed the exchange.\n\
- *Eight applications reach 50 %, not seven*: LEQ has 0.56 for 0.47. Its broadcasts cost hosts half of its time, of which 11 us a message are Orca's; they are table 7.2's for remote operations, and those of a broadcast may be more.";
