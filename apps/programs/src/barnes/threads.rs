//! Steps in time by bare threads: one makes the tree, and all compute forces, each on
//! bodies that cost as much.

use std::convert::Infallible;
use std::ops::Range;
use std::sync::{Mutex, PoisonError, RwLock};
use std::time::Duration;

use weft_app_common::{Crewmate, crew, locked};

use crate::barnes::body::Body;
use crate::barnes::cell::{Cube, Part};
use crate::barnes::error::Error;
use crate::barnes::force::{Alone, Problem, force};
use crate::barnes::options::Options;
use crate::barnes::plummer::plummer;
use crate::barnes::solve::{advance, sequential};
use crate::barnes::tree::{OnePlace, Tree};
use crate::barnes::verify::verify;

/// Moves the bodies by so many threads, and checks the result as ranks do. Returns the time of all
/// steps.
///
/// # Errors
/// Bodies in one place, or a wrong result.
pub fn solve(options: &Options, threads: usize) -> Result<Duration, Error> {
    let problem = options.problem();
    let begin = plummer(problem.bodies, options.seed)?;
    let sky = Sky {
        all: RwLock::new((begin.clone(), None)),
        moved: (0..threads).map(|_| Mutex::default()).collect(),
    };
    let times = crew(threads, |mate| {
        let (steps, time) = mate.timed(|| {
            let mut steps = 0..=problem.steps;
            steps.try_for_each(|step| sky.step(&problem, step, mate))
        });
        steps.map(|()| time)
    });
    let times = times.into_iter().collect::<Result<Vec<_>, _>>()?;
    let bodies = sky.all.into_inner().unwrap_or_else(PoisonError::into_inner).0;
    let mut expected = begin.clone();
    sequential(&problem, &mut expected, |_| ())?;
    verify(&problem, &begin, &bodies, &expected)?;
    Ok(times[0])
}

/// Plan of the step that is under way, or reason why there is none.
type Planned = Option<Result<Plan, OnePlace>>;

/// Memory that all threads share.
struct Sky {
    all: RwLock<(Vec<Body>, Planned)>,
    /// Bodies of each thread, as they are after a step.
    moved: Vec<Mutex<Vec<(u32, Body)>>>,
}

/// Plan of a step.
struct Plan {
    tree: Tree,
    /// Bodies, neighbours beside one another, and those of each thread.
    order: Vec<u32>,
    zones: Vec<Range<usize>>,
}

impl Sky {
    fn step(&self, problem: &Problem, step: usize, mate: &Crewmate<'_>) -> Result<(), OnePlace> {
        if mate.rank() == 0 {
            let mut all = self.all.write().unwrap_or_else(PoisonError::into_inner);
            all.1 = Some(Plan::of(&all.0, mate.size()));
        }
        mate.barrier();
        let mut mine = Vec::new();
        if let (bodies, Some(plan)) = &*self.all.read().unwrap_or_else(PoisonError::into_inner) {
            // If there is none, no thread goes on.
            let plan = plan.as_ref().map_err(|error| *error)?;
            plan.move_zone(bodies, (problem, step), mate.rank(), &mut mine);
        }
        *locked(&self.moved[mate.rank()]) = mine;
        mate.barrier();
        if mate.rank() == 0 {
            let mut all = self.all.write().unwrap_or_else(PoisonError::into_inner);
            for moved in &self.moved {
                for &(number, body) in locked(moved).iter() {
                    all.0[number as usize] = body;
                }
            }
        }
        Ok(())
    }
}

impl Plan {
    fn of(bodies: &[Body], threads: usize) -> Result<Self, OnePlace> {
        let parts: Vec<Part> = bodies.iter().map(Body::part).collect();
        let reach = parts.iter().map(|part| part.centre.reach()).fold(0.0, f64::max);
        let place = |body: u32| parts[body as usize].centre;
        let mut tree = Tree::of(Cube::around(reach), 0..bodies.len() as u32, place)?;
        tree.sum(|body| parts[body as usize]);
        let order = tree.order();
        let zones = zones(order.iter().map(|&body| parts[body as usize].cost), threads);
        Ok(Plan { tree, order, zones })
    }

    /// Moves the bodies of a thread, which go into `moved`.
    fn move_zone(
        &self,
        bodies: &[Body],
        (problem, step): (&Problem, usize),
        thread: usize,
        moved: &mut Vec<(u32, Body)>,
    ) {
        let cube = self.tree.cube;
        let mut sky = Alone(&self.tree, |body: u32| bodies[body as usize].part());
        for &number in &self.order[self.zones[thread].clone()] {
            let mut body = bodies[number as usize];
            let outcome = force(&mut sky, problem, cube, number, body.position);
            let (acceleration, visits) = outcome.unwrap_or_else(|never: Infallible| match never {});
            (body.acceleration, body.cost) = (acceleration, visits.max(1));
            advance(&mut body, problem, step);
            moved.push((number, body));
        }
    }
}

/// So many ranges of things with these costs, which cost about the same.
fn zones(costs: impl Iterator<Item = u64> + Clone, count: usize) -> Vec<Range<usize>> {
    let total: u64 = costs.clone().sum();
    let mut ends = vec![0; count + 1];
    let mut before = 0;
    for (index, cost) in costs.enumerate() {
        let zone = (u128::from(before) * count as u128 / u128::from(total)) as usize;
        ends[zone + 1] = index + 1;
        before += cost;
    }
    for zone in 0..count {
        ends[zone + 1] = ends[zone + 1].max(ends[zone]);
    }
    ends.windows(2).map(|both| both[0]..both[1]).collect()
}
