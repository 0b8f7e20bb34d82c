//! Fuzz target for what ranks tell each other when they meet (`testing/fuzz`).

use crate::meeting::Card;

/// A card: what was read is written as the same bytes.
pub fn card(data: &[u8]) {
    if let Some((card, has_other)) = Card::parse(data) {
        assert_eq!(card.emit(has_other), data);
    }
}
