//! Diagnostics: what is wrong with rules, where, and what to do about it.

use ariadne::{Config, IndexType, Label, Report, ReportKind, Source};
use std::ops::Range;

/// A stretch of a text: offsets in bytes, the end excluded.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Span {
    /// Offset of the first byte.
    pub start: usize,
    /// Offset behind the last byte.
    pub end: usize,
}

/// One thing that is wrong with rules.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    /// The error in one sentence without a full stop.
    pub message: String,
    /// Its place.
    pub span: Span,
    /// Advice.
    pub help: String,
}

/// Result of reading a part of rules.
pub(crate) type Parse<T> = Result<T, Box<Diagnostic>>;

impl Span {
    /// The stretch from the beginning of `self` to the end of `other`.
    pub fn to(self, other: Span) -> Span {
        Span { end: other.end.max(self.start), ..self }
    }

    fn range(self) -> Range<usize> {
        self.start..self.end
    }
}

impl Diagnostic {
    /// A diagnostic.
    pub fn new(message: impl Into<String>, span: Span, help: impl Into<String>) -> Box<Self> {
        Box::new(Diagnostic { message: message.into(), span, help: help.into() })
    }

    /// Text for people: message, file, line and column, the line itself, and help.
    pub fn render(&self, file: &str, text: &str) -> String {
        let config = Config::default().with_color(false).with_index_type(IndexType::Byte);
        let place = (file, self.span.range());
        let label = Label::new(place.clone()).with_message("here");
        let report = Report::build(ReportKind::Error, place).with_config(config);
        let report = report.with_message(&self.message).with_label(label).with_help(&self.help);
        let mut rendered = Vec::new();
        // Writing to a vector does not fail.
        if report.finish().write((file, Source::from(text)), &mut rendered).is_err() {
            return format!("{file}: {}\n", self.message);
        }
        let rendered = String::from_utf8_lossy(&rendered);
        rendered.lines().map(|line| format!("{}\n", line.trim_end())).collect()
    }
}

/// The advice to write the one of the names that is most like a name, if one is like it.
pub(crate) fn did_you_mean<'n>(name: &str, known: impl Iterator<Item = &'n str>) -> Option<String> {
    let near = known.map(|known| (strsim::damerau_levenshtein(name, known), known)).min()?;
    (near.0 <= (name.chars().count() / 3).max(1)).then(|| format!("did you mean `{}`?", near.1))
}
