//! Name of a project: that of its folder, its program, and its crate.

use std::path::Path;

/// Name that the program has in the templates, and that of its crate.
const TEMPLATE: (&str, &str) = ("my-program", "my_program");

/// Longest name: with all that build tools append it is the name of a file.
const BYTES_MAX: usize = 64;

/// Names that mean something else: to cargo, to make with the templates, to the compilers of Rust
/// (its crates and keywords).
const TAKEN: &str = "\
    abstract all alloc as async await become box break build clean const continue core crate \
    deps do dyn else enum examples extern false final fn for gen if impl in incremental \
    install let loop macro main match mod move mut override priv proc_macro pub ref return run \
    self simulated static std struct super target test tests trait true try type typeof unsafe \
    unsized use virtual weft where while";

/// Reason why a folder's name is none for a program.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// The path ends in no name.
    #[error("'{0}' has no name for a program: write one such as primes, or projects/primes")]
    None(String),
    /// It has other characters.
    #[error(
        "'{0}' is no name for a program: it begins with a small letter, and has up to {BYTES_MAX} \
         small letters, digits, - and _"
    )]
    Characters(String),
    /// It means something else.
    #[error("'{0}' means something else to compilers or build tools: take another name")]
    Taken(String),
}

/// Name of a project.
#[derive(Debug, PartialEq, Eq)]
pub struct Name(String);

impl Name {
    /// The name that a project in `folder` has.
    ///
    /// # Errors
    /// [`NameError`].
    pub fn of(folder: &Path) -> Result<Self, NameError> {
        let Some(name) = folder.file_name() else {
            return Err(NameError::None(folder.display().to_string()));
        };
        let name = name.to_string_lossy().into_owned();
        let is_right = |character: char| {
            character.is_ascii_lowercase() || character.is_ascii_digit() || "-_".contains(character)
        };
        let begins_right = name.starts_with(|first: char| first.is_ascii_lowercase());
        if name.len() > BYTES_MAX || !begins_right || !name.chars().all(is_right) {
            return Err(NameError::Characters(name));
        }
        match TAKEN.split_whitespace().any(|taken| taken == name) {
            true => Err(NameError::Taken(name)),
            false => Ok(Name(name)),
        }
    }

    /// A text of the templates with this name.
    pub fn put_into(&self, text: &str) -> String {
        let (program, of_crate) = TEMPLATE;
        text.replace(program, &self.0).replace(of_crate, &self.0.replace('-', "_"))
    }
}

#[cfg(test)]
mod tests;
