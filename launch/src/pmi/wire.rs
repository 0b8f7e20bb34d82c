//! Messages of PMI-1 and PMI-2: bytes in, messages out, no I/O.
//!
//! ```text
//! PMI-1:  cmd=put kvsname=kvs_1 key=name value=word\n
//! PMI-2:  "    32" cmd=kvs-put;key=name;value=word;   the length of the rest, in 6 characters
//! ```
//!
//! Both begin with an exchange of versions in the form of PMI-1. Answers have the same form, fields
//! in any order; `rc` other than 0 says that something was refused. Values are words without
//! spaces, `=` and `;`, so any bytes travel in hexadecimal digits, in as many parts as the store's
//! limit needs.

use std::collections::BTreeMap;

/// Bytes of the longest answer that is read.
pub const REPLY_BYTES_MAX: usize = 64 * 1024;
/// Fields of the longest answer that is read.
pub const FIELDS_MAX: usize = 256;
/// Bytes of the longest value.
pub const VALUE_BYTES_MAX: usize = 16 * 1024;
/// Characters of the number before a message of PMI-2.
const LENGTH_CHARS: usize = 6;

/// Version of the protocol, and so the form of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// Lines.
    One,
    /// Counted messages.
    Two,
}

/// Reason why bytes are not an answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadReply {
    /// It never ends, or says that it is that long.
    #[error("it is longer than {REPLY_BYTES_MAX} bytes")]
    Long,
    /// The bytes before a message of PMI-2 are no number.
    #[error("it does not begin with its length")]
    Length,
    /// It is not UTF-8.
    #[error("it is not text")]
    Text,
    /// It has too many fields, or one twice.
    #[error("its fields are too many, or not unique")]
    Fields,
    /// It does not say what it answers.
    #[error("it has no 'cmd'")]
    NoCommand,
    /// It answers something else.
    #[error("it is '{0}'")]
    Other(String),
    /// A field is not there, or not what it must be.
    #[error("its '{0}' is missing or makes no sense")]
    Field(&'static str),
}

/// A message to the process manager.
///
/// # Panics
/// If a name or value contains what separates them: callers send only words.
pub fn emit(version: Version, command: &str, fields: &[(&str, &str)]) -> Vec<u8> {
    let (separator, end) = match version {
        Version::One => (' ', '\n'),
        Version::Two => (';', ';'),
    };
    let mut body = format!("cmd={command}");
    for (name, value) in fields {
        assert!(is_word(name) && is_word(value), "{name:?}={value:?} cannot be sent");
        body.extend([separator]);
        body.push_str(&format!("{name}={value}"));
    }
    body.extend([end]);
    match version {
        Version::One => body.into_bytes(),
        Version::Two => format!("{:>LENGTH_CHARS$}{body}", body.len()).into_bytes(),
    }
}

/// True if this can be a value, or a name: visible, and nothing that separates.
pub fn is_word(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b';' && byte != b'=')
}

/// The bytes that have arrived and belong to no message yet.
#[derive(Clone, Debug, Default)]
pub struct Arrived(Vec<u8>);

impl Arrived {
    /// More bytes have arrived.
    pub fn push(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    /// The next whole message, without what frames it; `None` until it is complete.
    ///
    /// # Errors
    /// [`BadReply`] if what has arrived cannot become one.
    pub fn next(&mut self, version: Version) -> Result<Option<String>, BadReply> {
        let (start, end, used) = match version {
            Version::One => match self.0.iter().position(|&byte| byte == b'\n') {
                Some(end) => (0, end, end + 1),
                None if self.0.len() > REPLY_BYTES_MAX => return Err(BadReply::Long),
                None => return Ok(None),
            },
            Version::Two => {
                let Some(length) = self.0.get(..LENGTH_CHARS) else { return Ok(None) };
                let length = std::str::from_utf8(length).map_err(|_| BadReply::Length)?;
                let length: usize = length.trim().parse().map_err(|_| BadReply::Length)?;
                if length > REPLY_BYTES_MAX {
                    return Err(BadReply::Long);
                }
                let end = LENGTH_CHARS + length;
                if self.0.len() < end {
                    return Ok(None);
                }
                (LENGTH_CHARS, end, end)
            }
        };
        if end - start > REPLY_BYTES_MAX {
            return Err(BadReply::Long);
        }
        let message: Vec<u8> = self.0.drain(..used).skip(start).take(end - start).collect();
        String::from_utf8(message).map(Some).map_err(|_| BadReply::Text)
    }
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// Name of the answer.
    pub command: String,
    fields: BTreeMap<String, String>,
}

impl Reply {
    /// The answer in a message.
    ///
    /// # Errors
    /// [`BadReply`] if it is none.
    pub fn parse(version: Version, message: &str) -> Result<Self, BadReply> {
        let is_separator = |char: char| match version {
            Version::One => char.is_ascii_whitespace(),
            Version::Two => char == ';',
        };
        let mut fields = BTreeMap::new();
        for field in message.split(is_separator).filter(|field| !field.is_empty()) {
            // A word without `=` is the rest of a text with spaces in it, which only people read.
            let Some((name, value)) = field.split_once('=') else { continue };
            let new = fields.insert(name.to_owned(), value.to_owned()).is_none();
            if !new || fields.len() > FIELDS_MAX {
                return Err(BadReply::Fields);
            }
        }
        let command = fields.remove("cmd").ok_or(BadReply::NoCommand)?;
        Ok(Reply { command, fields })
    }

    /// Number of other fields.
    pub fn fields(&self) -> usize {
        self.fields.len()
    }

    /// A field.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.fields.get(name).map(String::as_str)
    }

    /// A field that must be there and be a number.
    ///
    /// # Errors
    /// [`BadReply::Field`] if it is not.
    pub fn number(&self, name: &'static str) -> Result<u32, BadReply> {
        self.get(name).and_then(|text| text.parse().ok()).ok_or(BadReply::Field(name))
    }

    /// Reason of a refusal, if it is one.
    pub fn refusal(&self) -> Option<String> {
        let code = self.get("rc").filter(|&code| code != "0")?;
        let why = self.get("msg").or(self.get("errmsg")).unwrap_or("no reason given");
        Some(format!("{why} ({code})"))
    }
}

/// `value` as words of at most `word_chars` characters; the first begins with how many there are.
///
/// # Panics
/// If words are too short to say anything, or the value is longer than [`VALUE_BYTES_MAX`].
pub fn split(value: &[u8], word_chars: usize) -> Vec<String> {
    const COUNT_CHARS: usize = 6;
    assert!(word_chars >= WORD_CHARS_MIN && value.len() <= VALUE_BYTES_MAX);
    let bytes = (word_chars - COUNT_CHARS) / 2;
    let mut words: Vec<String> =
        value.chunks(bytes).map(|part| part.iter().map(|b| format!("{b:02x}")).collect()).collect();
    if words.is_empty() {
        words.push(String::new());
    }
    words[0] = format!("{}.{}", words.len(), words[0]);
    words
}

/// The shortest words that a store may be limited to.
pub const WORD_CHARS_MIN: usize = 32;

/// Number of words that a value has, and the digits of the first, from what [`split`] made of it.
pub fn parts(first: &str) -> Option<(usize, &str)> {
    let (count, digits) = first.split_once('.')?;
    let count = count.parse().ok().filter(|count| (1..=VALUE_BYTES_MAX).contains(count))?;
    Some((count, digits))
}

/// The bytes that hexadecimal digits say; `None` if they say none, or too many.
pub fn from_digits(digits: &str) -> Option<Vec<u8>> {
    if !digits.len().is_multiple_of(2) || digits.len() > 2 * VALUE_BYTES_MAX {
        return None;
    }
    let nibble = |byte: u8| char::from(byte).to_digit(16).map(|digit| digit as u8);
    digits.as_bytes().chunks(2).map(|pair| Some(nibble(pair[0])? << 4 | nibble(pair[1])?)).collect()
}

#[cfg(test)]
mod tests;
