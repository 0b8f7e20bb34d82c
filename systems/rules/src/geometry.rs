//! Boards: cells of a grid or of a ring, and the steps between them.

/// Most cells of a board: one bit each of a word.
pub const MOST_CELLS: usize = 64;

/// A step from a cell to another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Step {
    /// Columns to the right; on a ring, cells forward.
    pub columns: i32,
    /// Rows down.
    pub rows: i32,
}

/// A board with the first position. Cells are numbered row by row, with those that are no places.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Board {
    /// Columns.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// True if the first cell follows on the last one.
    pub is_ring: bool,
    /// The cells that are places.
    pub places: u64,
    /// Content of each cell in the first position.
    pub first: Vec<u8>,
    /// Steps that moves make.
    pub steps: Vec<Step>,
}

impl Board {
    /// Number of cells.
    pub fn cells(&self) -> usize {
        self.width * self.height
    }

    /// The cell to which a step leads, if it is a place.
    pub fn after(&self, cell: usize, step: Step) -> Option<usize> {
        let cells = self.cells() as i32;
        if self.is_ring {
            return Some((cell as i32 + step.columns).rem_euclid(cells) as usize);
        }
        let [width, height] = [self.width as i32, self.height as i32];
        let column = cell as i32 % width + step.columns;
        let row = cell as i32 / width + step.rows;
        let inside = (0..width).contains(&column) && (0..height).contains(&row);
        let next = inside.then_some((row * width + column) as usize);
        next.filter(|next| self.places >> next & 1 == 1)
    }

    /// Places from which a step leads to a place.
    pub fn inner(&self, step: Step) -> u64 {
        let inner = |cell: &usize| self.after(*cell, step).is_some();
        self.place_numbers().filter(inner).fold(0, |all, cell| all | 1 << cell)
    }

    /// Difference of cell numbers that a step makes.
    pub fn shift(&self, step: Step) -> i32 {
        step.rows * self.width as i32 + step.columns
    }

    /// Most places in a line of such steps.
    pub fn longest_line(&self, step: Step) -> usize {
        let line = |cell| {
            let next = |cell: &usize| self.after(*cell, step);
            std::iter::successors(Some(cell), next).take(self.cells()).count()
        };
        self.place_numbers().map(line).max().unwrap_or(0)
    }

    /// The places.
    pub fn place_numbers(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.cells()).filter(|cell| self.places >> cell & 1 == 1)
    }

    /// Number of a step, which is added if it is new.
    pub fn step(&mut self, step: Step) -> usize {
        let known = self.steps.iter().position(|known| *known == step);
        known.unwrap_or_else(|| {
            self.steps.push(step);
            self.steps.len() - 1
        })
    }

    /// The opposite of a step, if moves make it.
    pub fn opposite(&self, step: usize) -> Option<usize> {
        let Step { columns, rows } = self.steps[step];
        self.steps.iter().position(|known| *known == Step { columns: -columns, rows: -rows })
    }

    /// The cell that a cell is once the board was turned by a half, or flipped.
    pub fn turned(&self, cell: usize, flip: bool) -> usize {
        let cells = self.cells();
        match (self.is_ring, flip) {
            (true, _) => (cell + cells / 2) % cells,
            (false, false) => cells - 1 - cell,
            (false, true) => (self.height - 1 - cell / self.width) * self.width + cell % self.width,
        }
    }
}
