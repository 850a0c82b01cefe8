//! Random expressions of a known type, over the names that every program has: `numbers` and `words`.
//!
//! They use only what every engine must compute alike: no local time, no locale, no transcendental function.

use super::generator::Random;

pub(crate) struct Expressions<'a> {
    pub(crate) random: &'a mut Random,
}

const WORDS: [&str; 10] =
    ["alpha", "Beta", "a-b-c", "x", "lorem ipsum", "été", "42", " pad ", "A1b2", "none"];

impl Expressions<'_> {
    /// A number, nested up to `depth`.
    pub(crate) fn number(&mut self, depth: usize) -> String {
        if depth == 0 {
            return self.integer();
        }
        let d = depth - 1;
        match self.random.below(19) {
            0 => self.integer(),
            1 => format!("numbers[{}]", self.random.below(6)),
            2 => format!("({} + {})", self.number(d), self.number(d)),
            3 => format!("({} - {})", self.number(d), self.number(d)),
            4 => format!("({} * {})", self.number(d), self.small()),
            5 => format!("Math.floor({} / {})", self.number(d), self.small()),
            6 => format!("({} % {})", self.number(d), self.small()),
            7 => format!("Math.max({}, {})", self.number(d), self.number(d)),
            8 => format!("{}.length", self.string(d)),
            9 => format!("({} ? {} : {})", self.boolean(d), self.number(d), self.number(d)),
            10 => format!("({} & {})", self.number(d), self.integer()),
            11 => format!("({} >>> {})", self.number(d), self.small()),
            12 => format!("{}.reduce((a, b) => a + b, {})", self.numbers(d), self.integer()),
            13 => format!("((n) => n * n)({})", self.number(d)),
            14 => format!("Number.parseInt(\"{}\", {})", self.random.below(1000), 10 + self.random.below(26)),
            15 => format!("Math.min(...{}, {})", self.numbers(d), self.integer()),
            16 => format!("Number(({}).toFixed({}))", self.number(d), self.random.below(3)),
            17 => format!("{}.indexOf({})", self.numbers(d), self.integer()),
            _ => format!("Math.trunc({} / {})", self.number(d), self.small()),
        }
    }

    pub(crate) fn boolean(&mut self, depth: usize) -> String {
        if depth == 0 {
            return ["true", "false"][self.random.below(2)].to_owned();
        }
        let d = depth - 1;
        match self.random.below(8) {
            0 => format!("({} < {})", self.number(d), self.number(d)),
            1 => format!("({} === {})", self.string(d), self.string(d)),
            2 => format!("!{}", self.boolean(d)),
            3 => format!("({} && {})", self.boolean(d), self.boolean(d)),
            4 => format!("{}.includes({})", self.numbers(d), self.integer()),
            5 => format!("/^[a-m]/i.test({})", self.string(d)),
            6 => format!("{}.some((w) => w.length > {})", self.words(d), self.small()),
            _ => format!("({} || {})", self.boolean(d), self.boolean(d)),
        }
    }

    pub(crate) fn string(&mut self, depth: usize) -> String {
        if depth == 0 {
            return self.word();
        }
        let d = depth - 1;
        match self.random.below(16) {
            0 => self.word(),
            1 => format!("words[{}]", self.random.below(5)),
            2 => format!("`${{{}}}:${{{}}}`", self.string(d), self.number(d)),
            3 => format!("{}.toUpperCase()", self.string(d)),
            4 => format!("{}.slice({})", self.string(d), self.small()),
            5 => format!("{}.padStart({}, \"-\")", self.string(d), self.small()),
            6 => format!("String({})", self.number(d)),
            7 => format!("[...{}].reverse().join(\"\")", self.string(d)),
            8 => format!("({} + {})", self.string(d), self.string(d)),
            9 => format!("{}.replace(/[aeiou]/g, \"*\")", self.string(d)),
            10 => format!("({}.at(-1) ?? \"\")", self.string(d)),
            11 => format!("{}.join(\"/\")", self.numbers(d)),
            12 => format!("{}.join()", self.words(d)),
            13 => format!("{}.split(\"\").sort().join(\"\")", self.string(d)),
            14 => format!("{}.trim().toLowerCase()", self.string(d)),
            _ => format!("({} ? {} : {})", self.boolean(d), self.string(d), self.string(d)),
        }
    }

    /// An array of numbers.
    pub(crate) fn numbers(&mut self, depth: usize) -> String {
        if depth == 0 {
            return format!("[{}, {}, {}]", self.integer(), self.integer(), self.integer());
        }
        let d = depth - 1;
        match self.random.below(9) {
            0 => "numbers".to_owned(),
            1 => format!("numbers.slice({})", self.random.below(4)),
            2 => format!("{}.map((n) => n * {})", self.numbers(d), self.integer()),
            3 => format!("{}.filter((n) => n % {} !== 0)", self.numbers(d), self.small()),
            4 => format!("[...{}, {}]", self.numbers(d), self.number(d)),
            5 => format!("[...{}].sort((a, b) => a - b)", self.numbers(d)),
            6 => format!("Array.from({{ length: {} }}, (_, i) => i * {})", self.small(), self.integer()),
            7 => format!("{}.flatMap((n) => [n, -n])", self.numbers(d)),
            _ => format!("{}.map((w) => w.length)", self.words(d)),
        }
    }

    /// An array of strings.
    pub(crate) fn words(&mut self, depth: usize) -> String {
        if depth == 0 {
            return format!("[{}, {}]", self.word(), self.word());
        }
        let d = depth - 1;
        match self.random.below(6) {
            0 => "words".to_owned(),
            1 => format!("[{}, {}, {}]", self.string(d), self.string(d), self.word()),
            2 => format!("{}.map((w, i) => w + i)", self.words(d)),
            3 => format!("{}.split(/[-\\s]/)", self.string(d)),
            4 => format!("[...new Set({})]", self.words(d)),
            _ => format!("{}.concat({})", self.words(d), self.word()),
        }
    }

    /// A literal, 1 to 9.
    pub(crate) fn small(&mut self) -> String {
        (1 + self.random.below(9)).to_string()
    }

    /// A literal, -20 to 20.
    pub(crate) fn integer(&mut self) -> String {
        match self.random.below(41) {
            n @ 0..=20 => n.to_string(),
            n => format!("(-{})", n - 20),
        }
    }

    /// A literal.
    pub(crate) fn word(&mut self) -> String {
        format!("{:?}", WORDS[self.random.below(WORDS.len())])
    }
}
