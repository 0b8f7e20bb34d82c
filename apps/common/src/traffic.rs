use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use weft::Packets;

use crate::exchange::{Error, Exchange};
use crate::figures::{seconds, thousands};
use crate::measure::Times;

/// Traffic of one rank over some stretch of its run: packets and bytes that it sent and received.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Traffic {
    /// Packets this rank sent; a packet to several ranks counts once for each, forwards included.
    pub packets_sent: u64,
    /// Packets that arrived here.
    pub packets_received: u64,
    /// User bytes this rank sent.
    pub bytes_sent: u64,
    /// User bytes that arrived here.
    pub bytes_received: u64,
    /// Sends that had to wait for a credit.
    pub blocked_sends: u64,
    /// Interrupts taken.
    pub interrupts: u64,
}

impl Traffic {
    /// The counters of this rank since the start of the job.
    pub fn so_far(packets: &Packets) -> Self {
        let counted = packets.statistics();
        let counters = counted.protocol;
        Self {
            packets_sent: counters.packets_sent,
            packets_received: counters.packets_received,
            bytes_sent: counters.bytes_sent,
            bytes_received: counters.bytes_received,
            blocked_sends: counters.blocked_sends,
            interrupts: counted.interrupts,
        }
    }

    /// Traffic since `earlier`.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        self.zip(earlier, u64::saturating_sub)
    }

    /// The sum over ranks.
    pub fn total(ranks: &[Self]) -> Self {
        ranks.iter().fold(Self::default(), |sum, &rank| sum.zip(rank, u64::saturating_add))
    }

    fn zip(self, other: Self, join: impl Fn(u64, u64) -> u64) -> Self {
        let (mine, others) = (self.to_array(), other.to_array());
        Self::from_array(std::array::from_fn(|index| join(mine[index], others[index])))
    }

    pub(crate) fn to_array(self) -> [u64; 6] {
        [
            self.packets_sent,
            self.packets_received,
            self.bytes_sent,
            self.bytes_received,
            self.blocked_sends,
            self.interrupts,
        ]
    }

    /// One entry for each rank, which brought one.
    pub(crate) fn from_arrays(ranks: &[Vec<[u64; 6]>]) -> Vec<Self> {
        ranks.concat().into_iter().map(Self::from_array).collect()
    }

    fn from_array(values: [u64; 6]) -> Self {
        let [packets_sent, packets_received, bytes_sent, bytes_received, blocked_sends, interrupts] =
            values;
        Self {
            packets_sent,
            packets_received,
            bytes_sent,
            bytes_received,
            blocked_sends,
            interrupts,
        }
    }
}

/// Brings every rank's traffic to rank 0: there one entry per rank, elsewhere `None`.
pub fn gather_traffic(
    exchange: &mut impl Exchange,
    mine: Traffic,
) -> Result<Option<Vec<Traffic>>, Error> {
    let gathered = exchange.gather(&[mine.to_array()], |_| 1)?;
    Ok(gathered.map(|ranks| Traffic::from_arrays(&ranks)))
}

/// The line about a run as a whole: ranks, time, the speed-up if one rank was measured too, then
/// what the program adds, then totals.
pub fn summary(times: Times, extra: &str, ranks: &[Traffic]) -> String {
    let Times { parallel, sequential } = times;
    let ratio = sequential.map_or(String::new(), |sequential| {
        let times = sequential.as_secs_f64() / parallel.as_secs_f64();
        format!(" ({times:.1} x one rank, which took {})", seconds(sequential))
    });
    let total = Traffic::total(ranks);
    format!(
        "{} rank{}, {}{ratio}   {extra}packets {}   blocked sends {}   interrupts {}",
        ranks.len(),
        if ranks.len() == 1 { "" } else { "s" },
        seconds(parallel),
        thousands(total.packets_sent),
        thousands(total.blocked_sends),
        thousands(total.interrupts)
    )
}

/// A table with one line a rank, ready to print.
pub fn table(ranks: &[Traffic]) -> String {
    let mut table = Table::new();
    table.load_preset(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header([
        "rank",
        "packets sent",
        "received",
        "bytes sent",
        "received",
        "blocked sends",
        "interrupts",
    ]);
    for (rank, traffic) in ranks.iter().enumerate() {
        let figures = traffic.to_array().map(thousands);
        table.add_row(std::iter::once(rank.to_string()).chain(figures));
    }
    for column in table.column_iter_mut() {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table.trim_fmt()
}

#[cfg(test)]
mod tests;
