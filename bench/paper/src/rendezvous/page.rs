//! The page: `docs/paper/rendezvous.md`, and its figures.

use super::{SENDERS, Seen, run};
use crate::plot::{Plot, Scale};
use crate::report::PageFile;
use anyhow::Result;
use comfy_table::{Table, presets};
use weft_app_common::thousands;

/// The files that [`pages`] gives.
pub const PAGES: [&str; 3] = ["rendezvous.md", "rendezvous-latency.svg", "rendezvous-unread.svg"];

/// Bytes of messages; NX/2 asked from a hundred on (careful-protocols 3).
const SIZES: [usize; 8] = [128, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20];

/// Largest ratio of latencies at which a rendezvous is called cheap.
const CHEAP: f64 = 1.05;

/// One size: at once, and asking first.
struct Row {
    size: usize,
    eager: Seen,
    asked: Seen,
}

/// Measures everything, and returns the page and its figures.
///
/// # Errors
/// What a rank or the simulator says.
pub fn pages() -> Result<Vec<PageFile>> {
    let row = |&size: &usize| {
        Ok::<_, anyhow::Error>(Row { size, eager: run(size, false)?, asked: run(size, true)? })
    };
    let rows: Vec<Row> = SIZES.iter().map(row).collect::<Result<_>>()?;
    let plots = [
        plot((PAGES[1], "One-way latency of messages"), "us", &rows, |seen| seen.latency_us),
        plot((PAGES[2], "Memory of what nobody reads"), "KiB", &rows, |seen| {
            seen.unread_bytes / 1024.0
        }),
    ];
    let drawn = plots.map(|plot| (format!("{}.svg", plot.name), plot.svg()));
    Ok([(PAGES[0].to_owned(), page(&rows))].into_iter().chain(drawn).collect())
}

fn plot(
    (file, title): (&'static str, &str),
    y: &str,
    rows: &[Row],
    of: impl Fn(&Seen) -> f64,
) -> Plot {
    let name = file.trim_end_matches(".svg");
    let axes = (("bytes of a message", Scale::Logarithmic), (y, Scale::Logarithmic));
    let mut plot = Plot::new(name, title, axes.0, axes.1);
    let points = |which: fn(&Row) -> &Seen| {
        rows.iter().map(|row| (row.size as f64, of(which(row)))).collect()
    };
    plot.line("at once", points(|row| &row.eager));
    plot.line("asking first", points(|row| &row.asked));
    plot
}

fn table(rows: &[Row], digits: usize, of: impl Fn(&Seen) -> f64) -> String {
    let mut table = Table::new();
    table.load_preset(presets::ASCII_MARKDOWN);
    table.set_header(["bytes", "at once", "asking first", "quotient"]);
    for row in rows {
        let (eager, asked) = (of(&row.eager), of(&row.asked));
        table.add_row([
            thousands(row.size as u64),
            format!("{eager:.digits$}"),
            format!("{asked:.digits$}"),
            format!("{:.2}", asked / eager),
        ]);
    }
    table.to_string()
}

fn page(rows: &[Row]) -> String {
    let latency = table(rows, 1, |seen| seen.latency_us);
    let throughput = table(rows, 1, |seen| seen.throughput);
    let unread = table(rows, 0, |seen| seen.unread_bytes);
    let is_cheap = |row: &&Row| row.asked.latency_us <= CHEAP * row.eager.latency_us;
    let cheap = match rows.iter().find(is_cheap) {
        Some(row) => format!("from {} bytes on", thousands(row.size as u64)),
        None => "at none of these sizes".to_owned(),
    };
    format!(
        "# Rendezvous for large messages\n\n{INTRODUCTION}\n\n## Latency\n\nTo a rank that waits for it, until it has \
         read all; us.\n\n{latency}\n\n![](rendezvous-latency.svg)\n\n## Throughput\n\nMessages in a row to a rank \
         that reads them; Mbyte/s.\n\n{throughput}\n\n## Memory\n\n{SENDERS} ranks send a message each to one that \
         takes packets and reads nothing; bytes that it holds.\n\n{unread}\n\n![](rendezvous-unread.svg)\n\n\
         ## Verdict\n\nAsking first costs at most 5 % of latency {cheap}. {VERDICT}\n"
    )
}

const INTRODUCTION: &str = "\
Measured by `make paper` in the simulator, on the thesis's cluster, under `nrx-imc`, without interrupts: no paper has figures to lay beside \
these. NX/2 sent messages of up to a hundred bytes at once and asked first for longer ones (careful-protocols 3), and careful-protocols 7 proposes \
the same against receive memory that grows with senders. How it works here is in [internals](../internals/messaging.md).";
const VERDICT: &str = "\
**Messages are sent at once unless a port says otherwise** (`Port::rendezvous_from`): memory is bounded without it, by a window of one MiB for each \
sender at each port, and a program that reads a message only after something that its sender does later would stop with it. It is for \
receivers of many senders' large messages that they read late, or may not want at all.";
