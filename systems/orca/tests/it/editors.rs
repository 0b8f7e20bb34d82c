//! The grammar by which editors colour programs.

use serde_json::Value;
use weft_orca::check::Builtin;
use weft_orca::lexer::Token;

use super::{folder, read};

#[test]
fn all_keywords_and_built_in_functions_are_in_the_grammar() {
    let text = read(&folder("editors/orca.tmLanguage.json"));
    let grammar: Value = serde_json::from_str(&text).expect("JSON");
    let patterns = grammar["patterns"].as_array().expect("patterns");
    let rules: Vec<&str> = patterns.iter().filter_map(|rule| rule["match"].as_str()).collect();
    let words = rules.iter().flat_map(|rule| rule.split(|c: char| !c.is_ascii_alphanumeric()));
    let words: Vec<&str> = words.collect();
    for word in Token::WORDS {
        assert!(words.contains(word), "{word}");
        assert!(words.contains(&word.to_uppercase().as_str()), "{word}");
    }
    for builtin in Builtin::ALL {
        assert!(words.contains(&builtin.name()), "{}", builtin.name());
    }
}
