//! The papers' figures beside ours: judged, as text, and as one page a paper.

mod judge;
mod page;
mod text;

pub use judge::{Fault, Measured, Row, Verdict};

use crate::counter::Counter;
use crate::experiment::{Experiment, Setting};
use crate::picture::Picture;
use crate::plot::Plot;
use crate::results::Results;
use crate::targets::{Paper, Targets};

/// Results of all experiments, beside what the papers print.
pub struct Report<'a> {
    targets: &'a Targets,
    chapters: Vec<Chapter<'a>>,
    faults: Vec<Fault>,
}

/// Results of one experiment.
pub(crate) struct Chapter<'a> {
    pub name: &'static str,
    pub title: &'static str,
    pub rows: Vec<Row<'a>>,
    pub settings: &'static [Setting],
    pub plots: Vec<Plot>,
    pub pictures: Vec<Picture>,
    /// The paper that it is mostly about, on whose page its plots and pictures are.
    pub of: Paper,
    pub notes: &'static str,
    pub machines: &'static [&'static str],
    pub turned: Vec<Turned<'a>>,
}

/// A counter-experiment, and its rows as they are then.
pub(crate) struct Turned<'a> {
    pub counter: &'static Counter,
    pub rows: Vec<Row<'a>>,
}

/// A file of the pages: its name, and what is in it.
pub type PageFile = (String, String);

impl<'a> Report<'a> {
    /// A report without experiments.
    pub fn new(targets: &'a Targets) -> Self {
        Report { targets, chapters: Vec::new(), faults: Vec::new() }
    }

    /// Adds what `experiment` saw.
    pub fn add(&mut self, experiment: &dyn Experiment, results: &Results) {
        let (rows, faults) = judge::rows(self.targets, experiment, results);
        self.faults.extend(faults);
        let mut plots = Vec::new();
        for plot in results.plots() {
            match plot.clone().with_paper(self.targets) {
                Ok(plot) => plots.push(plot),
                Err(id) => self.faults.push(Fault::Unknown(id)),
            }
        }
        let of = rows.first().map_or(Paper::Thesis, |row| row.target.paper);
        self.chapters.push(Chapter {
            name: experiment.name(),
            title: experiment.title(),
            rows,
            settings: experiment.settings(),
            plots,
            pictures: results.pictures().to_vec(),
            of,
            notes: experiment.notes(),
            machines: experiment.machines(),
            turned: Vec::new(),
        });
    }

    /// Adds what a counter-experiment of the experiment that was added last saw.
    pub fn turn(&mut self, counter: &'static Counter, results: &Results) {
        let Some(chapter) = self.chapters.last_mut() else { return };
        let (rows, faults) = judge::turned(self.targets, &chapter.rows, counter, results);
        chapter.turned.push(Turned { counter, rows });
        self.faults.extend(faults);
    }

    /// Faults because of which there can be no pages.
    pub fn faults(&self) -> &[Fault] {
        &self.faults
    }

    /// Everything, for a terminal.
    pub fn text(&self) -> String {
        text::report(self)
    }

    /// The pages and their figures: one page for each paper.
    pub fn pages(&self) -> Vec<PageFile> {
        let pages = Paper::ALL.map(|paper| (format!("{paper}.md"), page::page(self, paper)));
        let plots = self.chapters.iter().flat_map(|chapter| &chapter.plots);
        let drawn = plots.map(|plot| (format!("{}.svg", plot.name), plot.svg()));
        let pictures = self.chapters.iter().flat_map(|chapter| &chapter.pictures);
        let pictures = pictures.map(|picture| (picture.file(), picture.svg.clone()));
        pages.into_iter().chain(drawn).chain(pictures).collect()
    }

    /// The chapters that measure something of `paper`.
    fn of(&self, paper: Paper) -> impl Iterator<Item = &Chapter<'a>> {
        self.chapters
            .iter()
            .filter(move |chapter| chapter.rows.iter().any(|row| row.target.paper == paper))
    }
}

#[cfg(test)]
mod tests;
