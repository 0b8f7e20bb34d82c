//! Rules as text and in C: loaded by all ranks, and shown.

use crate::games::error::Error;
use crate::games::options::RulesOptions;
use weft::prelude::*;
use weft_app_common::{agree, write_out};
use weft_rules::{Digest, GameVisitor, Library, Source, Written};
use weft_search::Game;

/// Reason why rules cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum RulesError {
    /// Weft failed.
    #[error(transparent)]
    Weft(#[from] weft::Error),
    /// They cannot be read, are wrong, or cannot be compiled.
    #[error(transparent)]
    Rules(#[from] weft_rules::Error),
    /// Another rank has others.
    #[error("{name} is not the same on all ranks: rank {rank} has other rules than rank 0")]
    Differ {
        /// Name of the rules.
        name: String,
        /// First rank that has others.
        rank: usize,
    },
    /// There is no text.
    #[error("{0} is no text of rules: --text shows those that are, and --emit-c C")]
    NoText(String),
}

/// Loads rules on all ranks, which must have the same. Collective.
///
/// # Errors
/// [`RulesError`].
pub fn load(weft: &Weft, name: &str) -> Result<Library, RulesError> {
    let source = agree(weft, Source::named(name).map_err(RulesError::from))?;
    let digests = weft.all_gather(&words(source.digest()))?;
    let differs = digests.chunks(4).position(|digest| *digest != digests[..4]);
    let same = match differs {
        Some(rank) => Err(RulesError::Differ { name: source.name().into(), rank }),
        None => Ok(()),
    };
    agree(weft, same)?;
    agree(weft, source.load().map_err(RulesError::from))
}

fn words(digest: Digest) -> [u64; 4] {
    std::array::from_fn(|word| {
        let mut bytes = [0; 8];
        bytes.copy_from_slice(&digest[8 * word..][..8]);
        u64::from_le_bytes(bytes)
    })
}

/// Checks rules and shows them. Collective; rank 0 prints.
pub(crate) fn show(weft: &Weft, options: &RulesOptions) -> Result<(), Error> {
    let shown = agree(weft, shown(options))?;
    if weft.rank() == 0 {
        write_out(shown)?;
    }
    Ok(())
}

fn shown(options: &RulesOptions) -> Result<String, RulesError> {
    let source = Source::named(&options.rules)?;
    let text = if options.text {
        source.as_text().map(str::to_owned)
    } else if options.emit_c {
        source.c()?
    } else {
        let library = source.load()?;
        Some(library.game(Facts(library)))
    };
    text.ok_or_else(|| RulesError::NoText(options.rules.clone()))
}

/// Lines about a game, whose rules are right.
struct Facts(Library);

impl GameVisitor for Facts {
    type Output = String;

    fn visit<G: Game + Written>(self, first: G) -> String {
        let library = self.0;
        let players = if library.players() == 1 { "one player" } else { "two players" };
        let (bytes, moves) = (library.bytes(), first.moves().count());
        let text = first.text();
        format!(
            "{}: for {players}; a position has {bytes} bytes, and the first one {moves} moves\n{text}",
            library.name()
        )
    }
}
