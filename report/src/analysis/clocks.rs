//! Clocks of hosts, estimated from packets in both directions.
//!
//! A packet from host a to host b takes some time, so that the clock of b is ahead of a's by no
//! more than the packet's times differ; packets from b to a say by how much it is ahead at least. A
//! line through the middle between all of these is b's offset and drift. Some packets contradict
//! all others, because their ranks lost their cores before they wrote down that they had sent:
//! those are left out. The line is straight: a clock that was set during the run, or changed its
//! speed, leaves packets that arrive before they left, and they are counted.

use super::matching::Match;
use super::times::Times;
use serde::Serialize;
use std::collections::BTreeMap;

/// Largest drift between two clocks: what time servers correct, and as much again.
const DRIFT: f64 = 1e-3;
/// Steps in which the drift is narrowed down.
const STEPS: usize = 64;
/// Packets between two hosts that may contradict all others, in each direction: their events were
/// written down late.
const OUTLIERS: usize = 32;
/// Rounds in which offsets of three and more hosts are made to agree.
const ROUNDS: usize = 64;

/// Clock of a host.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub struct Clock {
    /// Time by which it is ahead of the run's clock at its first event, in nanoseconds. Only
    /// differences between hosts matter: clocks count from when their hosts started.
    pub offset_ns: f64,
    /// Nanoseconds that it gains in each.
    pub drift: f64,
    /// Time by which the estimate may be wrong, in nanoseconds; `None` if nothing says.
    pub uncertainty_ns: Option<f64>,
}

/// Clocks of all hosts.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Clocks {
    /// Clock of each host, by its number.
    pub hosts: Vec<Clock>,
}

impl Clock {
    /// Time of the run at which it shows this.
    pub fn to_run(self, time: f64) -> f64 {
        (time - self.offset_ns) / (1.0 + self.drift)
    }
}

/// Bounds that packets between two hosts set, as points: the time by the first one's clock, and the
/// second one's lead.
#[derive(Clone, Debug, Default)]
struct Bounds {
    most: Vec<(f64, f64)>,
    least: Vec<(f64, f64)>,
}

/// Lead of a clock over another: a line, and half of what is left between the bounds around it.
#[derive(Clone, Copy, Debug)]
struct Lead {
    offset: f64,
    drift: f64,
    margin: Option<f64>,
}

impl Clocks {
    /// Clocks of hosts that need no estimate.
    pub fn exact(hosts: usize) -> Self {
        let clock = Clock { uncertainty_ns: Some(0.0), ..Clock::default() };
        Clocks { hosts: vec![clock; hosts] }
    }

    /// Clocks by which none of these packets arrives before it left, if there are such.
    pub fn estimate(times: &Times, matches: &[Match], host_of: &[usize], hosts: usize) -> Self {
        if hosts < 2 {
            return Clocks::exact(hosts);
        }
        let bounds = bounds(times, matches, host_of);
        let mut clocks = spread(&bounds, hosts);
        if hosts > 2 {
            agree(&mut clocks, &bounds);
        }
        clocks
    }
}

fn bounds(times: &Times, matches: &[Match], host_of: &[usize]) -> BTreeMap<(usize, usize), Bounds> {
    let mut bounds: BTreeMap<(usize, usize), Bounds> = BTreeMap::new();
    for of in matches {
        let (a, b) = (host_of[of.from as usize], host_of[of.to as usize]);
        let left = times.at(of.from, of.sent) as f64;
        let came = times.at(of.to, of.received) as f64;
        match a.cmp(&b) {
            std::cmp::Ordering::Less => {
                bounds.entry((a, b)).or_default().most.push((left, came - left));
            }
            std::cmp::Ordering::Greater => {
                bounds.entry((b, a)).or_default().least.push((came, left - came));
            }
            std::cmp::Ordering::Equal => {}
        }
    }
    bounds.into_iter().map(|(pair, bounds)| (pair, bounds.without_outliers())).collect()
}

/// Removes the point for which this is least.
fn remove_least(points: &mut Vec<(f64, f64)>, of: impl Fn((f64, f64)) -> f64) {
    let least = (0..points.len()).min_by(|a, b| of(points[*a]).total_cmp(&of(points[*b])));
    if let Some(least) = least {
        points.swap_remove(least);
    }
}

/// Points on the lower side of the convex hull of these, or on the upper if `sign` is -1.
fn lower_hull(mut points: Vec<(f64, f64)>, sign: f64) -> Vec<(f64, f64)> {
    points.sort_by(|a, b| a.0.total_cmp(&b.0).then((sign * a.1).total_cmp(&(sign * b.1))));
    let mut hull: Vec<(f64, f64)> = Vec::new();
    for point in points {
        let is_inside = |a: (f64, f64), b: (f64, f64)| {
            let rise = (b.0 - a.0) * (point.1 - a.1) - (b.1 - a.1) * (point.0 - a.0);
            rise * sign <= 0.0
        };
        while let [.., a, b] = hull[..]
            && is_inside(a, b)
        {
            hull.pop();
        }
        hull.push(point);
    }
    hull
}

impl Bounds {
    /// Hulls of these bounds, without those that contradict the others, if they are few.
    fn without_outliers(mut self) -> Self {
        let all = self.hulls();
        let most = OUTLIERS.min(self.most.len().min(self.least.len()) / 20);
        let mut hulls = all.clone();
        for _ in 0..=most {
            let drift = hulls.drift();
            if hulls.most.is_empty() || hulls.least.is_empty() || hulls.margin(drift) >= 0.0 {
                return hulls;
            }
            remove_least(&mut self.most, |(at, lead)| lead - drift * at);
            remove_least(&mut self.least, |(at, lead)| drift * at - lead);
            hulls = self.hulls();
        }
        all
    }

    fn hulls(&self) -> Bounds {
        Bounds {
            most: lower_hull(self.most.clone(), 1.0),
            least: lower_hull(self.least.clone(), -1.0),
        }
    }

    /// Smallest value of `most`, and largest of `least`, at the first one's time 0 if it drifts so.
    fn at_drift(&self, drift: f64) -> (f64, f64) {
        let at_zero = |point: &(f64, f64)| point.1 - drift * point.0;
        let most = self.most.iter().map(at_zero).fold(f64::INFINITY, f64::min);
        (most, self.least.iter().map(at_zero).fold(f64::NEG_INFINITY, f64::max))
    }

    fn margin(&self, drift: f64) -> f64 {
        let (most, least) = self.at_drift(drift);
        (most - least) / 2.0
    }

    fn lead(&self) -> Lead {
        let drift = self.drift();
        match self.at_drift(drift) {
            (most, least) if most.is_finite() && least.is_finite() => Lead {
                offset: f64::midpoint(most, least),
                drift,
                margin: Some((most - least).abs() / 2.0),
            },
            // The fastest packet took no time, as far as anybody knows.
            (most, least) => {
                let known = if most.is_finite() { most } else { least };
                Lead { offset: known, drift, margin: None }
            }
        }
    }

    /// Drift at which the bounds are farthest apart. Few packets say nothing about it, unless there
    /// is no other explanation.
    fn drift(&self) -> f64 {
        if self.most.is_empty() || self.least.is_empty() {
            return 0.0;
        }
        let are_few = self.most.len().min(self.least.len()) < 3;
        if self.margin(0.0) >= 0.0 && are_few {
            return 0.0;
        }
        let (mut low, mut high) = (-DRIFT, DRIFT);
        for _ in 0..STEPS {
            let third = (high - low) / 3.0;
            if self.margin(low + third) < self.margin(high - third) {
                low += third;
            } else {
                high -= third;
            }
        }
        f64::midpoint(low, high)
    }
}

/// Clocks by a tree of the surest leads, from the first host on.
fn spread(bounds: &BTreeMap<(usize, usize), Bounds>, hosts: usize) -> Clocks {
    let leads: Vec<_> = bounds.iter().map(|(pair, bounds)| (*pair, bounds.lead())).collect();
    let mut clocks = Clocks { hosts: vec![Clock::default(); hosts] };
    let mut is_known = vec![false; hosts];
    is_known[0] = true;
    clocks.hosts[0].uncertainty_ns = Some(0.0);
    let sureness = |lead: &Lead| lead.margin.unwrap_or(f64::INFINITY);
    loop {
        let reachable = leads.iter().filter(|((a, b), _)| is_known[*a] != is_known[*b]);
        let surest = reachable.min_by(|a, b| sureness(&a.1).total_cmp(&sureness(&b.1)));
        let Some((&(a, b), lead)) = surest.map(|(pair, lead)| (pair, lead)) else { break };
        let (known, other) = if is_known[a] { (a, b) } else { (b, a) };
        clocks.hosts[other] = clocks.hosts[known].with(lead, known == a);
        is_known[other] = true;
    }
    clocks
}

impl Clock {
    /// Clock that has this lead over this one, or over which this one has it.
    fn with(self, lead: &Lead, is_ahead: bool) -> Clock {
        // b = a + offset + drift x a, and a = run x (1 + drift of a) + offset of a.
        let (factor, shift) = (1.0 + lead.drift, lead.offset);
        let (factor, shift) =
            if is_ahead { (factor, shift) } else { (1.0 / factor, -shift / factor) };
        let uncertainty = lead.margin.zip(self.uncertainty_ns).map(|(a, b)| a + b);
        Clock {
            offset_ns: self.offset_ns * factor + shift,
            drift: (1.0 + self.drift) * factor - 1.0,
            uncertainty_ns: uncertainty,
        }
    }
}

/// Moves the clocks until packets between all pairs of hosts go forward, not only between those of
/// the tree.
fn agree(clocks: &mut Clocks, bounds: &BTreeMap<(usize, usize), Bounds>) {
    // Least and most that the second host of a pair may be moved back against the first.
    let room: Vec<_> =
        bounds.iter().map(|((a, b), of)| (*a, *b, of.room(clocks, *a, *b))).collect();
    let mut moved = vec![0.0; clocks.hosts.len()];
    for _ in 0..ROUNDS {
        for host in 1..moved.len() {
            let (mut least, mut most) = (f64::NEG_INFINITY, f64::INFINITY);
            for (a, b, (low, high)) in &room {
                if *b == host {
                    (least, most) = (least.max(moved[*a] + low), most.min(moved[*a] + high));
                } else if *a == host {
                    (least, most) = (least.max(moved[*b] - high), most.min(moved[*b] - low));
                }
            }
            if least.is_finite() && most.is_finite() && !(least..=most).contains(&moved[host]) {
                moved[host] = f64::midpoint(least, most);
            }
        }
    }
    for (clock, moved) in clocks.hosts.iter_mut().zip(moved) {
        clock.offset_ns += moved;
    }
}

impl Bounds {
    /// Range of times by which the clock of b may be set ahead, that of a staying as it is.
    fn room(&self, clocks: &Clocks, a: usize, b: usize) -> (f64, f64) {
        let lead = |(at, lead): &(f64, f64)| {
            clocks.hosts[b].to_run(at + lead) - clocks.hosts[a].to_run(*at)
        };
        let most = self.most.iter().map(lead).fold(f64::INFINITY, f64::min);
        (self.least.iter().map(lead).fold(f64::NEG_INFINITY, f64::max), most)
    }
}

#[cfg(test)]
mod tests;
