use std::io;
use std::time::Duration;

use weft::prelude::{Rank, Weft};
use weft_app_common::{
    Exchange, Mailboxes, Times, Traffic, agree, gather_traffic, measure, summary, table, thousands,
};
use weft_object::{Handle, Objects, Placement, Types};

use crate::tsp::held_karp;
use crate::tsp::options::Options;
use crate::tsp::search::{Route, Search};
use crate::tsp::shared::{Alone, Jobs, JobsOperations, Shortest, ShortestOperations, Together};
use crate::tsp::towns::{BURMA, InputError, Towns};

/// Reason why a run gave no answer.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Weft failed.
    #[error(transparent)]
    Weft(#[from] weft::Error),
    /// A shared object failed: a rank was lost.
    #[error(transparent)]
    Object(#[from] weft_object::Error),
    /// The ranks could not exchange what they report.
    #[error(transparent)]
    Exchange(#[from] weft_app_common::Error),
    /// The file is no input.
    #[error(transparent)]
    Input(#[from] InputError),
    /// Too many towns to check.
    #[error("--verify is for {most} towns at most, these are {0}", most = held_karp::MOST)]
    ManyTowns(usize),
    /// The result is none.
    #[error("the result is wrong: {0}")]
    Wrong(String),
    /// The report could not be written.
    #[error(transparent)]
    Output(#[from] io::Error),
}

/// Searches, checks and reports. Collective: every rank of the job calls it with the same options.
/// Rank 0 prints the report, and returns the error if the check fails.
///
/// # Errors
/// An input that is none, a lost rank, a wrong result, or output that cannot be written.
pub fn run(weft: &Weft, options: &Options) -> Result<(), Error> {
    let mut towns = agree(weft, input(options))?;
    let mut exchange = Mailboxes::open(weft, "tsp")?;
    // Cosines may differ in the last bit between the hosts of a job; distances must not differ.
    exchange.spread(towns.distances_mut())?;
    let types = Types::default().with::<Shortest>().with::<Jobs>();
    let objects = Objects::new(weft.orders(), weft.rpc(), types)?;
    let (mut number, mut alone) = (0, None);
    let speedup = options.speedup && weft.size() > 1;
    let (found, times) = measure(
        speedup,
        || {
            let (tour, time) = search_alone(weft, &towns, options)?.unzip();
            alone = tour.or(alone.take());
            Ok::<_, Error>(time)
        },
        || {
            number += 1;
            search_together(weft, &objects, &towns, options, number)
        },
    )?;
    let traffic = gather_traffic(&mut exchange, found.traffic)?;
    let counts = exchange.gather(&[[found.jobs, found.nodes]], |_| 1)?;
    if let (Some(traffic), Some(counts)) = (traffic, counts) {
        check(&towns, &found, alone.as_ref(), options)?;
        let report = report(&found, &counts.concat(), options, times, &traffic);
        weft_app_common::write_out(report)?;
    }
    Ok(())
}

fn input(options: &Options) -> Result<Towns, Error> {
    let towns = match (&options.file, options.random) {
        (Some(file), _) => Towns::read(file)?,
        (None, Some(count)) => Towns::made(count.into(), options.seed),
        (None, None) => Towns::parse("burma14", BURMA)?,
    };
    match towns.count() {
        count if options.verify && count > held_karp::MOST => Err(Error::ManyTowns(count)),
        _ => Ok(towns),
    }
}

/// Results of a rank.
struct Found {
    length: u64,
    tour: Route,
    jobs: u64,
    nodes: u64,
    traffic: Traffic,
}

/// A tour and its length.
type Tour = (u64, Route);

/// The best tour by rank 0 with nobody to talk to, while the other ranks wait, and the time.
fn search_alone(
    weft: &Weft,
    towns: &Towns,
    options: &Options,
) -> Result<Option<(Tour, Duration)>, Error> {
    let mut found = None;
    if weft.rank() == 0 {
        let start = weft.now();
        let best = Alone::default();
        let mut search = Search::new(towns, &best);
        for mut route in search.beginnings(options.depth.into()) {
            search.run(&mut route)?;
        }
        weft.work(search.nodes);
        found = Some((best.tour(), weft.now() - start));
    }
    weft.barrier()?;
    Ok(found)
}

/// Objects of the search with this number.
fn objects(
    weft: &Weft,
    objects: &Objects,
    number: u32,
) -> Result<(Handle<Jobs>, Handle<Shortest>), Error> {
    let (jobs, shortest) = (format!("tsp.jobs.{number}"), format!("tsp.shortest.{number}"));
    Ok(match weft.rank() {
        Rank(0) => (
            objects.create(&jobs, &Jobs::default(), Placement::Single(Rank(0)))?,
            objects.create(&shortest, &Shortest::default(), Placement::Replicated)?,
        ),
        _ => (objects.find(&jobs)?, objects.find(&shortest)?),
    })
}

fn search_together(
    weft: &Weft,
    all: &Objects,
    towns: &Towns,
    options: &Options,
    number: u32,
) -> Result<(Found, Duration), Error> {
    let (queue, shortest) = objects(weft, all, number)?;
    let best = Together { shortest, weft };
    let mut search = Search::new(towns, &best);
    let before = Traffic::so_far(weft.packets());
    weft.barrier()?;
    let start = weft.now();
    if weft.rank() == 0 {
        for route in search.beginnings(options.depth.into()) {
            queue.add(&route)?;
        }
        queue.close()?;
    }
    let mut jobs = 0;
    while let Some(mut route) = queue.take()? {
        search.run(&mut route)?;
        jobs += 1;
    }
    best.shortest.finish()?;
    let (length, tour) = best.shortest.best_of(weft.size())?;
    let time = weft.now() - start;
    let nodes = search.nodes;
    // The queue is served until all have heard that it is empty.
    weft.barrier()?;
    let traffic = Traffic::so_far(weft.packets()).since(before);
    Ok((Found { length, tour, jobs, nodes, traffic }, time))
}

/// Checks that the tour is one and as long as it says; that one rank found the same, if it
/// searched; and that there is no shorter one, if that was asked for.
fn check(
    towns: &Towns,
    found: &Found,
    alone: Option<&Tour>,
    options: &Options,
) -> Result<(), Error> {
    let Found { length, tour, .. } = found;
    if towns.length(tour) != Some(*length) {
        return Err(Error::Wrong(format!("{tour:?} is no tour of length {length}")));
    }
    if let Some((other, by_way_of)) = alone
        && (other, by_way_of) != (length, tour)
    {
        return Err(Error::Wrong(format!("one rank alone found {other} by way of {by_way_of:?}")));
    }
    match options.verify.then(|| held_karp::shortest(towns)) {
        Some(shortest) if shortest != *length => Err(Error::Wrong(format!(
            "dynamic programming finds a tour of {shortest}, and this one has {length}"
        ))),
        _ => Ok(()),
    }
}

fn report(
    found: &Found,
    counts: &[[u64; 2]],
    options: &Options,
    times: Times,
    traffic: &[Traffic],
) -> String {
    let verified = if options.verify { "   verified by dynamic programming" } else { "" };
    let tour: Vec<String> = found.tour.iter().map(|town| (town + 1).to_string()).collect();
    let nodes = counts.iter().map(|[_, nodes]| nodes).sum();
    let extra = format!("nodes {}   ", thousands(nodes));
    let ranks = counts.iter().enumerate().map(|(rank, [jobs, nodes])| {
        format!("rank {rank}: {} jobs, {} nodes\n", thousands(*jobs), thousands(*nodes))
    });
    format!(
        "shortest tour of {} towns: {}{verified}\n{}\n{}\n\n{}\n{}\n",
        found.tour.len(),
        thousands(found.length),
        tour.join(" "),
        summary(times, &extra, traffic),
        ranks.collect::<String>(),
        table(traffic)
    )
}
