//! Steps in time, by all ranks together and by one alone.

use std::convert::Infallible;

use weft_app_common::{Blocks, Vector};

use crate::barnes::body::Body;
use crate::barnes::cell::Cube;
use crate::barnes::error::Error;
use crate::barnes::force::{Alone, Problem, force};
use crate::barnes::grow::{ROOT, grow, weigh, zone};
use crate::barnes::shared::SharedSky;
use crate::barnes::tree::{OnePlace, Tree};

/// Operations, in the sense of `Packets::work`, that it takes to look at a body or a cell from a
/// body. Chosen so that a run as long as the defaults make it takes one of the thesis's processors
/// the 123.24 s of table 8.6, which does not say how many steps there are in it, nor how many
/// visits: 408 cycles, then.
const VISIT: usize = 102;
/// Operations for each body and each cell to build a tree and weigh it. Assumed; it is less than
/// one in a hundred of the whole.
const PLANT: usize = 150;

/// Moves the bodies of `sky`. Collective: every rank calls it with the same problem. `progress`
/// hears how many steps are done.
///
/// The bodies, all bits of them, are those that [`sequential`] gives: the tree does not depend on
/// who built it, and all sums are in its order.
///
/// # Errors
/// Bodies in one place; a peer's breach, a lost rank.
pub fn parallel(
    sky: &mut SharedSky<'_>,
    problem: &Problem,
    mut progress: impl FnMut(usize),
) -> Result<(), Error> {
    let shared = sky.shared();
    let (rank, ranks) = (shared.rank(), shared.size());
    let mut mine: Vec<u32> =
        Blocks::new(problem.bodies, ranks).of(rank).map(|body| body as u32).collect();
    let mut places = vec![Vector::default(); problem.bodies];
    for &body in &mine {
        places[body as usize] = sky.whole_body(body)?.position;
    }
    for step in 0..=problem.steps {
        let reach = prepare(sky, mine.iter().map(|&body| places[body as usize]))?;
        let cube = Cube::around(reach);
        let place = |body: u32| places[body as usize];
        let own = Tree::of(cube, mine.iter().copied(), place)?;
        shared.work(PLANT * (mine.len() + own.cells.len()));
        let linked = grow(sky, &own, place)?;
        shared.barrier()?;
        weigh(sky, &linked)?;
        shared.barrier()?;
        mine = zone(sky, rank, ranks)?;
        let bodies = forces(sky, problem, cube, &mine)?;
        shared.barrier()?;
        for (number, mut body) in bodies {
            advance(&mut body, problem, step);
            places[number as usize] = body.position;
            sky.write_body(number, &body)?;
        }
        progress(step);
    }
    Ok(shared.barrier()?)
}

/// Empties the root. Returns how far the bodies of all ranks reach, of which this one has those at
/// `places`: the largest absolute value of a coordinate. Collective.
fn prepare(sky: &mut SharedSky<'_>, places: impl Iterator<Item = Vector>) -> Result<f64, Error> {
    if sky.number(0) == ROOT {
        sky.plant(0, &crate::barnes::cell::Cell::empty(ROOT))?;
    }
    let mut reach = [places.map(Vector::reach).fold(0.0, f64::max)];
    sky.shared().regions().reduce(&mut reach, f64::max)?;
    Ok(reach[0])
}

/// These bodies with the forces on them.
fn forces(
    sky: &mut SharedSky<'_>,
    problem: &Problem,
    cube: Cube,
    mine: &[u32],
) -> Result<Vec<(u32, Body)>, Error> {
    let shared = sky.shared();
    let mut bodies = Vec::with_capacity(mine.len());
    for &number in mine {
        let mut body = sky.whole_body(number)?;
        let (acceleration, visits) = force(sky, problem, cube, number, body.position)?;
        shared.work(VISIT * visits as usize);
        body.acceleration = acceleration;
        body.cost = visits.max(1);
        bodies.push((number, body));
    }
    Ok(bodies)
}

/// Solves the problem on one rank, with a tree of its own and nobody to talk to. `work` hears of
/// the operations.
///
/// # Errors
/// [`OnePlace`].
pub fn sequential(
    problem: &Problem,
    bodies: &mut [Body],
    mut work: impl FnMut(usize),
) -> Result<(), OnePlace> {
    for step in 0..=problem.steps {
        let parts: Vec<_> = bodies.iter().map(Body::part).collect();
        let part = |body: u32| parts[body as usize];
        let reach = parts.iter().map(|part| part.centre.reach()).fold(0.0, f64::max);
        let mut tree =
            Tree::of(Cube::around(reach), 0..bodies.len() as u32, |body| part(body).centre)?;
        tree.sum(part);
        work(PLANT * (bodies.len() + tree.cells.len()));
        let mut sky = Alone(&tree, part);
        for (number, body) in bodies.iter_mut().enumerate() {
            let outcome = force(&mut sky, problem, tree.cube, number as u32, body.position);
            let (acceleration, visits) = outcome.unwrap_or_else(|never: Infallible| match never {});
            work(VISIT * visits as usize);
            body.acceleration = acceleration;
            body.cost = visits.max(1);
            advance(body, problem, step);
        }
    }
    Ok(())
}

/// Moves a body on, once the forces at `step` are known (leap-frog). Before the first step
/// velocities are those of the same time as the positions; then they are half a step behind, until
/// the last forces bring them together again.
pub(crate) fn advance(body: &mut Body, problem: &Problem, step: usize) {
    let halves = u8::from(step > 0) + u8::from(step < problem.steps);
    body.kick(f64::from(halves) * 0.5 * problem.step);
    if step < problem.steps {
        body.drift(problem.step);
    }
}
