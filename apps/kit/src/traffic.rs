use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use weft::prelude::Weft;

use crate::exchange::{Error, Exchange};
use crate::figures::thousands;

/// What one rank sent and received over some stretch of its run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Traffic {
    /// Packets this rank sent; a multicast counts once for every packet of it.
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
    pub fn so_far(weft: &Weft) -> Self {
        let counters = weft.statistics();
        Self {
            packets_sent: counters.packets_sent,
            packets_received: counters.packets_received,
            bytes_sent: counters.bytes_sent,
            bytes_received: counters.bytes_received,
            blocked_sends: counters.blocked_sends,
            interrupts: counters.interrupts,
        }
    }

    /// What was added since `earlier`.
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

    fn to_array(self) -> [u64; 6] {
        [
            self.packets_sent,
            self.packets_received,
            self.bytes_sent,
            self.bytes_received,
            self.blocked_sends,
            self.interrupts,
        ]
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
    Ok(gathered.map(|ranks| ranks.concat().into_iter().map(Traffic::from_array).collect()))
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
