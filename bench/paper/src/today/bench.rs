//! `weft bench`, run and read.

use anyhow::{Context, Result, bail};
use serde::Deserialize;
use std::process::Command;

/// A line of `weft bench --json`, as far as it is used.
#[derive(Clone, Deserialize, Debug)]
pub struct Line {
    /// Name of the benchmark.
    pub bench: String,
    /// Its median.
    pub p50: f64,
    /// Floors that were measured in turns with it.
    pub floors: Vec<Floor>,
}

/// A floor of it.
#[derive(Clone, Deserialize, Debug)]
pub struct Floor {
    /// Name of the floor.
    pub what: String,
    /// Its median; none if it was not measured.
    pub p50: Option<f64>,
}

impl Line {
    /// The median of the floor whose name contains `what`.
    ///
    /// # Errors
    /// There is none.
    pub fn floor(&self, what: &str) -> Result<f64> {
        let floor = self.floors.iter().find(|floor| floor.what.contains(what));
        let p50 = floor.and_then(|floor| floor.p50);
        p50.with_context(|| format!("{} has no floor of {what}", self.bench))
    }
}

/// Output of `weft bench` with these words.
///
/// # Errors
/// It cannot run, with the last thing that it said.
pub fn bench(words: &str) -> Result<Vec<Line>> {
    let weft = std::env::current_exe()?.with_file_name("weft");
    let output = Command::new(&weft)
        .arg("bench")
        .args(words.split_whitespace())
        .arg("--json")
        .output()
        .context("there is no `weft` beside this program (make build)")?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!("{}", said.trim().lines().last().unwrap_or("it says nothing"));
    }
    lines(&String::from_utf8(output.stdout)?)
}

fn lines(text: &str) -> Result<Vec<Line>> {
    text.lines().map(|line| Ok(serde_json::from_str(line)?)).collect()
}

/// The first line of it.
///
/// # Errors
/// Those of [`bench`].
pub fn first(words: &str) -> Result<Line> {
    bench(words)?.into_iter().next().context("it printed nothing")
}

/// The line of this benchmark.
///
/// # Errors
/// It is not among them.
pub fn find<'a>(lines: &'a [Line], name: &str) -> Result<&'a Line> {
    lines.iter().find(|line| line.bench == name).with_context(|| format!("there is no {name}"))
}

/// Says whether a conclusion holds here.
pub fn verdict(holds: bool) -> &'static str {
    if holds { "holds" } else { "does not hold" }
}

/// Two runs differ by so much at least before one is called more.
const MARGIN: f64 = 1.05;

/// Says whether figures rise in this order here.
pub fn rises(figures: &[f64]) -> &'static str {
    let pairs = || figures.windows(2);
    if pairs().all(|pair| pair[1] > pair[0] * MARGIN) {
        "holds"
    } else if pairs().any(|pair| pair[1] < pair[0] / MARGIN) {
        "does not hold"
    } else {
        "cannot be told, within 5 %,"
    }
}

/// True if one is more than the other.
pub fn is_more(one: f64, other: f64) -> bool {
    one > other * MARGIN
}

#[cfg(test)]
mod tests {
    use super::{lines, rises};

    #[test]
    fn an_order_within_five_percent_is_none() {
        assert_eq!(rises(&[1.0, 2.0, 3.0]), "holds");
        assert_eq!(rises(&[1.0, 1.02, 3.0]), "cannot be told, within 5 %,");
        assert_eq!(rises(&[1.0, 2.0, 1.5]), "does not hold");
    }

    #[test]
    fn floors_may_be_missing() {
        let text = "{\"bench\":\"rate\",\"p50\":2.5,\"unit\":\"ns\",\"floors\":[{\"what\":\"udp\",\"p50\":null,\
                    \"missing\":\"no\"},{\"what\":\"tcp\",\"p50\":4.0}]}\n";
        let read = lines(text).unwrap();
        assert_eq!((read.len(), &*read[0].bench, read[0].p50), (1, "rate", 2.5));
        assert_eq!(read[0].floor("tcp").unwrap(), 4.0);
        assert_eq!(read[0].floor("udp").unwrap_err().to_string(), "rate has no floor of udp");
        assert!(lines("rate 3").is_err());
    }
}
