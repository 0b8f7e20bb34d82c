//! C for a checked program (thesis 7.1.2): portable C11 on `weft-objects.h` and the
//! support in `runtime`, which is part of what is made.
//!
//! | Orca | C |
//! |---|---|
//! | a type | `tN`, with functions to copy, compare and send it |
//! | an object type | `oN`: its state, or Weft's handle once the object is shared |
//! | a function, a process | a function |
//! | an operation | three: what it does to a state, what Weft calls, what a program calls |
//! | a variable | a variable that holds its value; `in` parameters that do are pointers |
//!
//! | module | what |
//! |---|---|
//! | `names` | how things are called in C |
//! | `types` | types and their functions |
//! | `shapes` | values with which variables begin |
//! | `lines`, `code` | the C of one function: its lines, slots for values |
//! | `values` | values on their way through expressions, and who frees them |
//! | `expressions`, `builtins`, `calls` | values |
//! | `statements`, `loops` | statements, and the ways out of a function |
//! | `visits` | what an expression calls, and what statements change |
//! | `unchecked` | loops whose indices are checked once, before them |
//! | `routines`, `objects`, `operations` | functions as wholes |
//!
//! Invariants: what a function has made it frees, on every way out; expressions are evaluated from
//! left to right where that can be seen; every index and name of a node is checked, in the loop or
//! before it; the same program becomes the same text.

mod builtins;
mod calls;
mod code;
mod expressions;
mod lines;
mod loops;
mod names;
mod objects;
mod operations;
mod routines;
mod shapes;
mod statements;
mod types;
mod unchecked;
mod values;
mod visits;

use std::cell::RefCell;
use std::collections::BTreeMap;

use crate::Program;
use crate::check::{Entity, Facts, ObjectId, RoutineId};
use crate::instances::is_generic;
use crate::source::{Sources, Span};
use crate::tree::{Block, Declaration, DeclarationKind, Half, Routine};

/// Support that every program has, each part after those that it stands on.
const RUNTIME: [&str; 8] = [
    include_str!("../runtime/travel.h"),
    include_str!("../runtime/numbers.h"),
    include_str!("../runtime/arrays.h"),
    include_str!("../runtime/collections.h"),
    include_str!("../runtime/output.h"),
    include_str!("../runtime/place.h"),
    include_str!("../runtime/objects.h"),
    include_str!("../runtime/program.h"),
];

/// A program that can be checked, and not translated.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// It has no process `OrcaMain`.
    NoMain,
    /// A place where something stands that has no translation yet, and what that is.
    Unsupported(Span, &'static str),
}

/// The C of a program, in one file.
///
/// # Errors
/// [`Refusal`]
pub fn generate(sources: &Sources, program: &Program) -> Result<String, Refusal> {
    if program.facts.main.is_none() {
        return Err(Refusal::NoMain);
    }
    let generator = Generator::new(sources, program);
    let text = generator.program();
    match generator.refusal.into_inner() {
        Some(refusal) => Err(refusal),
        None => Ok(text),
    }
}

/// Tables in which all parts look things up.
struct Generator<'p> {
    sources: &'p Sources,
    facts: &'p Facts,
    /// Implementations of routines, by their numbers.
    routines: BTreeMap<RoutineId, &'p Routine>,
    /// Initialisations of object types.
    initialisations: BTreeMap<ObjectId, &'p Block>,
    /// Strings of the program, as characters.
    texts: RefCell<Vec<String>>,
    /// The first thing that has no translation.
    refusal: RefCell<Option<Refusal>>,
}

impl<'p> Generator<'p> {
    fn new(sources: &'p Sources, program: &'p Program) -> Self {
        let mut generator = Generator {
            sources,
            facts: &program.facts,
            routines: BTreeMap::new(),
            initialisations: BTreeMap::new(),
            texts: RefCell::default(),
            refusal: RefCell::default(),
        };
        for file in &program.files {
            generator.collect(&file.declarations);
        }
        generator
    }

    /// Notes where routines and initialisations stand.
    fn collect(&mut self, declarations: &'p [Declaration]) {
        for declaration in declarations {
            match &declaration.kind {
                DeclarationKind::Routine(routine) if routine.body.is_some() => {
                    if let Some(Entity::Routine(id)) = self.facts.declared.get(&routine.name.span) {
                        self.routines.insert(*id, routine);
                    }
                }
                DeclarationKind::Object(unit) | DeclarationKind::Module(unit)
                    if is_generic(unit) => {}
                DeclarationKind::Object(unit) if unit.half == Half::Implementation => {
                    if let (Some(Entity::Object(id)), Some(block)) =
                        (self.facts.declared.get(&unit.name.span), &unit.initialisation)
                    {
                        self.initialisations.insert(*id, block);
                    }
                    self.collect(&unit.declarations);
                }
                DeclarationKind::Module(unit) => self.collect(&unit.declarations),
                _ => {}
            }
        }
    }

    /// The whole text. Bodies are made first, because they find the texts that are declared before.
    fn program(&self) -> String {
        let types = self.types();
        let headings = self.headings();
        let bodies = [self.object_bodies(), self.routine_bodies(), self.main()].concat();
        let texts = self.text_constants();
        [&RUNTIME.join("\n"), "\n", &types, &texts, &headings, &bodies].concat()
    }

    fn refuse(&self, span: Span, what: &'static str) {
        self.refusal.borrow_mut().get_or_insert(Refusal::Unsupported(span, what));
    }

    /// Strings of the program as C has them: their characters, and the arrays of these.
    fn text_constants(&self) -> String {
        let mut all = String::new();
        for (number, text) in self.texts.borrow().iter().enumerate() {
            let characters: Vec<String> = text.chars().map(|c| u32::from(c).to_string()).collect();
            let count = characters.len();
            let characters = if count == 0 { "0".to_owned() } else { characters.join(", ") };
            all += &format!(
                "static orca_char c{number}[] = {{{characters}}};\n\
                 static orca_text text{number} = {{{{0}}, {{{count}}}, c{number}}};\n"
            );
        }
        all
    }
}
