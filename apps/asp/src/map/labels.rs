//! Placing labels next to points so that they cover neither each other nor the points.

/// The part of its area that a label may cover if it is not needed: the edge of a line, not a name.
const COVERS_AT_MOST: f64 = 0.1;

/// A rectangle on the page, y growing downwards.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Area {
    /// Left edge.
    pub x: f64,
    /// Upper edge.
    pub y: f64,
    /// Width.
    pub width: f64,
    /// Height.
    pub height: f64,
}

impl Area {
    /// The square around a point.
    pub fn around((x, y): (f64, f64), reach: f64) -> Self {
        Self { x: x - reach, y: y - reach, width: 2.0 * reach, height: 2.0 * reach }
    }

    /// The part that two areas share, in square pixels.
    fn shared(&self, other: &Self) -> f64 {
        let width = (self.x + self.width).min(other.x + other.width) - self.x.max(other.x);
        let height = (self.y + self.height).min(other.y + other.height) - self.y.max(other.y);
        width.max(0.0) * height.max(0.0)
    }

    /// The part of this area that is outside of `frame`.
    fn outside(&self, frame: &Self) -> f64 {
        self.width * self.height - self.shared(frame)
    }
}

/// Finds places for labels, one after the other.
#[derive(Debug)]
pub struct Labels {
    frame: Area,
    taken: Vec<Area>,
}

impl Labels {
    /// Labels stay in `frame` and off what is `taken`.
    pub fn new(frame: Area, taken: Vec<Area>) -> Self {
        Self { frame, taken }
    }

    /// A place for a label of this size beside `point`: the one that covers the least, if that is
    /// hardly anything or the label is `needed`.
    pub fn place(
        &mut self,
        point: (f64, f64),
        size: (f64, f64),
        gap: f64,
        needed: bool,
    ) -> Option<Area> {
        let cost = |area: &Area| -> f64 {
            let covered: f64 = self.taken.iter().map(|taken| taken.shared(area)).sum();
            // To whole pixels, because differences of products leave crumbs.
            (covered + 4.0 * area.outside(&self.frame)).round()
        };
        let places = beside(point, size, gap).map(|area| (cost(&area), area));
        let best = places.into_iter().reduce(|a, b| if b.0 < a.0 { b } else { a });
        let bearable = COVERS_AT_MOST * size.0 * size.1;
        let (_, area) = best.filter(|&(cost, _)| needed || cost <= bearable)?;
        self.taken.push(area);
        Some(area)
    }
}

/// The places beside a point, the most readable first.
fn beside((x, y): (f64, f64), (width, height): (f64, f64), gap: f64) -> [Area; 8] {
    let (right, left, centre) = (x + gap, x - gap - width, x - width / 2.0);
    let (above, below, middle) = (y - gap - height, y + gap, y - height / 2.0);
    let near = gap * 0.4;
    [
        (right, middle),
        (left, middle),
        (centre, above),
        (centre, below),
        (x + near, above + near),
        (x + near, below - near),
        (x - near - width, above + near),
        (x - near - width, below - near),
    ]
    .map(|(x, y)| Area { x, y, width, height })
}

#[cfg(test)]
mod tests;
