//! Functions and processes.

use super::code::Role;
use super::names::quoted;
use super::statements::Statements;
use super::{Generator, values::address};
use crate::check::{RoutineId, Types, VariableId};
use crate::tree::{Mode, RoutineKind};

impl Generator<'_> {
    /// Headings of all functions, processes and operations, so that their order does not matter.
    pub fn headings(&self) -> String {
        let mut text = String::new();
        for id in self.routines.keys() {
            text += &format!("static {};\n", self.heading(*id));
        }
        text
    }

    /// Heading of a function in C.
    pub fn heading(&self, id: RoutineId) -> String {
        let facts = self.facts.routine(id);
        let mut parameters: Vec<String> =
            facts.parameters.iter().map(|parameter| self.parameter(*parameter)).collect();
        if let (RoutineKind::Operation, Some(object)) = (facts.kind, self.owner(id)) {
            parameters.insert(0, format!("{} *object", super::names::object_name(object)));
            parameters.push("const char *where".into());
        }
        let parameters = match parameters.is_empty() {
            true => "void".to_owned(),
            false => parameters.join(", "),
        };
        format!("{} {}({parameters})", self.type_name(facts.result), self.routine_name(id))
    }

    /// A parameter: a value that holds nothing, or a pointer.
    fn parameter(&self, id: VariableId) -> String {
        let of = self.facts.variable(id).of;
        let (name, variable) = (self.type_name(of), self.variable_name(id));
        match self.mode(id) {
            Mode::In if self.is_flat(of) => format!("{name} {variable}"),
            Mode::In => format!("const {name} *{variable}"),
            _ => format!("{name} *{variable}"),
        }
    }

    /// Bodies of functions and processes.
    pub fn routine_bodies(&self) -> String {
        let mut text = String::new();
        for (id, routine) in &self.routines {
            let facts = self.facts.routine(*id);
            if facts.kind == RoutineKind::Operation {
                continue;
            }
            let Some(body) = &routine.body else { continue };
            let mut statements = Statements::new(self, Role::Routine);
            statements.reset_out(&facts.parameters);
            statements.declarations(&body.declarations);
            statements.block(&body.block);
            let result = match facts.result {
                Types::NOTHING => String::new(),
                of => {
                    let name = self.type_name(of);
                    format!("    {name} result;\n    memset(&result, 0, sizeof result);\n")
                }
            };
            let heading = self.heading(*id);
            text +=
                &format!("\nstatic {heading} {{\n{result}{}}}\n", statements.body(facts.result));
            if facts.kind == RoutineKind::Process {
                text += &self.process(*id);
            }
        }
        text
    }

    /// Code that Weft calls to run a process: it reads the arguments, and frees them at the end.
    fn process(&self, id: RoutineId) -> String {
        let parameters = &self.facts.routine(id).parameters;
        let (mut before, mut arguments, mut after) = (String::new(), Vec::new(), String::new());
        for parameter in parameters {
            let of = self.facts.variable(*parameter).of;
            let (name, variable) = (self.type_name(of), self.variable_name(*parameter));
            before += &format!(
                "    {name} {variable};\n    good = {name}_get(&reader, &{variable}) && good;\n"
            );
            let by_value = self.mode(*parameter) == Mode::In && self.is_flat(of);
            arguments.push(if by_value { variable.clone() } else { address(&variable) });
            after += &format!("    {name}_free(&{variable});\n");
        }
        let (name, arguments) = (self.routine_name(id), arguments.join(", "));
        let wrong = quoted("its arguments cannot be read: the ranks run different programs");
        let word = quoted(&format!("process {}", self.facts.routine(id).name));
        format!(
            "\nstatic void run_{name}(const weft_objects *objects, const void *arguments, size_t length, void *user) {{\n\
             \x20   orca_reader reader = {{arguments, length, false}};\n    bool good = true;\n\
             \x20   (void)objects, (void)user, (void)reader;\n{before}    if (!good)\n        orca_fail({word}, {wrong});\n\
             \x20   {name}({arguments});\n{after}}}\n"
        )
    }

    /// Name by which ranks agree on a process.
    pub fn process_name(&self, id: RoutineId) -> String {
        let name = &self.facts.routine(id).name;
        let same = self
            .facts
            .routines
            .iter()
            .filter(|routine| routine.kind == RoutineKind::Process && routine.name == *name);
        if same.count() > 1 { format!("{name}.{}", id.0) } else { name.clone() }
    }

    /// Tables of processes and object types, and the program itself.
    pub fn main(&self) -> String {
        let processes =
            self.routines.keys().filter(|id| self.facts.routine(**id).kind == RoutineKind::Process);
        let processes: Vec<String> = processes
            .map(|id| {
                let name = quoted(&self.process_name(*id));
                format!("    {{{name}, run_{}, NULL}},\n", self.routine_name(*id))
            })
            .collect();
        let main = self.facts.main.map(|id| self.process_name(id)).unwrap_or_default();
        format!(
            "\nstatic const weft_process_type processes[] = {{\n{}}};\n{}\n\
             int main(int argc, char **argv) {{\n    \
             orca_program program = {{types, TYPES, processes, \
             sizeof processes / sizeof *processes, {}}};\n    \
             return orca_main(argc, argv, &program);\n}}\n",
            processes.concat(),
            self.object_table(),
            quoted(&main)
        )
    }
}

impl Statements<'_, '_> {
    /// Empties `out` parameters: a routine never sees what they held.
    pub fn reset_out(&mut self, parameters: &[VariableId]) {
        for parameter in parameters {
            if self.code.generator.mode(*parameter) != Mode::Out {
                continue;
            }
            let of = self.code.generator.facts.variable(*parameter).of;
            let (name, place) = (self.code.generator.type_name(of), self.code.variable(*parameter));
            self.code.out.line(&format!("{name}_free({});", address(&place)));
            self.code.out.line(&format!("memset({}, 0, sizeof {place});", address(&place)));
        }
    }
}
