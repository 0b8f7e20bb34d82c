//! Towns and their distances: from a file in TSPLIB's format, or made of noise.

use std::f64::consts::PI;
use std::path::Path;

use weft_app_common::random;

/// The towns that come with the program.
pub const BURMA: &str = include_str!("../../data/burma14.tsp");

/// The fewest towns of a tour, and the most: a set of them is 64 bits.
const FEWEST: usize = 3;
const MOST: usize = 64;

/// Reason why a file is no input.
#[derive(Debug, thiserror::Error)]
pub enum InputError {
    /// A file that cannot be read.
    #[error("{file}: {cause}")]
    Unreadable {
        /// The file.
        file: String,
        /// Error of the system.
        cause: std::io::Error,
    },
    /// A line that makes no sense.
    #[error("{file}:{line}: expected {expected}, found \"{found}\"")]
    Line {
        /// The file.
        file: String,
        /// Number of the line, from 1.
        line: usize,
        /// Description of what there should be.
        expected: &'static str,
        /// The line.
        found: String,
    },
    /// Too few or too many towns.
    #[error("{file} has {towns} towns; there may be {FEWEST} to {MOST}")]
    Towns {
        /// The file.
        file: String,
        /// Number of its towns.
        towns: usize,
    },
}

/// Distances between towns, the same in both directions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Towns {
    count: usize,
    distances: Vec<u32>,
}

/// Kind of distances of a file.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Weights {
    /// Between points of a plane, rounded.
    Plane,
    /// Between points of the earth, in kilometres.
    Earth,
}

impl Towns {
    /// Reads a file in TSPLIB's format with coordinates (`EUC_2D` or `GEO`).
    ///
    /// # Errors
    /// [`InputError`].
    pub fn read(path: &Path) -> Result<Self, InputError> {
        let file = path.display().to_string();
        let text = std::fs::read_to_string(path);
        let text = text.map_err(|cause| InputError::Unreadable { file: file.clone(), cause })?;
        Self::parse(&file, &text)
    }

    /// Reads what stands in a file.
    ///
    /// # Errors
    /// [`InputError`].
    pub fn parse(file: &str, text: &str) -> Result<Self, InputError> {
        let (mut weights, mut points, mut in_points) = (Weights::Plane, Vec::new(), false);
        for (index, line) in text.lines().enumerate() {
            let wrong = |expected| {
                let (file, found) = (file.to_owned(), line.trim().to_owned());
                InputError::Line { file, line: index + 1, expected, found }
            };
            let (key, value) = line.split_once(':').unwrap_or((line, ""));
            match (key.trim(), value.trim()) {
                ("", "") => {}
                ("EOF", _) => break,
                ("NODE_COORD_SECTION", _) => in_points = true,
                ("EDGE_WEIGHT_TYPE", "EUC_2D") => weights = Weights::Plane,
                ("EDGE_WEIGHT_TYPE", "GEO") => weights = Weights::Earth,
                ("EDGE_WEIGHT_TYPE", _) => return Err(wrong("EUC_2D or GEO")),
                ("TYPE", kind) if kind != "TSP" => return Err(wrong("a problem of type TSP")),
                ("EDGE_WEIGHT_SECTION", _) => return Err(wrong("coordinates")),
                _ if in_points => points.push(
                    point(line)
                        .ok_or_else(|| wrong("the number of a town and its two coordinates"))?,
                ),
                _ => {}
            }
        }
        if !(FEWEST..=MOST).contains(&points.len()) {
            return Err(InputError::Towns { file: file.to_owned(), towns: points.len() });
        }
        Ok(Self::between(&points, |a, b| match weights {
            Weights::Plane => in_plane(a, b),
            Weights::Earth => on_earth(a, b),
        }))
    }

    /// Makes so many towns at random places of a square of 1,000 by 1,000.
    pub fn made(count: usize, seed: u64) -> Self {
        let place = |index| (random(seed, index) % 1000) as f64;
        let points: Vec<_> =
            (0..count as u64).map(|town| (place(2 * town), place(2 * town + 1))).collect();
        Self::between(&points, in_plane)
    }

    fn between(points: &[(f64, f64)], distance: impl Fn((f64, f64), (f64, f64)) -> u32) -> Self {
        let from = |a| points.iter().map(move |b| (a, *b));
        let pairs = points.iter().flat_map(|a| from(*a));
        let distances = pairs.map(|(a, b)| if a == b { 0 } else { distance(a, b) }).collect();
        Towns { count: points.len(), distances }
    }

    /// Number of towns.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Distance of two towns.
    pub fn distance(&self, from: usize, to: usize) -> u32 {
        self.distances[from * self.count + to]
    }

    /// All distances, for the ranks to agree on.
    pub fn distances_mut(&mut self) -> &mut [u32] {
        &mut self.distances
    }

    /// Length of a tour, back to its first town; `None` if it does not visit each town once.
    pub fn length(&self, tour: &[u8]) -> Option<u64> {
        let mut sorted: Vec<usize> = tour.iter().map(|town| usize::from(*town)).collect();
        sorted.sort_unstable();
        if !sorted.into_iter().eq(0..self.count) {
            return None;
        }
        let next = tour.iter().cycle().skip(1);
        let steps = tour.iter().zip(next);
        Some(steps.map(|(a, b)| u64::from(self.distance((*a).into(), (*b).into()))).sum())
    }
}

fn point(line: &str) -> Option<(f64, f64)> {
    let mut words = line.split_whitespace();
    let _number = words.next()?;
    let mut number = || words.next()?.parse::<f64>().ok().filter(|value| value.is_finite());
    let point = (number()?, number()?);
    words.next().is_none().then_some(point)
}

/// TSPLIB's `EUC_2D`.
fn in_plane(a: (f64, f64), b: (f64, f64)) -> u32 {
    let (x, y) = (a.0 - b.0, a.1 - b.1);
    (x * x + y * y).sqrt().round().min(1e6) as u32
}

/// TSPLIB's `GEO`: degrees and minutes as `DDD.MM`, and an earth that is a sphere.
fn on_earth(a: (f64, f64), b: (f64, f64)) -> u32 {
    const RADIUS: f64 = 6378.388;
    let radians = |value: f64| PI * (value.trunc() + 5.0 * value.fract() / 3.0) / 180.0;
    let (apart, minus, plus) = (
        (radians(a.1) - radians(b.1)).cos(),
        (radians(a.0) - radians(b.0)).cos(),
        (radians(a.0) + radians(b.0)).cos(),
    );
    let cosine = 0.5 * ((1.0 + apart) * minus - (1.0 - apart) * plus);
    (RADIUS * cosine.clamp(-1.0, 1.0).acos() + 1.0) as u32
}

#[cfg(test)]
mod tests;
