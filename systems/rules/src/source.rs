//! Sources of rules: a text, C, or a library.

use crate::compile::compile;
use crate::emit::emit;
use crate::error::Error;
use crate::library::Library;
use crate::parser::parse;
use crate::shipped::shipped;
use std::fs;
use std::path::{Path, PathBuf};

/// Digest of rules: those of two ranks are the same if their digests are.
pub type Digest = [u8; 32];

/// Rules that were read, and not looked at yet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Source {
    name: String,
    content: Content,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Content {
    Text(String),
    C(String),
    Library(PathBuf, Vec<u8>),
}

impl Source {
    /// The rules in a text, with a name for diagnostics.
    pub fn text(name: &str, text: &str) -> Self {
        Source { name: name.into(), content: Content::Text(text.into()) }
    }

    /// The rules with a name: a file, or else a game that comes with the program, `checkers` or
    /// `checkers.rules`.
    ///
    /// # Errors
    /// There is none, or the file is of no kind that holds rules.
    pub fn named(name: &str) -> Result<Self, Error> {
        let path = Path::new(name);
        let game = name.strip_suffix(".rules").unwrap_or(name);
        match shipped(game) {
            Some(text) if !path.exists() => Ok(Source::text(&format!("{game}.rules"), text)),
            _ => Source::file(path),
        }
    }

    /// True if a name may be one of [`Self::named`]: a path, or a game that comes along.
    pub fn is_name(name: &str) -> bool {
        let ends = [".rules", ".c", ".so"].iter().any(|ending| name.ends_with(ending));
        ends || name.contains('/') || shipped(name).is_some()
    }

    /// The text of rules that are written as one.
    pub fn as_text(&self) -> Option<&str> {
        if let Content::Text(text) = &self.content { Some(text) } else { None }
    }

    /// The rules in a file.
    ///
    /// # Errors
    /// Those of [`Self::named`].
    pub fn file(path: &Path) -> Result<Self, Error> {
        let name = path.display().to_string();
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or("");
        if !["rules", "c", "so"].contains(&ending) {
            return Err(Error::Ending(name));
        }
        let failed = |error| Error::Read { path: path.into(), error };
        let bytes = fs::read(path).map_err(failed)?;
        let content = if ending == "so" {
            Content::Library(path.canonicalize().map_err(failed)?, bytes)
        } else {
            let text = String::from_utf8(bytes).map_err(|_| Error::Text(name.clone()))?;
            if ending == "c" { Content::C(text) } else { Content::Text(text) }
        };
        Ok(Source { name, content })
    }

    /// Name, for people.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Digest of the rules.
    pub fn digest(&self) -> Digest {
        let mut hasher = blake3::Hasher::new();
        let (kind, bytes) = match &self.content {
            Content::Text(text) => (b't', text.as_bytes()),
            Content::C(text) => (b'c', text.as_bytes()),
            Content::Library(_, bytes) => (b'l', &bytes[..]),
        };
        hasher.update(&[kind]);
        hasher.update(bytes);
        *hasher.finalize().as_bytes()
    }

    /// The C of the rules; `None` for a library, which has none any more.
    ///
    /// # Errors
    /// [`Error::Rules`], with all that is wrong.
    pub fn c(&self) -> Result<Option<String>, Error> {
        match &self.content {
            Content::Library(..) => Ok(None),
            Content::C(text) => Ok(Some(text.clone())),
            Content::Text(text) => match parse(text) {
                Ok(rules) => Ok(Some(emit(&rules))),
                Err(all) => {
                    let rendered = all.iter().map(|one| one.render(&self.name, text));
                    Err(Error::Rules(rendered.collect::<String>().trim_end().into()))
                }
            },
        }
    }

    /// Checks, compiles and loads the rules, unless this process has done so before.
    ///
    /// # Errors
    /// Rules that are wrong, no C compiler, a library that cannot be loaded.
    pub fn load(&self) -> Result<Library, Error> {
        let digest = self.digest();
        if let Some(known) = Library::known(&digest) {
            return Ok(known);
        }
        match (&self.content, self.c()?) {
            (Content::Library(path, _), _) => Library::load(&self.name, path, digest),
            (_, c) => {
                let compiled = compile(&self.name, &c.unwrap_or_default())?;
                Library::load(&self.name, &compiled.library, digest)
            }
        }
    }
}
