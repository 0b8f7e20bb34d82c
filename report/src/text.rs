//! Findings for a terminal.

use crate::analysis::Findings;
use crate::analysis::balance::RankTime;
use crate::analysis::sampled::Sampled;
use crate::units;
use std::fmt::Write;
use weft_trace::event::COUNTERS;

/// Ranks that are listed; of more, the first, and those that compute longest.
const RANKS: usize = 12;
/// Columns of a bar.
const BAR: u64 = 24;
/// Rows of each other list at most.
const ROWS: usize = 6;
/// Ranks of the largest matrix that is printed.
const MATRIX: u32 = 8;
/// Longest text of a name or a wait.
const NAME: usize = 40;

/// Lines of the whole: a screen or two.
const LINES: usize = 60;

/// The findings, in at most about 60 lines: lists have as many rows as that leaves room for.
pub fn text(findings: &Findings) -> String {
    let mut rows = ROWS;
    loop {
        let mut out = Lines { text: String::new(), rows };
        // Writing to a string never fails.
        let _ = write_all(findings, &mut out);
        if rows == 1 || out.text.lines().count() <= LINES {
            return out.text;
        }
        rows -= 1;
    }
}

/// A text that is written.
struct Lines {
    text: String,
    /// Rows of each list but that of ranks.
    rows: usize,
}

impl Write for Lines {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        self.text.write_str(text)
    }
}

fn write_all(findings: &Findings, out: &mut Lines) -> std::fmt::Result {
    head(findings, out)?;
    time(findings, out)?;
    spans(findings, out)?;
    handlers(findings, out)?;
    waits(findings, out)?;
    match &findings.sampled {
        Some(sampled) => counters(sampled, out)?,
        None => {
            path(findings, out)?;
            traffic(findings, out)?;
        }
    }
    beside_packets(findings, out)?;
    clocks(findings, out)
}

fn head(findings: &Findings, out: &mut Lines) -> std::fmt::Result {
    let Findings { program, ranks, duration_ns, events, .. } = findings;
    findings.verdict.iter().try_for_each(|sentence| writeln!(out, "{sentence}"))?;
    let simulated = if findings.is_simulated { ", simulated" } else { "" };
    writeln!(out)?;
    writeln!(
        out,
        "{}: {}, {}, {}{simulated}",
        shorten(program),
        units::count(u64::from(*ranks), "rank"),
        units::time(*duration_ns),
        units::count(*events, "event")
    )?;
    if let Some(sampled) = &findings.sampled {
        writeln!(
            out,
            "sampled, not traced: {} a second asked for, {} at each rank made, at most {} apart\n\
             no single messages, arrows, spans, handlers or critical path; what a rank does until it \
             sleeps in a wait counts as computing",
            units::count(sampled.looks_per_second.into(), "look"),
            units::thousands(sampled.looks),
            units::time(sampled.longest_gap_ns)
        )?;
    }
    if findings.lost_events > 0 {
        let lost = units::count(findings.lost_events, "event");
        writeln!(out, "{lost} lost: what follows has holes")?;
    }
    if findings.is_cut {
        writeln!(out, "the file ends before its time: the end of the run is missing")?;
    }
    Ok(())
}

fn time(findings: &Findings, out: &mut Lines) -> std::fmt::Result {
    writeln!(out, "\nTime per rank  (# computing, h handlers, - waiting, . asleep, ? lost)")?;
    let mut listed: Vec<&RankTime> = findings.time.iter().collect();
    if listed.len() > RANKS {
        listed.sort_by_key(|of| std::cmp::Reverse(of.computing_ns));
        listed.truncate(RANKS);
        listed.sort_by_key(|of| of.rank);
    }
    for of in &listed {
        writeln!(
            out,
            "  {:>5} {} {:>6} computing, {:>6} waiting{}",
            of.rank,
            bar(of),
            units::percent(of.computing_ns, of.total()),
            units::percent(of.idle(), of.total()),
            whom(of, findings.nobody())
        )?;
    }
    if findings.time.len() > listed.len() {
        writeln!(out, "  the {} that compute longest, of {}", listed.len(), findings.ranks)?;
    }
    let balance = &findings.balance;
    writeln!(
        out,
        "  computing, max / mean: {:.2} (rank {})",
        balance.max_over_mean, balance.most_loaded
    )?;
    blame(findings, out)
}

fn blame(findings: &Findings, out: &mut Lines) -> std::fmt::Result {
    let total = findings.blame.iter().map(|of| of.in_the_end_ns).sum();
    let most = findings.blame.iter().take(3).map(|of| {
        let whom = of.rank.map_or_else(|| findings.nobody().into(), |rank| format!("rank {rank}"));
        format!("{whom} ({})", units::percent(of.in_the_end_ns, total))
    });
    let most: Vec<_> = most.collect();
    if most.is_empty() {
        return Ok(());
    }
    writeln!(out, "  waited for in the end: {}", most.join(", "))
}

fn bar(of: &RankTime) -> String {
    let parts = [
        ('#', of.computing_ns),
        ('h', of.handler_ns),
        ('-', of.waiting_ns),
        ('.', of.asleep_ns),
        ('?', of.lost_ns),
    ];
    let total = of.total().max(1);
    let (mut bar, mut sum) = (String::new(), 0);
    for (char, time) in parts {
        sum += time;
        let until = (sum * BAR + total / 2) / total;
        bar.extend(std::iter::repeat_n(char, (until as usize).saturating_sub(bar.len())));
    }
    format!("{bar:width$}", width = BAR as usize)
}

fn whom(of: &RankTime, nobody: &str) -> String {
    match of.waits_for.first() {
        Some(most) if most.ns * 50 >= of.total() => {
            let whom = most.rank.map_or_else(|| nobody.into(), |rank| format!("rank {rank}"));
            format!(", most for {whom} ({})", units::percent(most.ns, of.total()))
        }
        _ => String::new(),
    }
}

fn spans(findings: &Findings, out: &mut Lines) -> std::fmt::Result {
    let named = findings.spans.iter().filter(|row| row.name.is_some());
    let named: Vec<_> = named.take(out.rows).collect();
    if named.is_empty() {
        return Ok(());
    }
    writeln!(out, "\nSpans")?;
    for row in named {
        writeln!(
            out,
            "  {:<24} {:>9} x {:>9} computing {:>9} waiting, most at rank {}",
            shorten(row.name.as_deref().unwrap_or_default()),
            units::thousands(row.count),
            units::time(row.computing_ns),
            units::time(row.idle_ns),
            row.most_rank
        )?;
    }
    Ok(())
}

fn handlers(findings: &Findings, out: &mut Lines) -> std::fmt::Result {
    if findings.handlers.is_empty() {
        return Ok(());
    }
    writeln!(out, "\nHandlers")?;
    for row in findings.handlers.iter().take(out.rows) {
        let port = shorten(&row.port);
        if row.runs > 0 || row.ns > 0 {
            let (runs, took) = (units::thousands(row.runs), units::time(row.ns));
            writeln!(out, "  {port:<24} {runs:>9} x {took:>9}")?;
        }
        if row.popups > 0 {
            let (runs, took) = (units::thousands(row.popups), units::time(row.popup_ns));
            writeln!(out, "  {port:<24} {runs:>9} x {took:>9} in threads of their own")?;
        }
    }
    Ok(())
}

/// Ordered broadcasts, and copies that no packet tells of.
fn beside_packets(findings: &Findings, out: &mut Lines) -> std::fmt::Result {
    for row in findings.orders.iter().take(out.rows) {
        writeln!(
            out,
            "  order '{}': {}, handed over {} times; {} to all ranks, at most {} (number {}, rank {})",
            shorten(&row.order),
            units::count(row.submitted, "broadcast"),
            units::thousands(row.delivered),
            units::time(row.mean_ns),
            units::time(row.longest_ns),
            row.longest_number,
            row.longest_rank
        )?;
    }
    for row in findings.copies.iter().take(out.rows) {
        writeln!(
            out,
            "  rank {} in memory of rank {}, without packets: {}, {}; {}, {}",
            row.rank,
            row.other,
            units::count(row.puts, "put"),
            units::bytes(row.put_bytes),
            units::count(row.gets, "get"),
            units::bytes(row.got_bytes)
        )?;
    }
    Ok(())
}

fn waits(findings: &Findings, out: &mut Lines) -> std::fmt::Result {
    if findings.slowest_waits.is_empty() {
        return Ok(());
    }
    writeln!(out, "\nSlowest waits")?;
    for wait in findings.slowest_waits.iter().take(out.rows) {
        let text =
            wait.text.as_deref().map_or_else(String::new, |text| format!(" for {}", shorten(text)));
        writeln!(
            out,
            "  {:>9}  rank {}{} at {}{text},",
            units::time(wait.idle_ns),
            wait.rank,
            wait.place(),
            units::time(wait.begin_ns)
        )?;
        writeln!(out, "{:13}{}", "", wait.end(findings.nobody()))?;
    }
    Ok(())
}

fn path(findings: &Findings, out: &mut Lines) -> std::fmt::Result {
    let path = &findings.critical_path;
    let share = |ns| units::percent(ns, path.total_ns);
    writeln!(
        out,
        "\nCritical path  {}: {} computing, {} handlers, {} packets under way, {} waking, {} waiting",
        units::time(path.total_ns),
        share(path.computing_ns),
        share(path.handler_ns),
        share(path.flight_ns),
        share(path.waking_ns),
        share(path.waiting_ns)
    )?;
    writeln!(out, "  {}", path.advice)
}

fn traffic(findings: &Findings, out: &mut Lines) -> std::fmt::Result {
    let traffic = &findings.traffic;
    let (packets, bytes) = traffic.data();
    writeln!(
        out,
        "\nCommunication  {}, {}; {}; {} of all seen at both ends",
        units::count(packets, "data packet"),
        units::bytes(bytes),
        units::count(traffic.control_packets(), "control packet"),
        units::thousands(findings.matching.matched)
    )?;
    for system in traffic.systems.iter().filter(|system| system.data_packets > 0).take(out.rows) {
        writeln!(
            out,
            "  {:<12} {:>12}  {:>9}",
            system.name,
            units::count(system.data_packets, "packet"),
            units::bytes(system.data_bytes)
        )?;
    }
    if findings.ranks <= MATRIX { matrix(findings, out) } else { pairs(findings, out) }
}

/// Counters of the ranks that sent most.
fn counters(sampled: &Sampled, out: &mut Lines) -> std::fmt::Result {
    writeln!(
        out,
        "\nCounters  {}, {}; to whom, they do not say",
        units::count(sampled.sum("packets_sent"), "data packet"),
        units::bytes(sampled.sum("bytes_sent"))
    )?;
    writeln!(
        out,
        "   rank      sent  received bytes out  bytes in   blocked     again     intr.    sleeps"
    )?;
    let mut listed: Vec<_> = sampled.counters.iter().collect();
    listed.sort_by_key(|row| std::cmp::Reverse(row.counters["packets_sent"]));
    listed.truncate(RANKS);
    listed.sort_by_key(|row| row.rank);
    for row in listed {
        write!(out, "  {:>5}", row.rank)?;
        for name in COUNTERS {
            let count = row.counters[name];
            let said = match name.starts_with("bytes") {
                true => units::bytes(count),
                false => units::thousands(count),
            };
            write!(out, "{said:>10}")?;
        }
        writeln!(out)?;
    }
    Ok(())
}

fn matrix(findings: &Findings, out: &mut Lines) -> std::fmt::Result {
    let head: String = (0..findings.ranks).map(|rank| format!("{rank:>9}")).collect();
    writeln!(out, "  from\\to{}", head.get(2..).unwrap_or_default())?;
    for from in 0..findings.ranks {
        write!(out, "  {from:>5}")?;
        for to in 0..findings.ranks {
            let cell =
                findings.traffic.matrix.iter().find(|cell| (cell.from, cell.to) == (from, to));
            let packets = cell.map_or(0, |cell| cell.data_packets);
            let said = if packets == 0 { "-".into() } else { units::thousands(packets) };
            write!(out, "{said:>9}")?;
        }
        writeln!(out)?;
    }
    Ok(())
}

fn pairs(findings: &Findings, out: &mut Lines) -> std::fmt::Result {
    let mut pairs: Vec<_> = findings.traffic.matrix.iter().collect();
    pairs.sort_by_key(|cell| std::cmp::Reverse(cell.data_bytes));
    for cell in pairs.iter().take(out.rows) {
        writeln!(
            out,
            "  rank {} to rank {}: {}, {}",
            cell.from,
            cell.to,
            units::count(cell.data_packets, "data packet"),
            units::bytes(cell.data_bytes)
        )?;
    }
    Ok(())
}

fn clocks(findings: &Findings, out: &mut Lines) -> std::fmt::Result {
    let others = findings.clocks.iter().skip(1);
    for of in others.take(out.rows) {
        let uncertain =
            of.clock.uncertainty_ns.map_or("an unknown time".into(), |ns| units::time(ns as u64));
        writeln!(
            out,
            "  the clock of {} is right within {uncertain}, and drifts by {:.2} ppm",
            of.host,
            of.clock.drift * 1e6
        )?;
    }
    Ok(())
}

/// The beginning of a text.
fn shorten(text: &str) -> String {
    if text.chars().count() <= NAME {
        return text.to_owned();
    }
    text.chars().take(NAME - 3).chain("...".chars()).collect()
}

#[cfg(test)]
mod tests;
