use weft_app_common::noise;

/// Problem to solve: Laplace's equation on a grid of points with fixed values around it.
///
/// There are `rows` by `columns` points, as far apart in both directions, on a rectangle whose
/// longer side is 1, and fixed values on its border: those of `x^2 - y^2`. That function solves the
/// differential equation and, being quadratic, the difference equation as well, so the exact answer
/// is known at every point. The points start from noise, so that every rank has work from the first
/// iteration on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Problem {
    /// Rows of points.
    pub rows: usize,
    /// Points of a row.
    pub columns: usize,
    /// The relaxation factor, between 0 and 2.
    pub omega: f64,
    /// The solution has converged when no point changes by more than this in an iteration.
    pub tolerance: f64,
    /// The most iterations.
    pub iterations: usize,
    /// Exchange of border rows, which makes no difference to the result.
    pub borders: Borders,
}

/// Exchange of border rows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Borders {
    /// True if both colours of a row travel, though one has not changed.
    pub whole_rows: bool,
    /// Order of sending and receiving.
    pub order: Order,
}

/// Order in which ranks send border rows to their neighbours and receive theirs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Order {
    /// Even ranks send and then receive, odd ones receive and then send
    #[default]
    Turns,
    /// All send downwards, then all upwards, then they receive
    SameWay,
    /// All send and then receive, of which pairs of neighbours send to one another at a time
    Pairs,
}

impl Problem {
    /// The exact solution. `row` and `column` count from the values around the points: 0 and
    /// `rows + 1`, or `columns + 1`, are on the border.
    pub fn exact(&self, row: usize, column: usize) -> f64 {
        let longer_side = (self.rows.max(self.columns) + 1) as f64;
        let (x, y) = (column as f64 / longer_side, row as f64 / longer_side);
        x * x - y * y
    }

    /// Initial value of a point: noise between -1 and 1. Counts like [`Self::exact`].
    pub fn start(&self, row: usize, column: usize) -> f64 {
        let on_border =
            [0, self.rows + 1].contains(&row) || [0, self.columns + 1].contains(&column);
        if on_border {
            return self.exact(row, column);
        }
        let index = (row * (self.columns + 2) + column) as u64;
        noise(0, index)
    }
}

/// The factor with which a grid of this size converges fastest.
pub fn best_omega(rows: usize, columns: usize) -> f64 {
    let radius = |points: usize| (std::f64::consts::PI / (points + 1) as f64).cos();
    let radius = (radius(rows) + radius(columns)) / 2.0;
    2.0 / (1.0 + (1.0 - radius * radius).sqrt())
}
