//! Diagnostics: what is wrong with a program, where, and what to do about it.

use ariadne::{Cache, Config, IndexType, Label, Report, ReportKind, Source as Lines};

use crate::source::{FileId, Sources, Span};

mod code;

pub use code::Code;

/// One thing that is wrong with a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    /// The kind of error.
    pub code: Code,
    /// The error in one sentence without a full stop.
    pub message: String,
    /// The place of the error, and what is wrong just there.
    pub at: (Span, String),
    /// Other places that matter, such as the declaration of a name.
    pub others: Vec<(Span, String)>,
    /// Advice.
    pub help: Option<String>,
}

impl Diagnostic {
    /// A diagnostic with a labelled place and no help yet.
    pub fn new(code: Code, message: impl Into<String>, at: Span, label: impl Into<String>) -> Self {
        let (message, at) = (message.into(), (at, label.into()));
        Diagnostic { code, message, at, others: Vec::new(), help: None }
    }

    /// This diagnostic with advice.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// This diagnostic with another labelled place.
    pub fn also(mut self, at: Span, label: impl Into<String>) -> Self {
        self.others.push((at, label.into()));
        self
    }

    /// The text for people: message, excerpts of the source with labels, and help.
    pub fn render(&self, sources: &Sources, color: bool) -> String {
        let config = Config::default().with_color(color).with_index_type(IndexType::Byte);
        let mut labels: Vec<_> = self.others.iter().chain([&self.at]).collect();
        labels.sort();
        let (at, _) = &self.at;
        let mut report = Report::build(ReportKind::Error, Place(*at))
            .with_config(config)
            .with_code(self.code)
            .with_message(&self.message);
        for (span, label) in labels {
            report = report.with_label(Label::new(Place(*span)).with_message(label));
        }
        if let Some(help) = &self.help {
            report = report.with_help(help);
        }
        let mut text = Vec::new();
        // Writing to a vector does not fail, and every span is of one of the sources.
        if report.finish().write(Excerpts::new(sources), &mut text).is_err() {
            return format!("[{}] Error: {}\n", self.code, self.message);
        }
        let text = String::from_utf8_lossy(&text);
        text.lines().map(|line| format!("{}\n", line.trim_end())).collect()
    }
}

/// All diagnostics in the order of their places, without repetitions.
pub fn sorted(mut diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
    diagnostics.sort_by(|a, b| (a.at.0, a.code, &a.message).cmp(&(b.at.0, b.code, &b.message)));
    diagnostics.dedup();
    diagnostics
}

/// A span as ariadne wants it.
#[derive(Clone, Copy)]
struct Place(Span);

impl ariadne::Span for Place {
    type SourceId = FileId;

    fn source(&self) -> &FileId {
        &self.0.file
    }

    fn start(&self) -> usize {
        self.0.start as usize
    }

    fn end(&self) -> usize {
        self.0.end as usize
    }
}

/// The lines of the sources, split when an excerpt is asked for.
struct Excerpts<'s> {
    sources: &'s Sources,
    lines: Vec<Option<Lines<&'s str>>>,
}

impl<'s> Excerpts<'s> {
    fn new(sources: &'s Sources) -> Self {
        Excerpts { sources, lines: sources.ids().map(|_| None).collect() }
    }
}

impl<'s> Cache<FileId> for Excerpts<'s> {
    type Storage = &'s str;

    fn fetch(&mut self, id: &FileId) -> Result<&Lines<&'s str>, impl std::fmt::Debug> {
        let place = self.sources.ids().position(|file| file == id.original());
        let slot = place.and_then(|place| self.lines.get_mut(place)).ok_or("no such file")?;
        let text: &'s str = &self.sources.file(*id).text;
        Ok::<_, &str>(&*slot.get_or_insert_with(|| Lines::from(text)))
    }

    fn display<'a>(&self, id: &'a FileId) -> Option<impl std::fmt::Display + 'a> {
        Some(self.sources.file(*id).name.clone())
    }
}
