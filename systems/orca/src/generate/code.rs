//! The C of one function: its lines, and the slots for values that it holds.

use std::collections::BTreeMap;

use super::Generator;
use super::lines::Lines;
use super::unchecked::Access;
use crate::check::{TypeId, Types, VariableId};
use crate::tree::ExpressionId;

/// A function on its way: its lines so far, and the values that it holds.
pub struct Code<'g, 'p> {
    pub generator: &'g Generator<'p>,
    pub role: Role,
    pub out: Lines,
    /// Variables of C at the top of the function: all begin as zero, and what they hold is freed
    /// at its end.
    slots: Vec<(String, String, bool)>,
    /// Elements whose indices were checked before the loop, by their expressions.
    pub unchecked: BTreeMap<ExpressionId, Access>,
}

/// The kind of function, which says where variables are and how it ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// A function or process: parameters are C's.
    Routine,
    /// An operation: parameters are in its frame, and it says whether it was executed.
    Operation,
    /// Initialisation of an object: its state is there.
    Initialisation,
}

impl<'g, 'p> Code<'g, 'p> {
    /// A function without lines.
    pub fn new(generator: &'g Generator<'p>, role: Role) -> Self {
        let (out, slots, unchecked) = (Lines::new(), Vec::new(), BTreeMap::new());
        Code { generator, role, out, slots, unchecked }
    }

    /// A variable of C for a value of a type, which is freed at the end.
    pub fn slot(&mut self, of: TypeId) -> String {
        let name = format!("s{}", self.out.number());
        self.slot_named(of, &name);
        name
    }

    /// A variable of C of this name, otherwise like a slot.
    pub fn slot_named(&mut self, of: TypeId, name: &str) {
        if self.slots.iter().any(|(_, known, _)| known == name) {
            return; // The body of a loop that is made twice.
        }
        let flat = self.generator.is_flat(of);
        let of = self.generator.type_name(of);
        self.slots.push((of, name.to_owned(), flat));
    }

    /// A variable of C for a pointer to a value of a type.
    pub fn pointer_slot(&mut self, of: TypeId) -> String {
        let name = format!("s{}", self.out.number());
        let of = format!("{} *", self.generator.type_name(of));
        self.slots.push((of, name.clone(), true));
        name
    }

    /// The body of the function, with a result of this type, which the variable `result` has.
    /// `ends` is true if something jumps to its end.
    pub fn body(mut self, result: TypeId, ends: bool) -> String {
        let mut text = String::new();
        for (of, name, _) in &self.slots {
            let space = if of.ends_with('*') { "" } else { " " };
            text += &format!("    {of}{space}{name};\n    memset(&{name}, 0, sizeof {name});\n");
        }
        if ends {
            self.out.line("end:;");
        }
        for (of, name, flat) in self.slots {
            if !flat {
                self.out.line(&format!("{of}_free(&{name});"));
            }
        }
        if result != Types::NOTHING {
            self.out.line("return result;");
        }
        text + &self.out.into_text()
    }

    /// A variable of the program, as C has it here.
    pub fn variable(&self, id: VariableId) -> String {
        use crate::check::VariableKind::{Instance, Local, Loop, Parameter};
        use crate::tree::Mode;
        let facts = self.generator.facts.variable(id);
        let name = self.generator.variable_name(id);
        let framed = match self.role {
            Role::Operation => format!("frame->{name}"),
            _ => name.clone(),
        };
        match facts.kind {
            Local | Loop => name,
            Instance(_) => format!("self->{name}"),
            Parameter(Mode::In) if self.generator.is_flat(facts.of) => framed,
            Parameter(_) => format!("(*{framed})"),
        }
    }
}
