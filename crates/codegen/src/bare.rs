//! Types that are directly one of their own alternatives (`type A = string | A`), which TypeScript
//! refuses (TS2456): they are rewritten so that every way round passes an object or an array.

use std::collections::HashSet;

use crate::graph::{Graph, Label};
use crate::shape::{Id, Node};
use crate::simplify::{both, union};

/// Rewrites all of them.
///
/// Types that reach each other so have all alternatives in common, so each group gets one body: the
/// alternatives that lead out of the group. In an intersection a member that leads back is dropped,
/// which widens the type.
pub(crate) fn break_bare_loops(graph: &mut Graph) {
    for group in bare_groups(graph) {
        let inside: HashSet<usize> = group.iter().copied().collect();
        let mut members = Vec::new();
        let mut seen = HashSet::new();
        let mut pending = vec![graph.loops[group[0]].body];
        while let Some(id) = pending.pop() {
            if !seen.insert(id) {
                continue;
            }
            match graph.node(id) {
                Node::Recursive(place) if inside.contains(&(*place as usize)) => {
                    pending.push(graph.loops[*place as usize].body);
                }
                Node::Union(inner) => pending.extend(inner.iter().rev()),
                Node::Both(inner) => {
                    let leads_back =
                        |id: &Id| bare_loops(graph, *id).iter().any(|place| inside.contains(place));
                    let kept: Vec<Id> = inner.iter().copied().filter(|id| !leads_back(id)).collect();
                    let kept = both(graph, kept, Label::default());
                    members.push(kept);
                }
                _ => members.push(id),
            }
        }
        // With no way out of the group nothing is said at all.
        let body = if members.is_empty() { Id::ANY } else { union(graph, members, Label::default()) };
        for place in group {
            graph.loops[place].body = body;
        }
    }
}

/// The groups of loops that reach each other (or one itself) without passing an object or an array.
fn bare_groups(graph: &Graph) -> Vec<Vec<usize>> {
    let edges: Vec<Vec<usize>> =
        graph.loops.iter().map(|recursive| bare_loops(graph, recursive.body)).collect();
    let mut reversed = vec![Vec::new(); edges.len()];
    for (from, targets) in edges.iter().enumerate() {
        targets.iter().for_each(|&target| reversed[target].push(from));
    }
    // Kosaraju: what is finished last going forward collects its group going backward.
    let mut finished = Vec::with_capacity(edges.len());
    let mut seen = vec![false; edges.len()];
    (0..edges.len()).for_each(|start| visit(start, &edges, &mut seen, &mut finished));
    seen.fill(false);
    let mut groups = Vec::new();
    for &start in finished.iter().rev() {
        let mut group = Vec::new();
        visit(start, &reversed, &mut seen, &mut group);
        group.sort_unstable();
        if group.len() > 1 || (group.len() == 1 && edges[start].contains(&start)) {
            groups.push(group);
        }
    }
    groups.sort_unstable();
    groups
}

/// Visits all that is reachable from `start` and not seen yet; `finished` gets each after its targets.
fn visit(start: usize, edges: &[Vec<usize>], seen: &mut [bool], finished: &mut Vec<usize>) {
    if std::mem::replace(&mut seen[start], true) {
        return;
    }
    let mut path = vec![(start, 0)];
    while let Some((place, next)) = path.last_mut() {
        match edges[*place].get(*next) {
            None => {
                finished.push(*place);
                path.pop();
            }
            Some(&target) => {
                *next += 1;
                if !std::mem::replace(&mut seen[target], true) {
                    path.push((target, 0));
                }
            }
        }
    }
}

/// The loops found in a type without passing an object, an array or another loop.
fn bare_loops(graph: &Graph, id: Id) -> Vec<usize> {
    let mut loops = Vec::new();
    let mut seen = HashSet::new();
    let mut pending = vec![id];
    while let Some(id) = pending.pop() {
        match graph.node(id) {
            Node::Union(inner) | Node::Both(inner) if seen.insert(id) => pending.extend(inner.iter().rev()),
            Node::Recursive(place) if seen.insert(id) => loops.push(*place as usize),
            _ => {}
        }
    }
    loops
}
