//! The registry's state behind its lock: layers of tools by scope, filters, guards, and the views made of
//! them.
//!
//! Lookups go straight to the layers; a view is only made when somebody asks for all of it, and then kept
//! until the next change. Nothing here calls anybody else's code.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    ops::Bound,
    sync::{Arc, Weak},
};

use crate::{
    config::Mode,
    contain::Callback,
    error::{ProjectionError, ToolError},
    execution::{Agent, AgentIdentity, ToolExecution},
    tool::ToolDefinition,
    visibility::{ToolSchema, Transport},
};

/// A guard: looks at an allowed call and may give a reason to deny it.
pub(crate) type Guard = dyn Fn(&ToolExecution) -> Result<Option<String>, ToolError> + Send + Sync;

/// Everything that can be registered for one scope; `None` among the scopes is the global one.
#[derive(Default)]
pub(crate) struct Layers {
    pub(crate) global: Layer,
    pub(crate) global_guards: GuardLayer,
    scopes: HashMap<u64, Scope>,
    /// Installed transports; the last one is in force.
    transports: BTreeMap<u64, Transport>,
    last_id: u64,
    global_view: Option<Arc<View>>,
    /// The agents that have a view now.
    viewers: Vec<u64>,
    changes_since_sweep: usize,
}

/// Looking for agents that are gone takes a look at every scope. Each change pays for so many of them, so that a
/// registry of many agents does not look at all of them at every change.
const SCOPES_PER_CHANGE: usize = 64;

struct Scope {
    owner: Weak<AgentIdentity>,
    tools: Layer,
    filters: BTreeMap<u64, Filter>,
    guards: GuardLayer,
    /// In which modes tools are presented to the agent; the last one is in force.
    modes: BTreeMap<u64, Mode>,
    view: Option<Arc<View>>,
}

impl Layers {
    /// Ids grow, so that their order is the order of insertion.
    pub(crate) fn next_id(&mut self) -> u64 {
        self.last_id += 1;
        self.last_id
    }

    /// The layer of `scope`, made if there is none.
    pub(crate) fn layer_mut(&mut self, scope: Option<&Agent>) -> &mut Layer {
        match scope {
            None => &mut self.global,
            Some(agent) => &mut self.scope_mut(agent).tools,
        }
    }

    pub(crate) fn guards_mut(&mut self, scope: Option<&Agent>) -> &mut GuardLayer {
        match scope {
            None => &mut self.global_guards,
            Some(agent) => &mut self.scope_mut(agent).guards,
        }
    }

    pub(crate) fn guards(&self, scope: Option<&Agent>) -> Option<&GuardLayer> {
        match scope {
            None => Some(&self.global_guards),
            Some(agent) => self.scopes.get(&agent.id()).map(|scope| &scope.guards),
        }
    }

    pub(crate) fn filters_mut(&mut self, agent: &Agent) -> &mut BTreeMap<u64, Filter> {
        &mut self.scope_mut(agent).filters
    }

    pub(crate) fn modes_mut(&mut self, agent: &Agent) -> &mut BTreeMap<u64, Mode> {
        &mut self.scope_mut(agent).modes
    }

    /// The mode in which tools are presented to `agent`, if it has one of its own.
    pub(crate) fn mode_of(&self, agent: Option<&Agent>) -> Option<Mode> {
        let scope = agent.and_then(|agent| self.scopes.get(&agent.id()))?;
        scope.modes.last_key_value().map(|(_, mode)| *mode)
    }

    pub(crate) fn transports_mut(&mut self) -> &mut BTreeMap<u64, Transport> {
        &mut self.transports
    }

    pub(crate) fn transport(&self) -> Option<&Transport> {
        self.transports.last_key_value().map(|(_, transport)| transport)
    }

    /// Whether `agent` is presented with tools only.
    fn is_without_transport(&self, agent: Option<&Agent>) -> bool {
        self.mode_of(agent) == Some(Mode::Native)
    }

    /// What `name` means to `agent` now (contract 2.4).
    pub(crate) fn resolve(&self, name: &str, agent: Option<&Agent>) -> Option<&ToolDefinition> {
        if let Some(transport) = self.transport().filter(|transport| transport.definition().name() == name)
            && !self.is_without_transport(agent)
        {
            return Some(transport.definition());
        }
        let Some(scope) = agent.and_then(|agent| self.scopes.get(&agent.id())) else {
            return self.global.get(name);
        };
        scope.tools.get(name).or_else(|| self.global.get(name).filter(|_| scope.shows(name)))
    }

    /// The view of `agent` if it was made since the last change.
    pub(crate) fn cached_view(&self, agent: Option<&Agent>) -> Option<Arc<View>> {
        match agent.and_then(|agent| self.scopes.get(&agent.id())) {
            None => self.global_view.clone(),
            Some(scope) => scope.view.clone(),
        }
    }

    /// The view of `agent`, kept until the next change. An agent for which nothing is registered has the
    /// global one.
    pub(crate) fn view(&mut self, agent: Option<&Agent>) -> Arc<View> {
        if let Some(view) = self.cached_view(agent) {
            return view;
        }
        let agent = agent.filter(|agent| self.scopes.contains_key(&agent.id()));
        let view = Arc::new(View::new(self.collect(agent)));
        match agent {
            None => self.global_view = Some(Arc::clone(&view)),
            Some(agent) => {
                self.scope_mut(agent).view = Some(Arc::clone(&view));
                self.viewers.push(agent.id());
            }
        }
        view
    }

    /// After every change. Returns the views and the scopes of agents that are gone, to be dropped outside
    /// the lock.
    pub(crate) fn forget_views(&mut self) -> impl Sized + use<> {
        let mut views: Vec<_> = self.global_view.take().into_iter().collect();
        for id in self.viewers.drain(..) {
            views.extend(self.scopes.get_mut(&id).and_then(|scope| scope.view.take()));
        }
        let mut orphans = Vec::new();
        self.changes_since_sweep += 1;
        if self.changes_since_sweep.saturating_mul(SCOPES_PER_CHANGE) >= self.scopes.len() {
            self.changes_since_sweep = 0;
            orphans.extend(self.scopes.extract_if(|_, scope| scope.owner.strong_count() == 0));
        }
        (views, orphans)
    }

    fn collect(&self, agent: Option<&Agent>) -> Vec<ToolDefinition> {
        let scope = agent.and_then(|agent| self.scopes.get(&agent.id()));
        let mut tools = Vec::with_capacity(self.global.len() + 1);
        let mut shadowed = HashSet::new();
        for global in self.global.iter() {
            match scope {
                None => tools.push(global.clone()),
                Some(scope) if scope.shows(global.name()) => match scope.tools.get(global.name()) {
                    Some(shadow) => {
                        shadowed.insert(shadow.name());
                        tools.push(shadow.clone());
                    }
                    None => tools.push(global.clone()),
                },
                Some(_) => {}
            }
        }
        let appended = scope.into_iter().flat_map(|scope| scope.tools.iter());
        tools.extend(appended.filter(|tool| !shadowed.contains(tool.name())).cloned());
        if !self.is_without_transport(agent) {
            tools.extend(self.transport().map(|transport| transport.definition().clone()));
        }
        tools
    }

    fn scope_mut(&mut self, agent: &Agent) -> &mut Scope {
        self.scopes.entry(agent.id()).or_insert_with(|| Scope {
            owner: agent.downgrade(),
            tools: Layer::default(),
            filters: BTreeMap::new(),
            guards: GuardLayer::default(),
            modes: BTreeMap::new(),
            view: None,
        })
    }
}

impl Scope {
    /// Whether every filter lets the global tool `name` through.
    fn shows(&self, name: &str) -> bool {
        self.filters.values().all(|filter| filter.shows(name))
    }
}

/// Tools by name, in insertion order.
#[derive(Default)]
pub(crate) struct Layer {
    ids: HashMap<Arc<str>, u64>,
    tools: BTreeMap<u64, ToolDefinition>,
}

impl Layer {
    pub(crate) fn get(&self, name: &str) -> Option<&ToolDefinition> {
        self.tools.get(self.ids.get(name)?)
    }

    pub(crate) fn contains(&self, name: &str) -> bool {
        self.ids.contains_key(name)
    }

    pub(crate) fn insert(&mut self, id: u64, tool: ToolDefinition) {
        self.ids.insert(Arc::clone(tool.name_shared()), id);
        self.tools.insert(id, tool);
    }

    pub(crate) fn remove(&mut self, id: u64) -> Option<ToolDefinition> {
        let tool = self.tools.remove(&id)?;
        self.ids.remove(tool.name());
        Some(tool)
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &Arc<str>> {
        self.tools.values().map(ToolDefinition::name_shared)
    }

    fn iter(&self) -> impl Iterator<Item = &ToolDefinition> {
        self.tools.values()
    }

    fn len(&self) -> usize {
        self.tools.len()
    }
}

/// One visibility filter, copied at registration.
pub(crate) struct Filter {
    allow: Option<HashSet<Arc<str>>>,
    deny: HashSet<Arc<str>>,
}

impl Filter {
    pub(crate) fn new(allow: Option<&[Arc<str>]>, deny: Option<&[Arc<str>]>) -> Self {
        Self {
            allow: allow.map(|names| names.iter().cloned().collect()),
            deny: deny.unwrap_or_default().iter().cloned().collect(),
        }
    }

    fn shows(&self, name: &str) -> bool {
        self.allow.as_ref().is_none_or(|allow| allow.contains(name)) && !self.deny.contains(name)
    }
}

/// Guards of one scope, iterated live: one that is added during a pass still runs in it, unless the layer
/// drained to empty in between, which starts a new generation.
#[derive(Default)]
pub(crate) struct GuardLayer {
    generation: u64,
    guards: BTreeMap<u64, Callback<Guard>>,
}

impl GuardLayer {
    pub(crate) fn insert(&mut self, id: u64, guard: Callback<Guard>) {
        self.guards.insert(id, guard);
    }

    pub(crate) fn remove(&mut self, id: u64) -> Option<Callback<Guard>> {
        let guard = self.guards.remove(&id);
        if guard.is_some() && self.guards.is_empty() {
            self.generation += 1;
        }
        guard
    }

    /// The guard behind `cursor`, and the cursor of the one after it. A cursor starts as `None`.
    pub(crate) fn next(&self, cursor: Option<GuardCursor>) -> Option<(GuardCursor, Callback<Guard>)> {
        let after = match cursor {
            Some(cursor) if cursor.generation != self.generation => return None,
            Some(cursor) => Bound::Excluded(cursor.id),
            None => Bound::Unbounded,
        };
        let (id, guard) = self.guards.range((after, Bound::Unbounded)).next()?;
        Some((GuardCursor { generation: self.generation, id: *id }, guard.clone()))
    }
}

/// A place in a pass over one guard layer.
#[derive(Clone, Copy)]
pub(crate) struct GuardCursor {
    generation: u64,
    id: u64,
}

/// One agent's tools in view order, and their schemas.
pub(crate) struct View {
    pub(crate) tools: Arc<[ToolDefinition]>,
    pub(crate) schemas: Result<Arc<[ToolSchema]>, ProjectionError>,
}

impl View {
    fn new(tools: Vec<ToolDefinition>) -> Self {
        let schemas = tools.iter().map(ToolSchema::of).collect::<Result<Vec<_>, _>>();
        Self { tools: tools.into(), schemas: schemas.map(Into::into) }
    }
}
