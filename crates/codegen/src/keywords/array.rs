//! `items`, `prefixItems`, `additionalItems`, `unevaluatedItems`, `minItems`, `maxItems`: what arrays hold.

use code_mode_schema::Json;

use super::Assertions;
use super::object::Unevaluated;
use crate::lower::{Lowering, SchemaId, Step};
use crate::shape::{Id, Node};

/// What one schema says about elements.
#[derive(Clone, Copy, Default)]
pub(crate) struct ArrayFacts<'a> {
    items: Option<&'a Json>,
    prefix_items: &'a [Json],
    additional: Option<&'a Json>,
    unevaluated: Unevaluated,
    has_contains: bool,
    min: Option<usize>,
    max: Option<usize>,
}

/// Arrays of one fixed length up to this become tuples.
const MAX_FIXED: usize = 4;

/// Elements beyond this place are shown as any JSON.
const MAX_PLACES: usize = 128;

impl ArrayFacts<'_> {
    /// Whether this says more than that a value may be any array.
    pub(crate) fn is_present(&self) -> bool {
        self.items.is_some_and(|items| !matches!(items, Json::Bool(true)))
            || !self.prefix_items.is_empty()
            || self.max == Some(0)
            || (self.min == self.max && self.max.is_some_and(|max| max <= MAX_FIXED))
    }

    /// Forgets what draft-07 does not have.
    pub(crate) fn forget_modern(&mut self) {
        self.prefix_items = &[];
        self.unevaluated = Unevaluated::Silent;
    }

    /// Whether this says how many elements there are, which matters to what another schema says.
    pub(crate) fn has_bounds(&self) -> bool {
        self.min.is_some() || self.max.is_some()
    }

    /// Whether every element may be described by this schema, whatever its place.
    pub(crate) fn evaluates_all(&self) -> bool {
        let has_rest = self.items.is_some_and(|items| !items.is_array()) || self.additional.is_some();
        has_rest || self.has_contains || self.unevaluated == Unevaluated::Taken
    }
}

/// Takes note of a keyword of the family.
pub(crate) fn read<'a>(assertions: &mut Assertions<'a>, keyword: &str, value: &'a Json) {
    let facts = &mut assertions.array;
    match (keyword, value) {
        ("items", Json::Object(_) | Json::Array(_) | Json::Bool(_)) => facts.items = Some(value),
        ("prefixItems", Json::Array(items)) => facts.prefix_items = items,
        ("additionalItems", Json::Object(_) | Json::Bool(_)) => facts.additional = Some(value),
        ("unevaluatedItems", _) => facts.unevaluated = Unevaluated::from(value),
        ("contains", _) => facts.has_contains = true,
        ("minItems", _) => facts.min = count(value),
        ("maxItems", _) => facts.max = count(value),
        _ => {}
    }
}

/// The array type of schemas that all hold.
pub(crate) fn lower<'a>(ctx: &mut Lowering<'a>, schemas: &[SchemaId], hides_evaluation: bool) -> Node {
    let layouts: Vec<Layout<'a>> = schemas.iter().map(|&schema| Layout::of(ctx, schema)).collect();
    let facts = |schema: &SchemaId| ctx.assertions(*schema).array;
    let min = schemas.iter().filter_map(|schema| facts(schema).min).max().unwrap_or(0);
    let max = schemas.iter().filter_map(|schema| facts(schema).max).min().unwrap_or(usize::MAX);
    let refuses = |schema: &SchemaId| facts(schema).unevaluated == Unevaluated::Refused;
    let is_closed_unevaluated = !hides_evaluation && schemas.iter().any(refuses);
    let places = layouts.iter().map(|layout| layout.places.len()).max().unwrap_or(0);
    let rest_is_refused = is_closed_unevaluated && places > 0
        || layouts.iter().any(|layout| layout.rest.is_some_and(|(_, rest)| rest.as_bool() == Some(false)));

    let rest_schemas: Vec<SchemaId> = layouts.iter().filter_map(|layout| layout.rest_schema(ctx)).collect();
    let shown = places.min(max).min(MAX_PLACES);
    let mut items = Vec::with_capacity(shown);
    for place in 0..shown {
        let schemas: Vec<SchemaId> =
            layouts.iter().filter_map(|layout| layout.schema_at(ctx, place)).collect();
        items.push(ctx.request(&schemas));
    }
    let rest = match () {
        () if max <= shown || (rest_is_refused && shown == places) => None,
        () if shown < places => Some(Id::ANY),
        () => Some(ctx.request(&rest_schemas)),
    };
    match (&items[..], rest) {
        ([], Some(item)) if min == max && item.is_leaf() && (1..=MAX_FIXED).contains(&min) => {
            Node::Tuple { items: vec![item; min], required: min, rest: None }
        }
        ([], Some(item)) => Node::Array(item),
        _ => Node::Tuple { required: min.min(items.len()), items, rest },
    }
}

/// The elements of one schema: those with a place, and the rest.
struct Layout<'a> {
    schema: SchemaId,
    keyword: &'static str,
    places: &'a [Json],
    rest: Option<(&'static str, &'a Json)>,
}

impl<'a> Layout<'a> {
    /// Reads the tuple of 2020-12 (`prefixItems`, `items`) or the older one (`items`, `additionalItems`).
    fn of(ctx: &Lowering<'a>, schema: SchemaId) -> Layout<'a> {
        let facts = ctx.assertions(schema).array;
        if let Some(Json::Array(places)) = facts.items {
            let rest = facts.additional.map(|rest| ("additionalItems", rest));
            return Layout { schema, keyword: "items", places, rest };
        }
        let rest = facts.items.map(|rest| ("items", rest));
        Layout { schema, keyword: "prefixItems", places: facts.prefix_items, rest }
    }

    fn schema_at(&self, ctx: &mut Lowering<'a>, place: usize) -> Option<SchemaId> {
        match self.places.get(place) {
            Some(item) => Some(ctx.child(self.schema, item, Step::Item(self.keyword, place))),
            None => self.rest_schema(ctx),
        }
    }

    fn rest_schema(&self, ctx: &mut Lowering<'a>) -> Option<SchemaId> {
        self.rest.map(|(keyword, rest)| ctx.child(self.schema, rest, Step::Keyword(keyword)))
    }
}

fn count(value: &Json) -> Option<usize> {
    value.as_i64().and_then(|count| usize::try_from(count).ok())
}
