//! Which target and which drafters: what the command line names, what pool files name, and what is
//! taken when neither does.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use metasd::config::{PoolFile, check_drafter_name};
use metasd::pool::{DrafterSource, DrafterSpec, ResidencyParams};
use metasd::session::SessionParams;
use metasd::{Error, Result};

use super::Environment;
use super::options::ModelArgs;

/// Where the project's pools lie, under the current folder or beside the program, and the default
/// one among them. `--pool NAME` stands for `pool-NAME.toml` there.
const POOLS: &str = "ggml-models";
const DEFAULT_POOL: &str = "pool.toml";

/// How far above the program's own folder the default pool is looked for: `target/release` lies
/// two below the project.
const FOLDERS_ABOVE_PROGRAM: usize = 2;

/// The models of a session.
#[derive(Debug)]
pub struct Selection {
    /// The target's file.
    pub target: PathBuf,
    /// The system prompt that comes with the target.
    pub system_prompt: Option<String>,
    /// What the pool file says of the session.
    pub session: SessionParams,
    /// The router's file, if the pool file names one.
    pub router: Option<PathBuf>,
    /// What the pool file says of memory.
    pub residency: ResidencyParams,
    /// The drafters.
    pub drafters: Vec<DrafterSpec>,
    /// Whether drafters that do not fit are left out: nobody asked for this pool with this target.
    pub leaves_out: bool,
    /// Where the pool file lies, if one was read.
    pub pool: Option<PathBuf>,
    /// The pool file, as far as the drafters are its.
    file: Option<PoolFile>,
}

impl Selection {
    /// What `args` select.
    ///
    /// # Errors
    /// When there is no target, a pool file is wrong, or a drafter's name is wrong or used twice.
    pub fn new(args: &ModelArgs, environment: &Environment) -> Result<Self> {
        let given = given_drafters(&args.model_draft)?;
        let named = args
            .pool
            .as_deref()
            .map(|pool| named_pool(pool, environment))
            .transpose()?;
        let needs_default = args.pool.is_none() && (args.model.is_none() || given.is_empty());
        let default_path = needs_default.then(|| default_pool(environment)).flatten();
        let path = named.as_ref().or(default_path.as_ref());
        let file = path
            .map(|path| PoolFile::read(path).map_err(|error| with_hint(error, path)))
            .transpose()?;

        let (target, system_prompt) = match (&args.model, &file) {
            (Some(model), _) => (model.clone(), None),
            (None, file) => target_of(file.as_ref())?,
        };
        let takes_drafters = args.pool.is_some() || given.is_empty();
        let file = file.filter(|_| takes_drafters);
        let mut drafters = match &file {
            Some(file) => file.drafters.clone(),
            None => Vec::new(),
        };
        drafters.extend(given);
        if file.is_none() {
            drafters.push(ngram());
        }
        for drafter in &mut drafters {
            drafter.source = drafter.source.clone().recognised();
        }
        let mut selection = Self {
            target,
            system_prompt,
            session: file
                .as_ref()
                .map(|file| file.session.clone())
                .unwrap_or_default(),
            router: file.as_ref().and_then(|file| file.router.clone()),
            residency: file
                .as_ref()
                .map(|file| file.residency.clone())
                .unwrap_or_default(),
            drafters,
            leaves_out: args.pool.is_none() && args.model.is_some() && file.is_some(),
            pool: path.cloned(),
            file,
        };
        selection.check_names()?;
        selection.fill_in(args);
        Ok(selection)
    }

    /// Checks that the model of the `index`-th drafter is there.
    ///
    /// # Errors
    /// Naming the pool file's line where it stands in one.
    pub fn check_file(&self, index: usize) -> Result<()> {
        let Some(drafter) = self.drafters.get(index) else {
            return Ok(());
        };
        let Some(path) = drafter.source.path() else {
            return Ok(());
        };
        if let Some(file) = &self.file
            && index < file.drafters.len()
        {
            return file
                .check_drafter(index)
                .map_err(|error| with_hint(error, path));
        }
        match std::fs::metadata(path) {
            Ok(_) => Ok(()),
            Err(error) => Err(Error::io("cannot open the model", path, error)
                .context(format_args!("drafter `{}`", drafter.name))),
        }
    }

    /// The drafters' names.
    pub fn names(&self) -> Vec<String> {
        self.drafters
            .iter()
            .map(|drafter| drafter.name.clone())
            .collect()
    }

    /// Keeps the drafters whose place in `keep` says so; an n-gram drafter, which fits any target,
    /// takes the place of the last.
    pub fn retain(&mut self, keep: &[bool]) {
        let mut keep = keep.iter().copied();
        self.drafters.retain(|_| keep.next().unwrap_or(true));
        if self.drafters.is_empty() {
            self.drafters.push(ngram());
        }
        self.file = None;
    }

    fn check_names(&self) -> Result<()> {
        for (index, drafter) in self.drafters.iter().enumerate() {
            if self.drafters[..index]
                .iter()
                .any(|other| other.name == drafter.name)
            {
                return Err(Error::invalid(format!(
                    "two drafters are named `{}`; name one otherwise with --model-draft NAME=FILE",
                    drafter.name
                )));
            }
        }
        Ok(())
    }

    /// What the command line says of all drafters, where a drafter itself says nothing.
    fn fill_in(&mut self, args: &ModelArgs) {
        for drafter in &mut self.drafters {
            if let DrafterSource::Model {
                n_ctx,
                threads,
                gpu_layers,
                ..
            }
            | DrafterSource::Eagle3 {
                n_ctx,
                threads,
                gpu_layers,
                ..
            } = &mut drafter.source
            {
                *n_ctx = n_ctx.or(args.ctx_size_draft);
                *threads = threads.or(args.threads_draft);
                *gpu_layers = gpu_layers.or(args.n_gpu_layers_draft.0);
            }
        }
    }
}

/// `error` about `path`, with how to get the file where it is one that the project makes.
pub fn with_hint(error: Error, path: &Path) -> Error {
    let components: Vec<&OsStr> = path.iter().collect();
    let is_ours = components
        .windows(2)
        .any(|pair| pair[0] == "ggml-models" && pair[1] == "cache");
    if is_ours && !path.exists() {
        Error::new(error.kind(), format!("{error}; `make models` makes it"))
    } else {
        error
    }
}

fn target_of(file: Option<&PoolFile>) -> Result<(PathBuf, Option<String>)> {
    let Some(file) = file else {
        return Err(Error::invalid(
            "no target model: give a GGUF file with --model or a pool with --pool; in the \
             project's folder `make models` makes the default one",
        ));
    };
    let Some(target) = &file.target else {
        return Err(Error::invalid(format!(
            "no target model: {} has no [target]; add one with `model = \"FILE.gguf\"` or give \
             --model",
            file.path().display()
        )));
    };
    file.check_target()
        .map_err(|error| with_hint(error, &target.model))?;
    Ok((target.model.clone(), target.system_prompt.clone()))
}

fn default_pool(environment: &Environment) -> Option<PathBuf> {
    if let Some(path) = &environment.pool {
        return Some(path.clone());
    }
    pool_folders(environment)
        .map(|folder| folder.join(DEFAULT_POOL))
        .find(|path| path.is_file())
}

/// The folders that may have the project's pools.
fn pool_folders(environment: &Environment) -> impl Iterator<Item = PathBuf> {
    let program = environment.program.iter().flat_map(|program| {
        program
            .ancestors()
            .skip(1)
            .take(1 + FOLDERS_ABOVE_PROGRAM)
            .map(|folder| folder.join(POOLS))
    });
    [PathBuf::from(POOLS)].into_iter().chain(program)
}

/// The file that `--pool` names: a path, or the short name of one of the project's pools.
fn named_pool(given: &Path, environment: &Environment) -> Result<PathBuf> {
    let name = given
        .to_str()
        .filter(|name| check_drafter_name(name).is_ok() && !name.contains('.'));
    let Some(name) = name.filter(|_| !given.exists()) else {
        return Ok(given.to_owned());
    };
    let file = match name {
        "default" => DEFAULT_POOL.to_owned(),
        name => format!("pool-{name}.toml"),
    };
    let folders: Vec<PathBuf> = pool_folders(environment).collect();
    if let Some(found) = folders
        .iter()
        .map(|folder| folder.join(&file))
        .find(|f| f.is_file())
    {
        return Ok(found);
    }
    let known = folders
        .iter()
        .map(|folder| short_names(folder))
        .find(|names| !names.is_empty());
    Err(Error::invalid(format!(
        "--pool {name}: there is no file of that name and no {POOLS}/{file}; short names are {}",
        known.map_or("those of the files there".into(), |names| names.join(", "))
    )))
}

/// The short names of the pools in `folder`, sorted.
fn short_names(folder: &Path) -> Vec<String> {
    let names = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = names
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            if name == DEFAULT_POOL {
                return Some("default".to_owned());
            }
            let name = name.strip_prefix("pool-")?.strip_suffix(".toml")?;
            Some(name.to_owned())
        })
        .collect();
    names.sort_unstable();
    names
}

fn given_drafters(given: &[PathBuf]) -> Result<Vec<DrafterSpec>> {
    given.iter().map(|given| given_drafter(given)).collect()
}

/// A drafter from `NAME=FILE` or `FILE`, which takes its name from the file.
fn given_drafter(given: &Path) -> Result<DrafterSpec> {
    // A folder's name may have an equals sign in it, a drafter's name has no separator.
    let named = given
        .to_str()
        .and_then(|given| given.split_once('='))
        .filter(|(name, _)| !name.contains(std::path::is_separator));
    let (name, path) = match named {
        Some((name, path)) => {
            check_drafter_name(name).map_err(|error| error.context("--model-draft"))?;
            (name.to_owned(), Path::new(path))
        }
        None => (name_from(given), given),
    };
    if path.as_os_str().is_empty() {
        return Err(Error::invalid(format!(
            "--model-draft {}: no file; write NAME=FILE or FILE",
            given.display()
        )));
    }
    Ok(DrafterSpec {
        name,
        source: DrafterSource::Model {
            path: path.to_owned(),
            n_ctx: None,
            threads: None,
            gpu_layers: None,
        },
    })
}

/// The file's name without its ending, what cannot stand in a drafter's name replaced.
fn name_from(path: &Path) -> String {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let plain = |c: char| {
        if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.') {
            c
        } else {
            '-'
        }
    };
    stem.chars().map(plain).collect()
}

fn ngram() -> DrafterSpec {
    DrafterSpec {
        name: "ngram".to_owned(),
        source: DrafterSource::Ngram(Default::default()),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::cli::args::{Cli, Command, PoolCommand};

    fn select(arguments: &[&str], environment: &Environment) -> Result<Selection> {
        let line = ["metasd", "pool", "check"].iter().chain(arguments);
        let Command::Pool(PoolCommand::Check(args)) =
            Cli::try_parse_from(line).expect("valid").command
        else {
            panic!("not a pool check");
        };
        Selection::new(&args.models, environment)
    }

    /// A folder with a pool of a target (which is there), `code` and `ngram`.
    fn pool() -> (tempfile::TempDir, String) {
        let folder = tempfile::tempdir().expect("a temporary folder");
        std::fs::write(folder.path().join("t.gguf"), "").expect("writable");
        let path = folder.path().join("pool.toml");
        let text = "[target]\nmodel = \"t.gguf\"\nsystem_prompt = \"s\"\n\
                    [session]\npolicy = \"fixed:code\"\n\
                    [[drafter]]\nname = \"code\"\nkind = \"model\"\nmodel = \"c.gguf\"\nthreads = 1\n\
                    [[drafter]]\nname = \"ngram\"\nkind = \"ngram\"\n";
        std::fs::write(&path, text).expect("writable");
        let path = path.to_str().expect("UTF-8").to_owned();
        (folder, path)
    }

    fn environment(pool: &str) -> Environment {
        Environment {
            pool: Some(pool.into()),
            program: None,
        }
    }

    #[test]
    fn an_explicit_pool_gives_target_session_and_drafters() {
        let (_folder, path) = pool();
        let selection = select(&["--pool", &path], &Environment::default()).expect("valid");
        assert!(selection.target.ends_with("t.gguf"));
        assert_eq!(selection.system_prompt.as_deref(), Some("s"));
        assert_eq!(selection.session.policy.to_string(), "fixed:code");
        assert_eq!(selection.names(), ["code", "ngram"]);
        assert!(!selection.leaves_out);
    }

    #[test]
    fn a_given_target_replaces_the_pools_and_its_system_prompt() {
        let (_folder, path) = pool();
        let args = ["--pool", &path, "-m", "other.gguf"];
        let selection = select(&args, &Environment::default()).expect("valid");
        assert_eq!(selection.target, Path::new("other.gguf"));
        assert_eq!(selection.system_prompt, None);
        assert!(!selection.leaves_out);
    }

    #[test]
    fn a_given_target_with_the_default_pool_leaves_out_what_does_not_fit() {
        let (_folder, path) = pool();
        let mut selection = select(&["-m", "other.gguf"], &environment(&path)).expect("valid");
        assert_eq!(selection.names(), ["code", "ngram"]);
        assert!(selection.leaves_out);
        selection.retain(&[true, false]);
        assert_eq!(selection.names(), ["code"]);
        selection.retain(&[false]);
        assert_eq!(selection.names(), ["ngram"]);
    }

    #[test]
    fn given_drafters_add_to_an_explicit_pool_and_replace_the_default_one() {
        let (_folder, path) = pool();
        let args = [
            "--model-draft",
            "x=a.gguf",
            "--model-draft",
            "dir/my model.gguf",
        ];
        let explicit = [&["--pool", path.as_str()], args.as_slice()].concat();
        let selection = select(&explicit, &Environment::default()).expect("valid");
        assert_eq!(selection.names(), ["code", "ngram", "x", "my-model"]);
        let selection = select(&args, &environment(&path)).expect("valid");
        assert_eq!(selection.names(), ["x", "my-model", "ngram"]);
        assert!(selection.target.ends_with("t.gguf"));
        assert_eq!(selection.session, SessionParams::default());
        assert!(!selection.leaves_out);
    }

    #[test]
    fn what_the_command_line_says_of_drafters_holds_where_the_pool_is_silent() {
        let (_folder, path) = pool();
        let args = [
            "--pool",
            &path,
            "--threads-draft",
            "7",
            "--ctx-size-draft",
            "99",
        ];
        let selection = select(&args, &Environment::default()).expect("valid");
        let DrafterSource::Model { n_ctx, threads, .. } = selection.drafters[0].source else {
            panic!("not a model");
        };
        assert_eq!((n_ctx, threads), (Some(99), Some(1)));
    }

    #[test]
    fn a_pool_of_the_project_goes_by_its_short_name() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let pools = folder.path().join(POOLS);
        std::fs::create_dir(&pools).expect("writable");
        for file in ["pool.toml", "pool-small.toml", "other.toml"] {
            std::fs::write(pools.join(file), "").expect("writable");
        }
        let environment = Environment {
            pool: None,
            program: Some(folder.path().join("release/metasd")),
        };
        let named = |name: &str| named_pool(Path::new(name), &environment);
        // Only the folder beside the program has this one.
        let small = named("small").expect("found");
        assert_eq!(small, pools.join("pool-small.toml"));
        assert_eq!(named("a/b.toml").expect("a path"), Path::new("a/b.toml"));
        assert_eq!(named("none.toml").expect("a path"), Path::new("none.toml"));
        let error = named("no-such").expect_err("no such pool").to_string();
        assert!(error.contains("pool-no-such.toml"), "{error}");
        assert!(error.contains("default"), "{error}");
        assert_eq!(short_names(&pools), ["default", "small"]);
    }

    #[test]
    fn without_any_target_the_message_says_how_to_get_one() {
        let error = select(&[], &environment("no/pool.toml")).expect_err("no such pool");
        assert!(error.to_string().contains("no/pool.toml"), "{error}");
        let error = target_of(None).expect_err("no target");
        assert!(error.to_string().contains("make models"), "{error}");
        assert_eq!(error.exit_code(), 2);
    }

    #[test]
    fn names_used_twice_and_names_that_are_none_are_refused() {
        let given = |arguments: &[&str]| {
            let arguments = [&["-m", "t.gguf"], arguments].concat();
            select(&arguments, &Environment::default()).map(|selection| selection.names())
        };
        let twice = given(&["--model-draft", "a/x.gguf", "--model-draft", "b/x.gguf"]);
        let error = twice.expect_err("one name").to_string();
        assert!(error.contains("two drafters are named `x`"), "{error}");
        let error = given(&["--model-draft", "a b=x.gguf"]).expect_err("a bad name");
        assert!(
            error.to_string().contains("cannot name a drafter"),
            "{error}"
        );
        assert!(given(&["--model-draft", "a="]).is_err());
        assert_eq!(
            given(&["--model-draft", "a=b/x.gguf"]).expect("valid"),
            ["a", "ngram"]
        );
        assert_eq!(
            given(&["--model-draft", "a/b=c/x.gguf"]).expect("valid"),
            ["x", "ngram"]
        );
    }

    #[test]
    fn only_files_that_the_project_makes_come_with_a_hint() {
        let hint = |path: &str| with_hint(Error::invalid("gone"), Path::new(path)).to_string();
        assert!(hint("/x/ggml-models/cache/no.gguf").contains("make models"));
        assert_eq!(hint("/x/no.gguf"), "gone");
    }
}
