//! Lines of one function of C.

/// Lines that follow one another, each as deep as the blocks around it.
pub struct Lines {
    text: String,
    depth: usize,
    numbers: u32,
}

impl Lines {
    /// None yet, in the body of a function.
    pub fn new() -> Self {
        Lines { text: String::new(), depth: 1, numbers: 0 }
    }

    /// Appends a line.
    pub fn line(&mut self, text: &str) {
        self.text += &"    ".repeat(self.depth);
        self.text += text;
        self.text.push('\n');
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

    /// All of them.
    pub fn into_text(self) -> String {
        self.text
    }
}
