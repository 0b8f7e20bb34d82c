//! Suggestions: the name that was perhaps meant.

/// The advice to write the one of the names that is most like a name, if one is like it.
pub fn did_you_mean<'n>(name: &str, known: impl Iterator<Item = &'n str>) -> Option<String> {
    let furthest = (name.chars().count() / 3).max(1);
    let distance = |known: &&str| {
        if known.eq_ignore_ascii_case(name) {
            return 0;
        }
        strsim::damerau_levenshtein(name, known)
    };
    let nearest = known.map(|known| (distance(&known), known)).min()?;
    (nearest.0 <= furthest && nearest.1.len() > 1).then(|| format!("did you mean `{}`?", nearest.1))
}

/// The advice to write a basic type of Orca's, if the name is the one that other languages have for
/// it.
pub fn foreign_type(name: &str) -> Option<String> {
    let meant = match name.to_ascii_lowercase().as_str() {
        "int" | "long" | "short" | "int32" | "int64" | "unsigned" | "uint" | "size_t" => "integer",
        "bool" => "boolean",
        "float" | "double" | "float64" => "real",
        "str" => "string",
        "character" | "byte" => "char",
        _ => return None,
    };
    Some(format!("did you mean `{meant}`?"))
}
