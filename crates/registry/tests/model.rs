//! Any sequence of register, dispose, restrict, lift and lookup equals a simple model of contract 2.2 to 2.4.

use code_mode_registry::{Agent, Registration, Restriction, ToolRegistry};
use proptest::prelude::*;

use crate::support::echo;

const NAMES: [&str; 4] = ["a", "b", "c", "d"];
const AGENTS: usize = 2;

/// Where something is registered: `None` globally, else for the agent of that number.
type Scope = Option<usize>;

#[derive(Clone, Debug)]
enum Step {
    Register {
        scope: Scope,
        name: usize,
    },
    Restrict {
        agent: usize,
        allow: Option<Vec<usize>>,
        deny: Option<Vec<usize>>,
    },
    /// Ends the n-th registration that is alive.
    Dispose {
        nth: usize,
    },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let name = 0..NAMES.len();
    let names = || prop::collection::vec(0..NAMES.len(), 0..3);
    let step = prop_oneof![
        4 => (prop::option::of(0..AGENTS), name).prop_map(|(scope, name)| Step::Register { scope, name }),
        2 => (0..AGENTS, prop::option::of(names()), prop::option::of(names()))
            .prop_map(|(agent, allow, deny)| Step::Restrict { agent, allow, deny }),
        3 => (0_usize..8).prop_map(|nth| Step::Dispose { nth }),
    ];
    prop::collection::vec(step, 0..40)
}

/// What is alive, in order of registration.
#[derive(Debug)]
enum Entry {
    Tool { scope: Scope, name: usize, serial: usize },
    Filter { agent: usize, allow: Option<Vec<usize>>, deny: Vec<usize> },
}

#[derive(Default)]
struct Model {
    entries: Vec<Entry>,
}

impl Model {
    fn tools(&self, wanted: Scope) -> impl Iterator<Item = (usize, usize)> {
        self.entries.iter().filter_map(move |entry| match entry {
            Entry::Tool { scope, name, serial } if *scope == wanted => Some((*name, *serial)),
            _ => None,
        })
    }

    fn is_global(&self, wanted: usize) -> bool {
        self.tools(None).any(|(name, _)| name == wanted)
    }

    fn shows(&self, viewer: usize, name: usize) -> bool {
        self.entries.iter().all(|entry| match entry {
            Entry::Filter { agent, allow, deny } if *agent == viewer => {
                allow.as_ref().is_none_or(|allow| allow.contains(&name)) && !deny.contains(&name)
            }
            _ => true,
        })
    }

    /// Names and serial numbers of what an agent sees.
    fn view(&self, viewer: Scope) -> Vec<(usize, usize)> {
        let Some(agent) = viewer else {
            return self.tools(None).collect();
        };
        let mut view: Vec<_> = self.tools(None).filter(|(name, _)| self.shows(agent, *name)).collect();
        for (name, serial) in self.tools(viewer) {
            match view.iter_mut().find(|(seen, _)| *seen == name) {
                Some(shadowed) => shadowed.1 = serial,
                None => view.push((name, serial)),
            }
        }
        view
    }
}

struct Subject {
    registry: ToolRegistry,
    agents: Vec<Agent>,
    alive: Vec<Registration>,
}

impl Subject {
    fn view(&self, viewer: Scope) -> Vec<(usize, usize)> {
        let agent = viewer.map(|agent| &self.agents[agent]);
        let tools = self.registry.view(agent);
        let place = |name: &str| NAMES.iter().position(|known| *known == name).unwrap();
        tools.iter().map(|tool| (place(tool.name()), tool.description().parse().unwrap())).collect()
    }
}

/// Does one step on both and says whether both took it.
fn take(model: &mut Model, subject: &mut Subject, step: &Step, serial: usize) -> (bool, bool) {
    match step {
        Step::Register { scope, name } => {
            let is_free = model.tools(*scope).all(|(known, _)| known != *name);
            if is_free {
                model.entries.push(Entry::Tool { scope: *scope, name: *name, serial });
            }
            let tool = echo(NAMES[*name]).description(serial.to_string());
            let registered = match scope {
                None => subject.registry.register(tool),
                Some(agent) => subject.registry.register_for(&subject.agents[*agent], tool),
            };
            let was_taken = registered.is_ok();
            subject.alive.extend(registered.ok());
            (is_free, was_taken)
        }
        Step::Restrict { agent, allow, deny } => {
            let mut named = allow.iter().chain(deny).flatten();
            let is_legal = (allow.is_some() || deny.is_some()) && named.all(|name| model.is_global(*name));
            let names = |names: &Vec<usize>| names.iter().map(|name| NAMES[*name]).collect::<Vec<_>>();
            let restriction = match (allow, deny) {
                (None, None) => Restriction::default(),
                (Some(allow), None) => Restriction::allow(names(allow)),
                (None, Some(deny)) => Restriction::deny(names(deny)),
                (Some(allow), Some(deny)) => Restriction::allow(names(allow)).and_deny(names(deny)),
            };
            if is_legal {
                let deny = deny.clone().unwrap_or_default();
                model.entries.push(Entry::Filter { agent: *agent, allow: allow.clone(), deny });
            }
            let restricted = subject.registry.restrict(Some(&subject.agents[*agent]), restriction);
            let was_taken = restricted.is_ok();
            subject.alive.extend(restricted.ok());
            (is_legal, was_taken)
        }
        Step::Dispose { nth } => {
            if let Some(nth) = nth.checked_rem(model.entries.len()) {
                model.entries.remove(nth);
                subject.alive.remove(nth).dispose();
            }
            (true, true)
        }
    }
}

proptest! {
    #[test]
    fn every_sequence_of_changes_equals_the_model(steps in steps()) {
        let mut model = Model::default();
        let mut subject = Subject {
            registry: ToolRegistry::default(),
            agents: (0..AGENTS).map(|n| Agent::new(n.to_string())).collect(),
            alive: Vec::new(),
        };
        for (serial, step) in steps.iter().enumerate() {
            let (expected, taken) = take(&mut model, &mut subject, step, serial);
            prop_assert_eq!(expected, taken, "{:?}", step);
            for viewer in [None, Some(0), Some(1)] {
                let view = model.view(viewer);
                prop_assert_eq!(&subject.view(viewer), &view);
                for (place, name) in NAMES.iter().enumerate() {
                    let agent = viewer.map(|agent: usize| &subject.agents[agent]);
                    let found = subject.registry.get(name, agent);
                    let found = found.map(|tool| tool.description().parse::<usize>().unwrap());
                    let expected = view.iter().find(|(seen, _)| *seen == place).map(|(_, serial)| *serial);
                    prop_assert_eq!(found, expected);
                }
            }
        }
    }
}
