//! The direction of the crates: what `ARCHITECTURE.md` says about who may know whom, read from `cargo metadata`.
//! Decision 1.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use code_mode::Json;

/// The workspace as cargo sees it, dependencies for tests left out.
struct Workspace {
    /// Names by package id.
    names: BTreeMap<String, String>,
    /// Ids of normal and build dependencies by package id.
    edges: BTreeMap<String, Vec<String>>,
    /// Direct normal dependencies of each package of the workspace, as its manifest names them.
    direct: BTreeMap<String, BTreeSet<String>>,
}

impl Workspace {
    fn read() -> Self {
        // What was not built is not in cargo's cache; then its sources have to be asked for.
        let metadata =
            metadata(&["--offline"]).or_else(|_| metadata(&[])).unwrap_or_else(|error| panic!("{error}"));
        let members: BTreeSet<&str> =
            list(metadata.get("workspace_members")).iter().filter_map(Json::as_str).collect();
        let mut names = BTreeMap::new();
        let mut direct = BTreeMap::new();
        for package in list(metadata.get("packages")) {
            let (id, name) = (text(package, "id"), text(package, "name"));
            names.insert(id.to_owned(), name.to_owned());
            if members.contains(id) {
                let normal = list(package.get("dependencies"))
                    .iter()
                    .filter(|each| each.get("kind").is_some_and(Json::is_null));
                direct.insert(name.to_owned(), normal.map(|each| text(each, "name").to_owned()).collect());
            }
        }
        let mut edges = BTreeMap::new();
        for node in list(metadata.get("resolve").and_then(|resolve| resolve.get("nodes"))) {
            let not_for_tests = |dependency: &&Json| {
                list(dependency.get("dep_kinds"))
                    .iter()
                    .any(|kind| kind.get("kind").and_then(Json::as_str) != Some("dev"))
            };
            let dependencies =
                list(node.get("deps")).iter().filter(not_for_tests).map(|each| text(each, "pkg").to_owned());
            edges.insert(text(node, "id").to_owned(), dependencies.collect());
        }
        Self { names, edges, direct }
    }

    /// Names of everything below `package`.
    fn below(&self, package: &str) -> BTreeSet<&str> {
        let mut open: Vec<&String> =
            self.names.iter().filter(|(_, name)| *name == package).map(|(id, _)| id).collect();
        assert!(!open.is_empty(), "there is no package {package}");
        let mut seen: BTreeSet<&String> = BTreeSet::new();
        while let Some(id) = open.pop() {
            for dependency in &self.edges[id] {
                if seen.insert(dependency) {
                    open.push(dependency);
                }
            }
        }
        seen.iter().map(|id| self.names[*id].as_str()).collect()
    }
}

/// Of this platform and this engine only, so that nothing is needed that the build did not need.
fn metadata(more: &[&str]) -> Result<Json, String> {
    let tool = |variable, name: &str| std::env::var_os(variable).unwrap_or_else(|| name.into());
    let version = Command::new(tool("RUSTC", "rustc")).arg("-vV").output().expect("rustc runs").stdout;
    let version = String::from_utf8(version).unwrap();
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).expect("rustc names its host");
    let engine: &[&str] =
        if cfg!(feature = "quickjs") { &["--no-default-features", "--features", "quickjs"] } else { &[] };
    let output = Command::new(tool("CARGO", "cargo"))
        .args(["metadata", "--format-version", "1", "--locked", "--filter-platform", host])
        .args(engine)
        .args(more)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo runs");
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    Ok(Json::parse(&String::from_utf8(output.stdout).unwrap()).unwrap())
}

fn list(value: Option<&Json>) -> &[Json] {
    value.and_then(Json::as_array).map_or(&[], |array| array)
}

fn text<'a>(value: &'a Json, key: &str) -> &'a str {
    value.get(key).and_then(Json::as_str).unwrap_or_default()
}

/// An engine, or a crate of its family.
fn is_engine(name: &str) -> bool {
    ["deno_core", "deno_ops", "serde_v8", "v8", "v8x"].contains(&name)
}

fn is_typescript(name: &str) -> bool {
    name.starts_with("swc_") || name == "deno_ast"
}

#[test]
fn schema_codegen_and_registry_have_no_engine_below_them() {
    let workspace = Workspace::read();
    for package in ["code-mode-schema", "code-mode-codegen", "code-mode-registry"] {
        let below = workspace.below(package);
        let unwanted: Vec<&&str> =
            below.iter().filter(|name| is_engine(name) || is_typescript(name)).collect();
        assert!(unwanted.is_empty(), "{package}: {unwanted:?}");
    }
}

#[test]
fn codegen_and_schema_do_no_input_and_no_output() {
    let workspace = Workspace::read();
    for package in ["code-mode-schema", "code-mode-codegen"] {
        let below = workspace.below(package);
        let unwanted: Vec<&&str> =
            below.iter().filter(|name| ["tokio", "reqwest", "hyper", "async-std"].contains(name)).collect();
        assert!(unwanted.is_empty(), "{package}: {unwanted:?}");
    }
}

#[test]
fn codegen_and_registry_do_not_know_each_other_and_schema_knows_nobody() {
    let workspace = Workspace::read();
    let ours = |package: &str| -> Vec<String> {
        workspace
            .below(package)
            .into_iter()
            .filter(|name| name.starts_with("code-mode"))
            .map(str::to_owned)
            .collect()
    };
    assert_eq!(ours("code-mode-schema"), Vec::<String>::new());
    assert_eq!(ours("code-mode-codegen"), ["code-mode-schema"]);
    assert_eq!(ours("code-mode-registry"), ["code-mode-schema"]);
    assert_eq!(ours("code-mode-runtime"), ["code-mode-codegen", "code-mode-registry", "code-mode-schema"]);
}

#[test]
fn each_outside_world_is_named_by_one_crate_only() {
    let workspace = Workspace::read();
    for (package, dependencies) in &workspace.direct {
        for dependency in dependencies {
            let owner = match dependency.as_str() {
                name if is_engine(name) || is_typescript(name) => "code-mode-runtime",
                "rmcp" => "code-mode-mcp",
                "clap" => "code-mode-cli",
                _ => continue,
            };
            assert_eq!(package, owner, "{package} names {dependency}");
        }
    }
}

#[test]
fn root_package_names_only_the_crates_that_it_re_exports() {
    let workspace = Workspace::read();
    let expected = ["code-mode-codegen", "code-mode-registry", "code-mode-runtime", "code-mode-schema"];
    assert!(workspace.direct["code-mode"].iter().eq(expected), "{:?}", workspace.direct["code-mode"]);
}
