//! Programs put together at random, the same ones every time: features from `features.txt` with random
//! expressions in their holes.

use super::expressions::Expressions;

/// One generated program.
pub(crate) struct Program {
    pub(crate) typescript: String,
    /// The same without its types.
    pub(crate) javascript: String,
    /// Whether it gives the same in any JavaScript engine, without a host.
    pub(crate) is_plain: bool,
    pub(crate) features: Vec<&'static str>,
}

/// The first `count` programs.
pub(crate) fn programs(count: usize) -> Vec<Program> {
    let features = features();
    // In turn, each feature is the one that a program must have.
    let seeds = (0..count as u64).zip(features.iter().cycle());
    seeds.map(|(seed, required)| Generator::new(seed, &features).program(required)).collect()
}

pub(crate) fn feature_names() -> Vec<&'static str> {
    features().iter().map(|feature| feature.name).collect()
}

impl Program {
    /// Tells a program from another.
    pub(crate) fn fingerprint(&self) -> String {
        fingerprint(&self.typescript)
    }
}

/// Tells a text from another: the upper half of its FNV-1a hash.
pub(crate) fn fingerprint(text: &str) -> String {
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    format!("{:08x}", hash >> 32)
}

/// What all programs begin with: what they add to and draw from. Numbers that JSON does not have become text.
const PRELUDE: &str = r#"const out«: unknown[]» = [];
const num = (n«: number») => Number.isFinite(n) ? n + 0 : String(n);
const json = (value«: unknown»)«: unknown» => typeof value === "number" ? num(value) : value === undefined ? "undefined" : typeof value === "object" && value !== null && !("toJSON" in value) ? (Array.isArray(value) ? Array.from(value, json) : Object.fromEntries(Object.entries(value).map(([key, each]) => [key, json(each)]))) : value;
const say = (feature«: string», value«: unknown») => { out.push([feature, json(value)]); };
const numbers = [3, -7, 12, 0, 5, 1.5], words = ["pear", "Apple", "fig", "banana", "x"];
"#;

/// What they end with, unless they end otherwise.
const END: &str = "return out;\n";

/// How deep features are in features.
const MAX_DEPTH: usize = 2;

struct Feature {
    name: &'static str,
    text: &'static str,
    /// Calls tools.
    tools: bool,
    /// Needs the host for another reason.
    host: bool,
    /// Ends the program.
    last: bool,
}

fn features() -> Vec<Feature> {
    let sections = include_str!("features.txt").split("\n== ").skip(1);
    let parse = |section: &'static str| {
        let (head, text) = section.split_once('\n').unwrap();
        let (name, attributes) = head.split_once(" [").unwrap_or((head, ""));
        let has = |attribute| attributes.contains(attribute);
        Feature { name, text, tools: has("tools]"), host: has("host]"), last: has("last]") }
    };
    sections.map(parse).collect()
}

struct Generator<'a> {
    random: Random,
    features: &'a [Feature],
    used: Vec<&'static str>,
    is_plain: bool,
}

impl<'a> Generator<'a> {
    fn new(seed: u64, features: &'a [Feature]) -> Self {
        Self { random: Random(seed), features, used: Vec::new(), is_plain: true }
    }

    fn program(mut self, required: &Feature) -> Program {
        let mut text = PRELUDE.to_owned();
        let may_call = required.tools || self.random.below(4) == 0;
        for _ in 0..1 + self.random.below(4) {
            text.push_str(&self.block(may_call, 0));
        }
        text.push_str(&self.block_of(required, may_call, 0));
        text.push_str(END);
        Program {
            typescript: text.replace(['«', '»'], ""),
            javascript: without_types(&text),
            is_plain: self.is_plain,
            features: self.used,
        }
    }

    /// Some feature that does not end the program.
    fn block(&mut self, may_call: bool, depth: usize) -> String {
        let fits = |feature: &&Feature| {
            !feature.last
                && (may_call || !feature.tools)
                && (depth < MAX_DEPTH || !feature.text.contains("$P"))
        };
        let features = self.features;
        let fitting: Vec<&Feature> = features.iter().filter(fits).collect();
        let feature = fitting[self.random.below(fitting.len())];
        self.block_of(feature, may_call, depth)
    }

    /// A feature in a block of its own, so that its names are its own.
    fn block_of(&mut self, feature: &Feature, may_call: bool, depth: usize) -> String {
        self.used.push(feature.name);
        self.is_plain &= !feature.tools && !feature.host;
        format!("{{\n{}\n}}\n", self.fill(feature.text.trim_end(), may_call, depth))
    }

    fn fill(&mut self, text: &str, may_call: bool, depth: usize) -> String {
        let mut filled = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('$') {
            filled.push_str(before);
            let hole = after.chars().next().unwrap_or_default();
            let mut expressions = Expressions { random: &mut self.random };
            let expression = match hole {
                'N' => expressions.number(3),
                'B' => expressions.boolean(2),
                'S' => expressions.string(3),
                'A' => expressions.numbers(2),
                'W' => expressions.words(2),
                'I' => expressions.small(),
                'J' => expressions.integer(),
                'T' => expressions.word(),
                'P' => self.block(may_call, depth + 1),
                // A dollar of the language.
                _ => {
                    filled.push('$');
                    rest = after;
                    continue;
                }
            };
            filled.push_str(&expression);
            rest = &after[1..];
        }
        filled.push_str(rest);
        filled
    }
}

/// Leaves out what stands in «».
fn without_types(text: &str) -> String {
    text.split('«')
        .enumerate()
        .map(
            |(index, part)| {
                if index == 0 { part } else { part.split_once('»').map_or("", |(_, rest)| rest) }
            },
        )
        .collect()
}

/// SplitMix64: small, and the same everywhere.
pub(crate) struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number from 0 up to, but not including, `end`.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }
}
