//! Least squares.

/// The line `slope * x + intercept` nearest to `points` by least squares.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Line {
    /// Rise of y for each unit of x.
    pub slope: f64,
    /// y at x = 0.
    pub intercept: f64,
    /// The share of y's variance that the line explains: 1 if all points lie on it.
    pub determination: f64,
}

/// Fits a line; `None` without two different x.
pub fn line(points: &[(f64, f64)]) -> Option<Line> {
    let n = points.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / n;
    let (mean_x, mean_y) = (mean(|point| point.0), mean(|point| point.1));
    let sum = |of: &dyn Fn(f64, f64) -> f64| -> f64 {
        points.iter().map(|&(x, y)| of(x - mean_x, y - mean_y)).sum()
    };
    let (xx, xy, yy) = (sum(&|x, _| x * x), sum(&|x, y| x * y), sum(&|_, y| y * y));
    if points.is_empty() || xx == 0.0 {
        return None;
    }
    let determination = if yy == 0.0 { 1.0 } else { xy * xy / (xx * yy) };
    let slope = xy / xx;
    Some(Line { slope, intercept: mean_y - slope * mean_x, determination })
}

#[cfg(test)]
mod tests {
    use super::line;

    #[test]
    fn points_on_a_line_give_that_line() {
        let points: Vec<(f64, f64)> =
            [1.0, 2.0, 5.0, 9.0].map(|fanout| (fanout, 4.6 * fanout + 5.2)).into();
        let found = line(&points).unwrap();
        assert!((found.slope - 4.6).abs() < 1e-12 && (found.intercept - 5.2).abs() < 1e-12);
        assert!((found.determination - 1.0).abs() < 1e-12);
    }

    #[test]
    fn noise_lowers_the_determination_and_one_point_is_no_line() {
        let found = line(&[(0.0, 0.0), (1.0, 3.0), (2.0, 0.0), (3.0, 3.0)]).unwrap();
        assert!((found.slope - 0.6).abs() < 1e-12 && (found.intercept - 0.6).abs() < 1e-12);
        assert!((found.determination - 0.2).abs() < 1e-12);
        assert_eq!(line(&[(1.0, 2.0), (1.0, 3.0)]), None);
        assert_eq!(line(&[]), None);
    }
}
