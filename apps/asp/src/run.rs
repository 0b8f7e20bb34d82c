use std::io;
use std::path::Path;
use std::time::Duration;

use weft::prelude::Weft;
use weft_app_common::{
    Alone, Blocks, Exchange, Mailboxes, Progress, Stretch, Times, Traffic, Tree, agree,
    gather_traffic, measure, stretch, thousands,
};

use crate::graph::UNREACHABLE;
use crate::import::{ImportError, import_files};
use crate::input::{Input, InputError};
use crate::lookup::{LookupError, find, shown};
use crate::map::{self, Line};
use crate::network::Network;
use crate::options::{On, Options};
use crate::published::ByObject;
use crate::report::Report;
use crate::rows::Rows;
use crate::solve::{Pace, solve as relax};
use crate::trip::{Pair, Trip, farther, farthest, kilometres, route};
use crate::verify::{Verdict, check, sources};

/// The colours of the two routes on the map.
const ASKED_COLOUR: &str = "#c8452b";
const FARTHEST_COLOUR: &str = "#1d6fa5";

/// Reason why a run gave no answer.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Weft failed.
    #[error(transparent)]
    Weft(#[from] weft::Error),
    /// The ranks could not exchange what they had to.
    #[error(transparent)]
    Exchange(#[from] weft_app_common::Error),
    /// The shared object failed.
    #[error(transparent)]
    Object(#[from] weft_object::Error),
    /// The tables cannot be used.
    #[error(transparent)]
    Input(#[from] InputError),
    /// OpenFlights' files could not be imported.
    #[error(transparent)]
    Import(#[from] ImportError),
    /// There is no such airport.
    #[error(transparent)]
    Lookup(#[from] LookupError),
    /// A route needs two ends.
    #[error("--from and --to are the same airport, {0}")]
    SameEnds(String),
    /// The distances are wrong.
    #[error("the distances are wrong: {0}")]
    Wrong(String),
    /// Standard output could not be written.
    #[error(transparent)]
    Printed(#[from] io::Error),
    /// A result of the run that could not be written.
    #[error("{what}: {cause}")]
    Output {
        /// File.
        what: String,
        /// Error of the system.
        cause: io::Error,
    },
}

/// Result of a run, at rank 0, which was checked.
#[derive(Debug, Clone)]
pub struct Solved {
    /// Times of the computation.
    pub times: Times,
    /// Time at which its last run by all ranks began.
    pub began: Duration,
    /// Traffic of each rank meanwhile.
    pub traffic: Vec<Traffic>,
    /// Number of nodes of the graph.
    pub nodes: usize,
    plan: Plan,
    asked: Trip,
    farthest: Trip,
    verified_sources: usize,
}

/// Computes, checks and reports. Collective: every rank of the job calls it with the same options.
/// Rank 0 prints the report, and returns the error if the check fails.
///
/// # Errors
/// [`enum@Error`].
pub fn run(weft: &Weft, options: &Options) -> Result<(), Error> {
    if let Some([airports, routes, folder]) = options.import.as_deref() {
        return agree(weft, import(weft, airports, routes, folder));
    }
    let Some(solved) = solve(weft, options)? else { return Ok(()) };
    let Solved { plan, asked, farthest, .. } = &solved;
    let report = Report {
        network: &plan.network,
        asked,
        farthest,
        verified_sources: solved.verified_sources,
        times: solved.times,
        traffic: &solved.traffic,
    };
    print(&report.text())?;
    options.map.as_deref().map_or(Ok(()), |path| plan.draw(asked, farthest, path))
}

/// Computes and checks, and prints nothing. Collective; rank 0 gets what came of it.
///
/// # Errors
/// [`enum@Error`]; at rank 0 that of the check.
pub fn solve(weft: &Weft, options: &Options) -> Result<Option<Solved>, Error> {
    let mut plan = agree(weft, Plan::new(options))?;
    let mut exchange = Mailboxes::open(weft, "asp")?;
    // Sines may differ in the last bit between the hosts of a job; distances must not differ at
    // all.
    exchange.spread(plan.network.graph.lengths_mut())?;

    let by_object = match options.on {
        On::Broadcasts | On::Tree => None,
        On::Objects => Some(ByObject::new(weft)?),
    };
    let (part, times) = measure(
        options.speedup && exchange.size() > 1,
        || compute_sequentially(weft, &plan),
        || {
            let part = compute(weft, &plan, by_object.as_ref(), &mut exchange)?;
            let time = part.time;
            Ok::<_, Error>((part, time))
        },
    )?;
    let verified = verify(&plan, &part.value, options.check.get(), &mut exchange)?;
    let trips = find_trips(&plan, &part.value, &mut exchange)?;
    let traffic = gather_traffic(&mut exchange, part.traffic)?;
    let (Some(verdict), Some(trips), Some(traffic)) = (verified, trips, traffic) else {
        return Ok(None);
    };
    let verified_sources = plan.accept(&verdict, options.check.get())?;
    let (asked, farthest) = (trips.asked?, trips.farthest?);
    let (began, nodes) = (part.began, plan.nodes());
    Ok(Some(Solved { times, began, traffic, nodes, plan, asked, farthest, verified_sources }))
}

/// Plan of a run, the same on every rank.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    pub network: Network,
    pub from: usize,
    to: usize,
    on: On,
    pub pace: Pace,
}

impl Plan {
    pub fn new(options: &Options) -> Result<Self, Error> {
        let (airports, routes) = match (&options.airports, &options.routes) {
            (Some(airports), Some(routes)) => (Input::read(airports)?, Input::read(routes)?),
            _ => Network::embedded(),
        };
        let sample = options.sample.map(std::num::NonZero::get);
        let network = Network::new(&airports, &routes, sample)?;
        let (from, to) = (find(&network, &options.from)?, find(&network, &options.to)?);
        if from == to {
            return Err(Error::SameEnds(shown(&network.airports[from])));
        }
        let (on, pace) = (options.on, Pace { batch: options.batch, polls: options.polls });
        Ok(Self { network, from, to, on, pace })
    }

    pub fn nodes(&self) -> usize {
        self.network.graph.nodes()
    }

    /// Number of sources that were verified, if all were and nothing differs.
    pub fn accept(&self, verdict: &Verdict, asked: usize) -> Result<usize, Error> {
        if let Some(first) = verdict.first {
            let [from, to] = [first.from, first.to].map(|node| &self.network.airports[node]);
            return Err(Error::Wrong(format!(
                "{} of them differ from Dijkstra's algorithm, first {} to {}: {} where it finds {} (in tens of metres)",
                thousands(verdict.differences as u64),
                shown(from),
                shown(to),
                first.computed,
                first.expected
            )));
        }
        let wanted = asked.min(self.nodes());
        if verdict.sources == wanted {
            Ok(wanted)
        } else {
            let checked = verdict.sources;
            Err(Error::Wrong(format!("{checked} sources were checked instead of {wanted}")))
        }
    }

    fn draw(&self, asked: &Trip, farthest: &Trip, path: &Path) -> Result<(), Error> {
        let lines = [
            Line { title: "Asked for", trip: asked, colour: ASKED_COLOUR },
            Line { title: "Farthest apart", trip: farthest, colour: FARTHEST_COLOUR },
        ];
        let what = path.display().to_string();
        std::fs::write(path, map::draw(&self.network, &lines))
            .map_err(|cause| Error::Output { what: what.clone(), cause })?;
        print(&format!("map: {what}\n"))
    }
}

/// Rank 0 imports; the others have nothing to do.
fn import(weft: &Weft, airports: &Path, routes: &Path, folder: &Path) -> Result<(), Error> {
    if weft.rank() != 0 {
        return Ok(());
    }
    let imported = import_files(airports, routes, folder)?;
    print(&format!(
        "{} airports and {} routes in {}\n",
        thousands(imported.airport_count as u64),
        thousands(imported.route_count as u64),
        folder.display()
    ))
}

/// Time of rank 0 for everything, with the same kernel and nobody to talk to, while the other ranks
/// wait. `None` on the other ranks.
fn compute_sequentially(weft: &Weft, plan: &Plan) -> Result<Option<Duration>, Error> {
    let mut time = None;
    if weft.rank() == 0 {
        let nodes = plan.nodes();
        let progress = Progress::new(0, nodes, "one rank alone");
        let mut rows = Rows::new(&plan.network.graph, 0..nodes);
        let start = weft.now();
        relax(&mut rows, Blocks::new(nodes, 1), plan.pace, &mut Alone, |done| progress.set(done))?;
        weft.work((nodes * nodes * nodes) as u64);
        time = Some(weft.now() - start);
    }
    weft.barrier()?;
    Ok(time)
}

/// Distances from this rank's nodes.
fn compute(
    weft: &Weft,
    plan: &Plan,
    by_object: Option<&ByObject<'_>>,
    exchange: &mut Mailboxes,
) -> Result<Stretch<Rows>, Error> {
    let blocks = Blocks::new(plan.nodes(), exchange.size());
    let progress = Progress::new(exchange.rank(), plan.nodes(), "shortest paths");
    let mut rows = Rows::new(&plan.network.graph, blocks.of(exchange.rank()));
    let by_object = by_object.map(|object| object.begin(blocks)).transpose()?;
    let done = |done| progress.set(done);
    let stretch = stretch(weft, || match (by_object, plan.on) {
        (Some(mut rows_of), _) => relax(&mut rows, blocks, plan.pace, &mut rows_of, done),
        (None, On::Tree) => relax(&mut rows, blocks, plan.pace, &mut Tree::new(exchange), done),
        (None, _) => relax(&mut rows, blocks, plan.pace, exchange, done),
    })?;
    Ok(stretch.of(rows))
}

/// Checks what is owned here; rank 0 gets the verdict of all.
fn verify(
    plan: &Plan,
    rows: &Rows,
    count: usize,
    exchange: &mut impl Exchange,
) -> Result<Option<Verdict>, Error> {
    let sources = sources(plan.nodes(), plan.from, count);
    let mine = check(rows, &plan.network.graph, &sources).pack();
    let verdicts = exchange.gather(&[mine], |_| 1)?;
    Ok(verdicts.map(|all| Verdict::join(all.concat().into_iter().map(Verdict::unpack))))
}

/// The two routes of the report, as far as the distances lead to them.
struct Trips {
    asked: Result<Trip, Error>,
    farthest: Result<Trip, Error>,
}

/// Rank 0 gets the routes. It needs the distances to their ends from everywhere, a part from each
/// rank.
fn find_trips(
    plan: &Plan,
    rows: &Rows,
    exchange: &mut impl Exchange,
) -> Result<Option<Trips>, Error> {
    let mine = farthest(rows).map_or([0; 3], |pair| [pair.from, pair.to, pair.length as usize]);
    let all = exchange.gather(&[mine.map(|value| value as u64)], |_| 1)?;
    let mut ends = [0_u64; 2];
    if let Some(all) = all {
        let pairs = all.concat().into_iter().map(|[from, to, length]| Pair {
            from: from as usize,
            to: to as usize,
            length: length as u32,
        });
        ends = farther(pairs).map_or([0; 2], |pair| [pair.from as u64, pair.to as u64]);
    }
    exchange.spread(&mut ends)?;
    let [far_from, far_to] = ends.map(|end| end as usize);
    let to_asked = gather_column(rows, plan.to, exchange)?;
    let to_farthest = gather_column(rows, far_to, exchange)?;
    let (Some(to_asked), Some(to_farthest)) = (to_asked, to_farthest) else { return Ok(None) };
    Ok(Some(Trips {
        asked: plan.trip(&to_asked, plan.from, plan.to),
        farthest: plan.trip(&to_farthest, far_from, far_to),
    }))
}

impl Plan {
    fn trip(&self, to_end: &[u32], from: usize, to: usize) -> Result<Trip, Error> {
        route(&self.network.graph, to_end, from, to).ok_or_else(|| {
            let [from_name, to_name] = [from, to].map(|node| shown(&self.network.airports[node]));
            let length = match to_end[from] {
                UNREACHABLE => "no distance at all".to_owned(),
                length => kilometres(length),
            };
            Error::Wrong(format!(
                "{from_name} to {to_name} has {length}, but no route of this length"
            ))
        })
    }
}

/// The distances from everywhere to `node`, at rank 0.
fn gather_column(
    rows: &Rows,
    node: usize,
    exchange: &mut impl Exchange,
) -> Result<Option<Vec<u32>>, Error> {
    let total = rows.nodes();
    let blocks = Blocks::new(total, exchange.size());
    let parts = exchange.gather(&rows.column(node), |rank| blocks.of(rank).len())?;
    Ok(parts.map(|parts| parts.concat()))
}

fn print(text: &str) -> Result<(), Error> {
    Ok(weft_app_common::write_out(text)?)
}

#[cfg(test)]
mod tests;
