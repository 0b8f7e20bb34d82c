//! The C of one function: its lines, the slots for values that it holds, and its ways out.

use std::collections::BTreeMap;

use super::Generator;
use super::unchecked::Access;
use crate::check::{TypeId, Types, VariableId};
use crate::source::Span;
use crate::tree::ExpressionId;

/// A function on its way.
pub struct Code<'g, 'p> {
    pub generator: &'g Generator<'p>,
    pub role: Role,
    lines: String,
    depth: usize,
    /// Variables of C at the top of the function: all begin as zero, and what they hold is freed
    /// at its end.
    slots: Vec<(String, String, bool)>,
    numbers: u32,
    /// Labels behind the loops around this place, and whether one is used.
    exits: Vec<(String, bool)>,
    /// True if something jumps to the end.
    ends: bool,
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
    pub fn new(generator: &'g Generator<'p>, role: Role) -> Self {
        Code {
            generator,
            role,
            lines: String::new(),
            depth: 1,
            slots: Vec::new(),
            numbers: 0,
            exits: Vec::new(),
            ends: false,
            unchecked: BTreeMap::new(),
        }
    }

    /// Appends a line.
    pub fn line(&mut self, text: &str) {
        self.lines += &"    ".repeat(self.depth);
        self.lines += text;
        self.lines.push('\n');
    }

    /// Appends a line that opens a block.
    pub fn open(&mut self, text: &str) {
        self.line(text);
        self.depth += 1;
    }

    /// Appends a line that closes a block.
    pub fn close(&mut self, text: &str) {
        self.depth -= 1;
        self.line(text);
    }

    /// Makes the lines that follow those of an inner block, whose opening line is there.
    pub fn open_only(&mut self) {
        self.depth += 1;
    }

    /// A number for a name that the function has only once.
    pub fn number(&mut self) -> u32 {
        self.numbers += 1;
        self.numbers
    }

    /// A variable of C for a value of a type, which is freed at the end.
    pub fn slot(&mut self, of: TypeId) -> String {
        let name = format!("s{}", self.number());
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
        let name = format!("s{}", self.number());
        let of = format!("{} *", self.generator.type_name(of));
        self.slots.push((of, name.clone(), true));
        name
    }

    /// The place of something, as C has it.
    pub fn place(&self, span: Span) -> String {
        self.generator.place(span)
    }

    /// Enters a loop; lines of its body follow.
    pub fn enter_loop(&mut self) {
        let label = format!("exit{}", self.number());
        self.exits.push((label, false));
    }

    /// Leaves the loop whose last line was appended.
    pub fn leave_loop(&mut self) {
        if let Some((label, true)) = self.exits.pop() {
            self.line(&format!("{label}:;"));
        }
    }

    /// Jumps behind the innermost loop.
    pub fn exit(&mut self) {
        if let Some((label, used)) = self.exits.last_mut() {
            *used = true;
            let line = format!("goto {label};");
            self.line(&line);
        }
    }

    /// Jumps to the end of the function.
    pub fn end(&mut self) {
        self.ends = true;
        self.line("goto end;");
    }

    /// The body of the function, with a result of this type, which the variable `result` has.
    pub fn body(mut self, result: TypeId) -> String {
        let mut text = String::new();
        for (of, name, _) in &self.slots {
            let space = if of.ends_with('*') { "" } else { " " };
            text += &format!("    {of}{space}{name};\n    memset(&{name}, 0, sizeof {name});\n");
        }
        if self.ends {
            self.line("end:;");
        }
        for (of, name, flat) in std::mem::take(&mut self.slots) {
            if !flat {
                self.line(&format!("{of}_free(&{name});"));
            }
        }
        if result != Types::NOTHING {
            self.line("return result;");
        }
        text + &self.lines
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
