//! Figures that are compared, and the form in which peers print them.

use anyhow::{Context, Result, bail};

/// One of the things that are compared.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum What {
    /// One way of 8 bytes, in nanoseconds.
    Latency,
    /// Messages of 64 bytes a second.
    Rate,
    /// Bytes a second in messages of 1 MiB.
    Bandwidth,
}

impl What {
    /// All of them.
    pub const ALL: [What; 3] = [What::Latency, What::Rate, What::Bandwidth];

    /// Its name in results.
    pub fn name(self) -> &'static str {
        match self {
            What::Latency => "latency",
            What::Rate => "rate",
            What::Bandwidth => "bandwidth",
        }
    }

    /// For a person, with the size of its messages.
    pub fn title(self) -> &'static str {
        match self {
            What::Latency => "8 B one way",
            What::Rate => "64 B messages a second",
            What::Bandwidth => "1 MiB messages, bytes a second",
        }
    }

    /// Bytes of a message.
    pub fn size(self) -> usize {
        match self {
            What::Latency => 8,
            What::Rate => 64,
            What::Bandwidth => 1 << 20,
        }
    }

    /// The unit of its figures in results.
    pub fn unit(self) -> &'static str {
        match self {
            What::Latency => "ns",
            What::Rate => "per_second",
            What::Bandwidth => "bytes_per_second",
        }
    }

    /// A value in that unit, for a person.
    pub fn text(self, value: f64) -> String {
        match self {
            What::Latency if value < 1e3 => format!("{value:.0} ns"),
            What::Latency => format!("{:.2} us", value / 1e3),
            What::Rate if value < 1e6 => format!("{:.0} k/s", value / 1e3),
            What::Rate => format!("{:.1} M/s", value / 1e6),
            What::Bandwidth if value < 1e9 => format!("{:.0} MB/s", value / 1e6),
            What::Bandwidth => format!("{:.1} GB/s", value / 1e9),
        }
    }
}

/// Figure that a peer reached.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Figure {
    /// In the thing's unit.
    pub value: f64,
    /// Processor time of both processes for a message, in nanoseconds, if it is known.
    pub processor_ns: Option<f64>,
}

/// Figures that a peer reached in one turn, as far as it has them.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub struct Figures([Option<Figure>; 3]);

impl Figures {
    /// Figure that it reached in this.
    pub fn get(&self, what: What) -> Option<Figure> {
        self.0[what as usize]
    }

    /// Adds what it reached in this, without the processor time.
    pub fn set(&mut self, what: What, value: f64) {
        self.0[what as usize] = Some(Figure { value, processor_ns: None });
    }

    /// Reads what the pair program prints, in C or in Rust.
    ///
    /// # Errors
    /// It is something else, or a figure is missing.
    pub fn of_pair(text: &str) -> Result<Self> {
        let mut figures = Figures::default();
        for what in What::ALL {
            let line = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
            let words = line.into_iter().find(|words| words.first() == Some(&what.name()));
            let Some([_, value, processor]) = words.as_deref() else {
                bail!("no {} in {text:?}", what.name());
            };
            let processor_ns = Some(number(processor)?);
            figures.0[what as usize] = Some(Figure { value: number(value)?, processor_ns });
        }
        Ok(figures)
    }
}

/// A figure: a number above zero.
pub fn number(text: &str) -> Result<f64> {
    let value: f64 = text.parse().with_context(|| format!("{text:?} is no number"))?;
    if !value.is_finite() || value < 0.0 {
        bail!("{text:?} is no figure");
    }
    Ok(value)
}

#[cfg(test)]
mod tests;
