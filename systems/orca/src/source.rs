//! Source files and places in them.

use std::fmt;
use std::ops::Range;

/// Largest source file, in bytes. Offsets are 32 bits wide, and no program comes near it.
pub const LARGEST_FILE: usize = 1 << 26;

/// Number of a file among the [`Sources`] of a program. An instance of what is generic has its
/// places in the file of that, and they are others all the same.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct FileId {
    number: u16,
    instance: u16,
}

/// A stretch of a source file: offsets in bytes, the end excluded.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Span {
    /// The file.
    pub file: FileId,
    /// Offset of the first byte.
    pub start: u32,
    /// Offset behind the last byte.
    pub end: u32,
}

/// A file's name, as diagnostics show it, and its text.
#[derive(Clone, Debug)]
pub struct Source {
    /// The name that was given on the command line.
    pub name: String,
    /// The whole text.
    pub text: String,
}

/// The source files of one program.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    files: Vec<Source>,
}

/// Reason why a file is no source: it is too long, or one file too many.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TooLarge;

impl FileId {
    /// The file, for an instance: instances have numbers from 1 on.
    pub fn of_instance(self, instance: u16) -> FileId {
        FileId { instance, ..self }
    }

    /// Number of the instance, if it is one.
    pub fn instance(self) -> Option<u16> {
        (self.instance > 0).then_some(self.instance)
    }

    /// The file as its author knows it.
    pub fn original(self) -> FileId {
        FileId { instance: 0, ..self }
    }
}

impl Span {
    /// The place between the end of `self` and its successor: where something is missing.
    pub fn after(self) -> Span {
        Span { start: self.end, ..self }
    }

    /// The empty stretch at the beginning.
    pub fn before(self) -> Span {
        Span { end: self.start, ..self }
    }

    /// The stretch from the beginning of `self` to the end of `other`, of the same file.
    pub fn to(self, other: Span) -> Span {
        Span { end: other.end.max(self.start), ..self }
    }

    /// The place as its author knows it.
    pub fn original(self) -> Span {
        Span { file: self.file.original(), ..self }
    }

    /// Offsets as slices want them.
    pub fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

impl fmt::Debug for Span {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "@{}:{}..{}", self.file.number, self.start, self.end)
    }
}

impl chumsky::span::Span for Span {
    type Context = FileId;
    type Offset = u32;

    fn new(file: FileId, range: Range<u32>) -> Self {
        Span { file, start: range.start, end: range.end }
    }

    fn context(&self) -> FileId {
        self.file
    }

    fn start(&self) -> u32 {
        self.start
    }

    fn end(&self) -> u32 {
        self.end
    }
}

impl Sources {
    /// Adds a file. Refused are files beyond [`LARGEST_FILE`], and the 65,536th.
    pub fn add(&mut self, name: &str, text: String) -> Result<FileId, TooLarge> {
        let number = u16::try_from(self.files.len()).map_err(|_| TooLarge)?;
        if text.len() > LARGEST_FILE {
            return Err(TooLarge);
        }
        self.files.push(Source { name: name.to_owned(), text });
        Ok(FileId { number, instance: 0 })
    }

    /// The file with a number that [`Sources::add`] gave.
    pub fn file(&self, file: FileId) -> &Source {
        &self.files[usize::from(file.number)]
    }

    /// The numbers of all files, in the order in which they were added.
    pub fn ids(&self) -> impl Iterator<Item = FileId> + use<> {
        let numbers = (0..self.files.len()).filter_map(|number| u16::try_from(number).ok());
        numbers.map(|number| FileId { number, instance: 0 })
    }

    /// The stretch that is a whole file.
    pub fn whole(&self, file: FileId) -> Span {
        // At most LARGEST_FILE.
        Span { file, start: 0, end: self.file(file).text.len() as u32 }
    }

    /// The text of a stretch.
    pub fn text(&self, span: Span) -> &str {
        &self.file(span.file).text[span.range()]
    }
}
