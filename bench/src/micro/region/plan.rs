//! Plan of a measurement: the turns, and the floors beside them.

use crate::micro::report::Limit;
use weft::Rank;
use weft_region::coherence::{Hint, Policy};
use weft_region::{DataWay, Settings};

/// Limit on a hit, with its end.
const HIT_NS: f64 = 25.0;
/// Bytes of regions that are neither small nor large, and of large ones.
const LARGER: [usize; 2] = [4 << 10, 64 << 10];

/// A read or a write.
#[derive(Clone, Copy)]
pub enum Access {
    Read,
    Write,
}

/// Kinds of turns.
#[derive(Clone, Copy)]
pub enum Turn {
    Hit(Access),
    Miss(Miss),
    /// A request, and so many bytes back.
    RoundTrip(usize),
    Fault,
}

/// A miss of rank 0's, and what was before it.
#[derive(Clone, Copy)]
pub struct Miss {
    pub bytes: usize,
    pub access: Access,
    pub home: Rank,
    /// Rank that wrote before; if nobody, rank 0 has given up its copy.
    pub writer: Option<Rank>,
    /// Number of ranks that have read since, from rank 2 on.
    pub readers: u16,
    pub three_party: bool,
    pub settings: Settings,
}

/// A figure.
pub struct Line {
    /// Name of the figure, if it is printed.
    pub name: Option<String>,
    pub bytes: usize,
    pub turn: Turn,
    /// Other lines, by their places, and what they are to this one.
    pub beside: Vec<(&'static str, usize)>,
    /// A figure that it is measured by.
    pub promise: Option<(&'static str, f64)>,
    /// Limit on the ratio to the first of these.
    pub limit: Option<Limit>,
}

/// The policy of all regions here.
pub fn policy(three_party: bool) -> Policy {
    Policy { hint: Hint::Invalidate, three_party }
}

const TRIP: &str = "packets there and back";

/// All that is measured between so many ranks, on regions of `size` bytes, and on larger ones.
///
/// Limits are for two ranks with a core each; that for pages is about what the machine does beside
/// the network.
pub fn lines(ranks: usize, size: usize, in_memory: bool) -> Vec<Line> {
    let mut plan = Plan(Vec::new());
    // Regions of words.
    let size = size.max(1).next_multiple_of(size_of::<u64>());
    for (name, access) in [("region-hit-read", Access::Read), ("region-hit-write", Access::Write)] {
        let line = plan.add(Some(name.into()), 64, Turn::Hit(access), Vec::new());
        line.promise = Some(("what a hit may take", HIT_NS));
        line.limit = Some(Limit::AtMost(1.0));
    }
    let trip = plan.silent(size, Turn::RoundTrip(size));
    let clean = Miss {
        bytes: size,
        access: Access::Read,
        home: Rank(1),
        writer: None,
        readers: 0,
        three_party: true,
        settings: Settings::default(),
    };
    let limit = (ranks == 2).then_some(Limit::AtMost(1.25));
    let read = plan.miss("region-read", clean, vec![(TRIP, trip)], limit);
    let fault = vec![("a clean read miss", read)];
    let line = plan.add(Some("region-page".into()), size, Turn::Fault, fault);
    line.limit = (ranks == 2 && in_memory).then_some(Limit::AtLeast(10.0));
    let written = Miss { writer: Some(Rank(1)), ..clean };
    plan.miss("region-read-written", written, vec![(TRIP, trip)], None);
    dirty(&mut plan, ranks, written, trip);
    for readers in 0..=ranks as u16 - 2 {
        let miss = Miss { access: Access::Write, readers, ..written };
        let mut beside = vec![(TRIP, trip)];
        if readers >= 2 {
            let settings = Settings { multicast: false, ..miss.settings };
            let each = plan.silent(size, Turn::Miss(Miss { settings, ..miss }));
            beside.push(("an invalidation to each", each));
        }
        plan.miss(&format!("region-write-{readers}"), miss, beside, None);
    }
    for bytes in LARGER {
        let trip = plan.silent(bytes, Turn::RoundTrip(bytes));
        let packets = Miss { bytes, ..clean };
        let settings = Settings { data: DataWay::Puts, ..clean.settings };
        let packets_at = plan.miss("region-read", packets, vec![(TRIP, trip)], None);
        let beside = vec![("by packets", packets_at), (TRIP, trip)];
        plan.miss("region-read-put", Miss { settings, ..packets }, beside, None);
    }
    plan.0
}

/// Misses of what another node has written.
fn dirty(plan: &mut Plan, ranks: usize, written: Miss, trip: usize) {
    let own = Miss { home: Rank(0), ..written };
    plan.miss("region-read-dirty-at-home", own, vec![(TRIP, trip)], None);
    if ranks > 2 {
        let three = Miss { writer: Some(Rank(2)), ..written };
        let two = Miss { three_party: false, ..three };
        let two = plan.miss("region-read-dirty-2", two, vec![(TRIP, trip)], None);
        let beside = vec![(TRIP, trip), ("by two parties", two)];
        plan.miss("region-read-dirty-3", three, beside, None);
    }
}

struct Plan(Vec<Line>);

impl Plan {
    fn add(
        &mut self,
        name: Option<String>,
        bytes: usize,
        turn: Turn,
        beside: Vec<(&'static str, usize)>,
    ) -> &mut Line {
        let at = self.0.len();
        self.0.push(Line { name, bytes, turn, beside, promise: None, limit: None });
        &mut self.0[at]
    }

    /// Adds a turn that others are measured by; its index.
    fn silent(&mut self, bytes: usize, turn: Turn) -> usize {
        self.add(None, bytes, turn, Vec::new());
        self.0.len() - 1
    }

    fn miss(
        &mut self,
        name: &str,
        miss: Miss,
        beside: Vec<(&'static str, usize)>,
        limit: Option<Limit>,
    ) -> usize {
        let line = self.add(Some(name.into()), miss.bytes, Turn::Miss(miss), beside);
        line.limit = limit;
        self.0.len() - 1
    }
}
