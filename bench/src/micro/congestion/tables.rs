//! Output of the benchmark: tables for a person, a JSON object a line for programs, and a plot.

use super::course::{By, Figures, GroupFigures};
use crate::micro::launch::Spec;
use crate::micro::network::link;
use crate::micro::report::{Limit, quantile_of};
use serde_json::json;
use weft_app_common::chart::{Chart, Scale};
use weft_app_common::say;

/// Limits on a share, in units of the fair one.
const SHARES: (Limit, Limit) = (Limit::AtLeast(0.8), Limit::AtMost(1.2));
/// Limit on the p99 of small messages beside a stream, in units of that alone.
const WAIT: Limit = Limit::AtMost(5.0);

/// Shares of two groups and a TCP connection.
pub struct Sharing {
    /// Way of the two.
    pub by: By,
    /// Figures of the course.
    pub figures: Figures,
}

/// Small messages of one group.
pub struct Queues {
    /// Its way.
    pub by: By,
    /// Without a stream.
    pub alone: GroupFigures,
    /// Beside a stream of the same ranks.
    pub beside: GroupFigures,
}

/// Many senders to one.
pub struct Incast {
    /// Way of all.
    pub by: By,
    /// Number of them.
    pub senders: usize,
    /// Figures of the course.
    pub figures: Figures,
}

impl Sharing {
    /// Goodput of each in units of the fair share.
    fn shares(&self) -> Vec<f64> {
        let goodput: Vec<f64> = self.figures.groups.iter().map(GroupFigures::sum).collect();
        let fair = goodput.iter().sum::<f64>() / goodput.len() as f64;
        goodput.into_iter().map(|one| one / fair).collect()
    }
}

/// Part of the trunk that user bytes of all groups take.
fn used(figures: &Figures, megabits: u32) -> f64 {
    figures.groups.iter().map(GroupFigures::sum).sum::<f64>() * 8.0 / f64::from(megabits) / 1e6
}

/// User bytes that arrived, of each byte that senders' interfaces sent.
fn of_offered(figures: &Figures) -> f64 {
    figures.groups.iter().map(GroupFigures::sum).sum::<f64>() / figures.offered
}

/// Packets that were sent again, of all groups.
fn again(figures: &Figures) -> u64 {
    figures.groups.iter().map(|group| group.again).sum()
}

/// Prints shares of a trunk of this rate.
pub fn print_sharing(spec: &Spec, megabits: u32, rows: &[Sharing]) {
    let link = link(spec);
    if !spec.json {
        say!("congestion: two jobs and a TCP connection share {megabits} Mbit/s, {link}:");
        say!("  by         goodput in MB/s (share of the fair one): job, job, TCP   of the link");
    }
    for row in rows {
        let (shares, part) = (row.shares(), used(&row.figures, megabits));
        let goodput: Vec<f64> = row.figures.groups.iter().map(GroupFigures::sum).collect();
        let (dropped, again) = (row.figures.dropped, again(&row.figures));
        let least = shares.iter().copied().fold(f64::INFINITY, f64::min);
        let most = shares.iter().copied().fold(0.0, f64::max);
        if spec.json {
            let row = json!({
                "bench": "congestion-sharing", "link": link, "bulk": row.by.name(), "ranks": 2,
                "megabits": megabits, "unit": "bytes_per_second", "goodput": goodput,
                "shares": shares, "of_link": part, "dropped": dropped, "sent_again": again,
            });
            say!("{row}");
            continue;
        }
        let each: Vec<String> = goodput
            .iter()
            .zip(&shares)
            .map(|(one, share)| format!("{:7.1} ({share:.2})", one / 1e6))
            .collect();
        let kept = SHARES.0.is_kept(least) && SHARES.1.is_kept(most);
        let kept = if kept { "kept" } else { "NOT KEPT" };
        say!(
            "  {:9} {}   {part:.2}   {dropped} dropped, {again} sent again   (0.8 to 1.2: {kept})",
            row.by.name(),
            each.join(" ")
        );
    }
}

/// Prints how long small messages take.
pub fn print_queues(spec: &Spec, megabits: u32, rows: &[Queues]) {
    let link = link(spec);
    if !spec.json {
        say!("congestion: 8 B there and back on {megabits} Mbit/s, beside a stream, {link}:");
        say!("  by         p50, p99 alone      p50, p99 beside     p99 as a ratio");
    }
    for row in rows {
        let of = |figures: &GroupFigures, part| quantile_of(figures.round_trips.clone(), part);
        let (alone, beside) = (&row.alone, &row.beside);
        let [p50, p99] = [0.5, 0.99].map(|part| of(alone, part));
        let [beside_p50, beside_p99] = [0.5, 0.99].map(|part| of(beside, part));
        let (ratio, goodput) = (beside_p99 / p99, beside.sum());
        if spec.json {
            let row = json!({
                "bench": "congestion-queues", "link": link, "bulk": row.by.name(), "ranks": 2,
                "megabits": megabits, "size": 8, "unit": "ns", "p50": p50, "p99": p99,
                "beside_p50": beside_p50, "beside_p99": beside_p99, "ratio": ratio,
                "rounds": beside.round_trips.len(), "goodput": goodput,
            });
            say!("{row}");
            continue;
        }
        let pair = |a: f64, b: f64| format!("{:7.1} {:8.1} us", a / 1e3, b / 1e3);
        say!(
            "  {:9} {} {}   {ratio:6.1} ({})   stream {:.1} MB/s",
            row.by.name(),
            pair(p50, p99),
            pair(beside_p50, beside_p99),
            WAIT.text(ratio),
            goodput / 1e6
        );
    }
}

/// Prints what many senders leave of a trunk.
pub fn print_incast(spec: &Spec, megabits: u32, rows: &[Incast]) {
    let link = link(spec);
    if !spec.json {
        say!("congestion: many send to one on {megabits} Mbit/s with a short queue, {link}:");
        say!("  by         senders   goodput in MB/s   of the link   of what was offered");
    }
    for row in rows {
        let Incast { by, senders, figures } = row;
        let (part, of_offered) = (used(figures, megabits), of_offered(figures));
        let (dropped, again) = (figures.dropped, again(figures));
        let goodput: Vec<f64> = figures.groups.iter().flat_map(|one| one.goodput.clone()).collect();
        let sum = goodput.iter().sum::<f64>();
        if spec.json {
            let row = json!({
                "bench": "congestion-incast", "link": link, "bulk": by.name(),
                "ranks": senders + 1, "senders": senders, "megabits": megabits,
                "unit": "bytes_per_second", "goodput": goodput, "of_link": part,
                "of_offered": of_offered, "dropped": dropped, "sent_again": again,
            });
            say!("{row}");
            continue;
        }
        say!(
            "  {:9} {senders:7}   {:15.1}   {part:11.2}   {of_offered:19.2}   {dropped} dropped, {again} sent again",
            by.name(),
            sum / 1e6
        );
    }
}

/// Chart of what many senders leave of a trunk.
pub fn plot(link: &str, megabits: u32, rows: &[Incast]) -> String {
    let title = format!("Many senders, one receiver, {megabits} Mbit/s, 64 kB of queue, {link}");
    let axes = (("senders", Scale::Linear), ("part of the link that is user bytes", Scale::Linear));
    let mut chart = Chart::new(&title, axes.0, axes.1);
    let mut names: Vec<&str> = rows.iter().map(|row| row.by.name()).collect();
    names.dedup();
    for name in names {
        let own = rows.iter().filter(|row| row.by.name() == name);
        let points = own.map(|row| (row.senders as f64, used(&row.figures, megabits)));
        let title = if name == "tcp" { "TCP".to_owned() } else { format!("Weft, {name}") };
        chart.line(title, points.collect());
    }
    chart.svg()
}
