use weft_app_common::noise;

/// Seeds of the two factors of a matrix of low rank are this far apart.
const FACTOR: u64 = 1 << 32;

/// Matrix to factorize: noise between -1 and 1, or a product of two thin matrices of noise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Problem {
    /// Rows of the matrix.
    pub rows: usize,
    /// Columns of the matrix.
    pub columns: usize,
    /// Rank of the matrix, if it is to have less than a full one.
    pub of_rank: Option<usize>,
    /// Seed of its noise.
    pub seed: u64,
}

impl Problem {
    /// Iterations at most.
    pub fn steps(&self) -> usize {
        self.rows.min(self.columns)
    }

    /// The elements of a column of the matrix.
    pub fn column(&self, column: usize) -> Vec<f64> {
        (0..self.rows).map(|row| self.element(row, column)).collect()
    }

    /// Steps of the inner loop that so many iterations take on one rank.
    pub fn operations(&self, steps: usize) -> usize {
        let reflected = |step: usize| 1 + 2 * (self.columns - step - 1);
        (0..steps).map(|step| reflected(step) * (self.rows - step)).sum()
    }

    fn element(&self, row: usize, column: usize) -> f64 {
        let Some(rank) = self.of_rank else {
            return noise(self.seed, (column * self.rows + row) as u64);
        };
        let term = |k: usize| {
            let left = noise(self.seed, (k * self.rows + row) as u64);
            left * noise(self.seed.wrapping_add(FACTOR), (k * self.columns + column) as u64)
        };
        (0..rank).map(term).sum()
    }
}
