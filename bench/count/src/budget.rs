//! The file of figures, and the comparison with it.

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// Per cent by which a figure may grow.
const GROWTH: f64 = 2.0;

/// Instructions by figure.
pub type Figures = BTreeMap<String, f64>;

/// Contents of the file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Budget {
    /// Compiler and target for which alone the figures hold.
    pub counted_with: CountedWith,
    /// Instructions of each.
    pub figures: Figures,
}

/// A compiler, and what it compiles for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CountedWith {
    /// Its version.
    pub rustc: String,
    /// The target.
    pub target: String,
    /// The features of processors that it may rely on.
    pub features: String,
}

/// Outcome of the comparison of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Within the limit.
    Kept,
    /// Fewer, by more than the limit: the file should say so.
    Shrunk,
    /// More, by more than the limit.
    Grown,
    /// Not in the file.
    New,
}

impl CountedWith {
    /// Compiler and target of this program.
    pub fn here() -> Self {
        CountedWith {
            rustc: env!("COUNTED_RUSTC").into(),
            target: env!("COUNTED_TARGET").into(),
            features: env!("COUNTED_FEATURES").into(),
        }
    }
}

impl std::fmt::Display for CountedWith {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "rustc {} for {} with {}", self.rustc, self.target, self.features)
    }
}

/// First lines of the file, for its reader.
const HEAD: &str = "\
# Instructions of each step, counted by `make count`, which says how (bench/count). `make count-keep` writes this file.
# `make test` fails where one grows by more than 2 %, with the same compiler and target.

";

impl Budget {
    /// Reads the file.
    ///
    /// # Errors
    /// There is none, or it is not such a file.
    pub fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path).with_context(|| {
            format!("{} cannot be read; `make count-keep` writes it", path.display())
        })?;
        toml::from_str(&text).with_context(|| format!("{} is no file of figures", path.display()))
    }

    /// The file as text: a line for each figure, in this order.
    pub fn text(&self, order: &[&str]) -> String {
        let CountedWith { rustc, target, features } = &self.counted_with;
        let mut text = format!(
            "{HEAD}[counted_with]\nrustc = \"{rustc}\"\ntarget = \"{target}\"\nfeatures = \"{features}\"\n\n[figures]\n"
        );
        for name in order {
            if let Some(figure) = self.figures.get(*name) {
                text += &format!("{name} = {figure:.1}\n");
            }
        }
        text
    }

    /// Outcome of comparing `now` with the figure `name` of the file.
    pub fn judge(&self, name: &str, now: f64) -> Verdict {
        let Some(before) = self.figures.get(name) else { return Verdict::New };
        match (now - before) / before * 100.0 {
            grown if grown > GROWTH => Verdict::Grown,
            grown if grown < -GROWTH => Verdict::Shrunk,
            _ => Verdict::Kept,
        }
    }

    /// The figures that have grown, if they may be compared at all.
    pub fn grown<'a>(&self, here: &CountedWith, now: &'a Figures) -> Vec<&'a str> {
        if *here != self.counted_with {
            return Vec::new();
        }
        let grown = now.iter().filter(|(name, now)| self.judge(name, **now) == Verdict::Grown);
        grown.map(|(name, _)| &**name).collect()
    }
}

#[cfg(test)]
mod tests;
