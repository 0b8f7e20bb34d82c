//! Instances of generic object types and modules: copies of their trees, one for each instance, in
//! which the parameters stand for other types. Nothing generic is left for who generates code.
//!
//! A copy is parsed anew, since its expressions have numbers of their own, and its places belong to
//! the instance ([`crate::source::FileId::instance`]).

use crate::parser::FileParser;
use crate::source::{Sources, Span};
use crate::tree::{Declaration, DeclarationKind, File, Generic, Half, Instance, Unit};

/// Instances of one program.
pub const MOST_INSTANCES: usize = 1000;

/// The instances that files declare. The place of one among them, counted from 1, is its number.
pub fn instances(files: &[File]) -> impl Iterator<Item = &Instance> {
    let declarations = files.iter().flat_map(|file| &file.declarations);
    declarations.filter_map(|declaration| match &declaration.kind {
        DeclarationKind::Instance(instance) => Some(instance),
        _ => None,
    })
}

/// Adds the halves of all instances to the files of a program, each as a file. An instance that has
/// none was written wrongly.
pub fn add_instances(parser: &mut FileParser, sources: &Sources, files: &mut Vec<File>) {
    let mut copies = Vec::new();
    for (number, instance) in (1..).zip(instances(files)).take(MOST_INSTANCES) {
        let declarations = files.iter().flat_map(|file| &file.declarations);
        let halves = declarations.filter_map(|one| Some((half(one, instance)?, one.span)));
        let (units, spans): (Vec<&Unit>, Vec<Span>) = halves.unzip();
        let fits = parameters(&units)
            .is_some_and(|generic| generic.parameters.len() == instance.arguments.len());
        for span in spans.into_iter().filter(|_| fits) {
            let stretch = Span { file: span.file.of_instance(number), ..span };
            let mut copy = parser.parse_stretch(sources, stretch).file;
            copy.declarations.iter_mut().for_each(|declaration| rename(declaration, instance));
            copies.push(copy);
        }
    }
    files.extend(copies);
}

/// The parameters of what is generic: those of its specification, or else of its implementation.
pub fn parameters<'t>(halves: &[&'t Unit]) -> Option<&'t Generic> {
    let of = |half| halves.iter().find(|unit| unit.half == half);
    of(Half::Specification).or(of(Half::Implementation))?.generic.as_ref()
}

/// A half of what an instance is one of.
fn half<'t>(declaration: &'t Declaration, instance: &Instance) -> Option<&'t Unit> {
    let (is_object, unit) = match &declaration.kind {
        DeclarationKind::Object(unit) => (true, unit),
        DeclarationKind::Module(unit) => (false, unit),
        _ => return None,
    };
    let is_it = is_object == instance.is_object && unit.name.text == instance.of.text;
    (is_it && unit.generic.is_some()).then_some(unit)
}

/// True for a half of what is generic itself, and of no instance of it.
pub fn is_generic(unit: &Unit) -> bool {
    unit.generic.is_some() && unit.name.span.file.instance().is_none()
}

fn rename(declaration: &mut Declaration, instance: &Instance) {
    if let DeclarationKind::Object(unit) | DeclarationKind::Module(unit) = &mut declaration.kind {
        unit.name.text.clone_from(&instance.name.text);
    }
}
