//! Figures: charts with what the paper prints beside what was measured.

use crate::targets::{Target, Targets};
use weft_app_common::chart::Chart;
pub use weft_app_common::chart::{Scale, Series};

/// A series that the paper prints: its name, and for each x the sum of targets times factors.
type Printed = (String, Vec<(f64, Vec<(&'static str, f64)>)>);

/// A figure.
#[derive(Clone, PartialEq, Debug)]
pub struct Plot {
    /// Its file, without the ending.
    pub name: &'static str,
    /// The chart.
    pub chart: Chart,
    printed: Vec<Printed>,
}

impl Plot {
    /// An empty figure.
    pub fn new(name: &'static str, title: &str, x: (&str, Scale), y: (&str, Scale)) -> Self {
        Plot { name, chart: Chart::new(title, x, y), printed: Vec::new() }
    }

    /// Adds what was measured.
    pub fn line(&mut self, name: impl Into<String>, points: Vec<(f64, f64)>) {
        self.chart.line(name, points);
    }

    /// Adds points that the paper prints: targets by id.
    pub fn paper(&mut self, name: impl Into<String>, points: &[(f64, &'static str)]) {
        let points = points.iter().map(|&(x, id)| (x, vec![(id, 1.0)])).collect();
        self.printed.push((name.into(), points));
    }

    /// Adds points of the line `slope * x + intercept` that the paper prints, as targets by id.
    pub fn paper_line(
        &mut self,
        name: &str,
        slope: &'static str,
        intercept: &'static str,
        xs: &[f64],
    ) {
        let point = |&x: &f64| (x, vec![(slope, x), (intercept, 1.0)]);
        self.printed.push((name.into(), xs.iter().map(point).collect()));
    }

    /// Looks up what the paper prints.
    ///
    /// # Errors
    /// The first id that is no target with a number.
    pub fn with_paper(mut self, targets: &Targets) -> Result<Self, &'static str> {
        for (name, points) in std::mem::take(&mut self.printed) {
            let points = points.into_iter().map(|(x, terms)| {
                let value = |&(id, factor)| {
                    let printed = targets.get(id).and_then(Target::number);
                    printed.map(|printed| printed * factor).ok_or(id)
                };
                terms.iter().map(value).sum::<Result<f64, _>>().map(|y| (x, y))
            });
            let points = points.collect::<Result<_, _>>()?;
            self.chart.series.push(Series { name, points, rings: true });
        }
        Ok(self)
    }

    /// The figure as an SVG document.
    pub fn svg(&self) -> String {
        self.chart.svg()
    }
}

#[cfg(test)]
mod tests;
