//! Values on their way through expressions. C evaluates operands in any order, and frees nothing:
//! so a value that holds something is put into a slot of its function before its address is taken,
//! and operands of which several call something are put into slots one after another.

use super::code::Code;
use crate::check::TypeId;
use crate::tree::Expression;

/// An expression in C.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Value {
    /// A value that holds nothing.
    Flat(String),
    /// A place, flat or not, that belongs to a variable.
    Place(String),
    /// A value that holds something and belongs to nobody yet.
    Fresh(String),
}

impl Code<'_, '_> {
    /// A value that C copies, of a type that holds nothing.
    pub fn flat(&mut self, expression: &Expression) -> String {
        match self.value(expression) {
            Value::Flat(text) | Value::Place(text) | Value::Fresh(text) => text,
        }
    }

    /// A place with the value: it is read there, at once.
    pub fn lvalue(&mut self, expression: &Expression) -> String {
        let of = self.of(expression);
        let value = self.value(expression);
        self.put(of, value)
    }

    /// A place with a value.
    pub fn put(&mut self, of: TypeId, value: Value) -> String {
        match value {
            Value::Place(text) => text,
            Value::Flat(text) => {
                let slot = self.slot(of);
                format!("(*({slot} = {text}, &{slot}))")
            }
            Value::Fresh(text) => {
                let (slot, name) = (self.slot(of), self.generator.type_name(of));
                format!("(*{name}_hold(&{slot}, {text}))")
            }
        }
    }

    /// A pointer to the value.
    pub fn pointer(&mut self, expression: &Expression) -> String {
        address(&self.lvalue(expression))
    }

    /// The value as one that belongs to nobody else: a copy, if it is a variable's.
    pub fn owned(&mut self, expression: &Expression) -> String {
        let of = self.of(expression);
        match self.value(expression) {
            Value::Flat(text) | Value::Fresh(text) => text,
            Value::Place(text) if self.generator.is_flat(of) => text,
            Value::Place(text) => {
                format!("{}_copy({})", self.generator.type_name(of), address(&text))
            }
        }
    }

    /// Values of operands, evaluated from left to right, and what has to be evaluated before any is
    /// used: a C expression with a comma behind it, or nothing.
    pub fn operands(&mut self, operands: &[&Expression]) -> (String, Vec<String>) {
        let calls = operands.iter().filter(|operand| self.generator.calls(operand)).count();
        let alone = operands.len() == 1 || calls == 0;
        let mut before = String::new();
        let mut values = Vec::new();
        for operand in operands {
            let (of, value) = (self.of(operand), self.value(operand));
            let value = match value {
                Value::Flat(text) | Value::Place(text) if self.generator.is_flat(of) => {
                    if alone {
                        text
                    } else {
                        let slot = self.slot(of);
                        before += &format!("{slot} = {text}, ");
                        slot
                    }
                }
                value => {
                    let place = self.put(of, value);
                    if alone {
                        place
                    } else {
                        let slot = self.pointer_slot(of);
                        before += &format!("{slot} = {}, ", address(&place));
                        format!("(*{slot})")
                    }
                }
            };
            values.push(value);
        }
        (before, values)
    }

    /// The type of an expression; that of a name of a node for `nil`.
    pub fn of(&self, expression: &Expression) -> TypeId {
        self.generator.facts.type_of(expression)
    }
}

/// The address of a place.
pub fn address(place: &str) -> String {
    match place.strip_prefix("(*").and_then(|rest| rest.strip_suffix(')')) {
        Some(pointer) if is_whole(pointer) => format!("({pointer})"),
        _ => format!("&{place}"),
    }
}

/// True if no parenthesis closes that was not opened.
fn is_whole(text: &str) -> bool {
    let mut depth = 0i32;
    let mut quoted = false;
    let mut escaped = false;
    for letter in text.chars() {
        match letter {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            '(' if !quoted => depth += 1,
            ')' if !quoted => depth -= 1,
            _ => {}
        }
        if depth < 0 {
            return false;
        }
    }
    depth == 0
}
