//! Branch and bound: all tours that begin in some way, but for those that cannot be the best.

use weft_object::Result;

use crate::tsp::towns::Towns;

/// A tour, or its beginning: it starts at town 0.
pub type Route = Vec<u8>;

/// The best tour so far, of all ranks.
pub trait Best {
    /// Its length; `u64::MAX` before there is one. Asked before every step.
    ///
    /// # Errors
    /// A lost rank.
    fn length(&self) -> Result<u64>;

    /// Offers a tour.
    ///
    /// # Errors
    /// A lost rank.
    fn offer(&self, length: u64, tour: &[u8]) -> Result<()>;

    /// Called after each batch of steps, with their number.
    fn work(&self, _steps: u64) {}
}

/// True if a tour is better than another: shorter, or as long and earlier in order.
pub fn is_better(tour: (u64, &[u8]), than: (u64, &[u8])) -> bool {
    tour < than
}

/// Steps after which [`Best::work`] is told.
const REPORTED: u64 = 256;

/// A search, with what it needs of the towns.
pub struct Search<'a, B> {
    towns: &'a Towns,
    best: &'a B,
    /// By town, the distance to the nearest other.
    least: Vec<u64>,
    /// By town, all others, the nearest first.
    near: Vec<Vec<u8>>,
    /// Steps so far: towns that were added to a tour.
    pub nodes: u64,
}

impl<'a, B: Best> Search<'a, B> {
    /// A search of the best tour of these towns.
    pub fn new(towns: &'a Towns, best: &'a B) -> Self {
        let near: Vec<Vec<u8>> = (0..towns.count()).map(|town| nearest(towns, town)).collect();
        let least = |(town, near): (usize, &Vec<u8>)| {
            near.first().map_or(0, |first| u64::from(towns.distance(town, usize::from(*first))))
        };
        let least = near.iter().enumerate().map(least).collect();
        Search { towns, best, least, near, nodes: 0 }
    }

    /// Beginnings of tours with so many towns, the nearest first.
    pub fn beginnings(&self, depth: usize) -> Vec<Route> {
        let mut routes = vec![vec![0]];
        for _ in 1..depth.min(self.towns.count()) {
            let longer = |route: &Route| {
                let near = &self.near[usize::from(route[route.len() - 1])];
                let free = near.iter().filter(|town| !route.contains(town));
                free.map(|town| [&route[..], &[*town]].concat()).collect::<Vec<_>>()
            };
            routes = routes.iter().flat_map(longer).collect();
        }
        routes
    }

    /// Offers all tours that begin with `route` and may be the best.
    ///
    /// # Errors
    /// A lost rank.
    pub fn run(&mut self, route: &mut Route) -> Result<()> {
        let length = route.windows(2).map(|step| self.distance(step[0], step[1])).sum();
        let rest = (0..self.towns.count()).filter(|town| !route.contains(&(*town as u8)));
        let rest = rest.map(|town| self.least[town]).sum();
        self.from(route, length, rest)
    }

    /// `length` is that of the route, `rest` the sum of the least ways from all other towns.
    fn from(&mut self, route: &mut Route, length: u64, rest: u64) -> Result<()> {
        self.nodes += 1;
        if self.nodes.is_multiple_of(REPORTED) {
            self.best.work(REPORTED);
        }
        let last = route[route.len() - 1];
        // Each town is left once more, by its least way at least. What is as long may be earlier.
        if length + rest + self.least[usize::from(last)] > self.best.length()? {
            return Ok(());
        }
        if route.len() == self.towns.count() {
            return self.finish(route, length + self.distance(last, route[0]));
        }
        for index in 0..self.near[usize::from(last)].len() {
            let town = self.near[usize::from(last)][index];
            if !route.contains(&town) {
                let longer = length + self.distance(last, town);
                route.push(town);
                self.from(route, longer, rest - self.least[usize::from(town)])?;
                route.pop();
            }
        }
        Ok(())
    }

    fn finish(&self, tour: &[u8], length: u64) -> Result<()> {
        // Of the two directions of a tour one is enough.
        let is_forward = tour.len() < 3 || tour[1] < tour[tour.len() - 1];
        if is_forward && length <= self.best.length()? {
            self.best.offer(length, tour)?;
        }
        Ok(())
    }

    fn distance(&self, from: u8, to: u8) -> u64 {
        u64::from(self.towns.distance(from.into(), to.into()))
    }
}

fn nearest(towns: &Towns, town: usize) -> Vec<u8> {
    let mut others: Vec<usize> = (0..towns.count()).filter(|other| *other != town).collect();
    others.sort_by_key(|other| (towns.distance(town, *other), *other));
    others.into_iter().map(|other| other as u8).collect()
}

#[cfg(test)]
mod tests;
