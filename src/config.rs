//! The pool file (`pool.toml`): a target, its drafters, and how a session chooses among them.
//!
//! ```toml
//! [target]                                 # optional
//! model = "cache/target.gguf"              # relative to this file
//! system_prompt = "You are helpful."       # optional
//!
//! [session]                                # optional, as are its keys
//! policy = "metasd-ucb"
//! reward = "bd"
//! beta = 0.12                              # and what else `PolicyParams` has
//! spec_draft_n_max = 5
//! reward_temperature = 1.0
//! carry = 0.5
//! router = "router.json"                   # what `policy = "router"` asks
//!
//! [residency]                              # optional, as are its keys
//! vram_budget = "2G"                       # what drafters may take of the device
//! ram_budget = "4G"                        # and of host memory while they are not on it
//! max_resident = 3
//! swap = "async"                           # or "sync"
//! load_timeout = 60                        # seconds
//!
//! [[drafter]]
//! name = "code"
//! kind = "model"
//! model = "cache/drafters/code.gguf"
//! ctx_size = 2048                          # optional, as are the next three; also `ctx`
//! threads = 1
//! gpu_layers = 99
//! pin = true                               # never evicted
//!
//! [[drafter]]
//! name = "head"
//! kind = "eagle3"                          # keys as for "model"; a "model" whose file is an
//! model = "drafters/head.gguf"             # EAGLE-3 head is taken for one too
//!
//! [[drafter]]
//! name = "ngram"
//! kind = "ngram"
//! min_n = 2                                # optional, as is the next
//! max_n = 5
//! ```
//!
//! Every mistake is an [`ErrorKind::Config`] error with file, line and field. No model is opened
//! here.

mod residency;
mod section;

use std::io::Read;
use std::path::{Path, PathBuf};

use crate::align::Aligner;
use crate::bandit::{PolicyParams, PolicySpec};
use crate::drafter::{DrafterKind, NgramParams};
use crate::error::{Error, ErrorKind, Result};
use crate::pool::{DrafterSource, DrafterSpec, ResidencyParams};
use crate::session::{SessionParams, check_carry};
use section::{Parameters, Section, Source};

/// No pool file is larger; a device may have no end.
const MAX_BYTES: u64 = 1 << 20;

/// Keys of a drafter's own, besides those of its kind's parameters.
const DRAFTER_KEYS: &[&str] = &["name", "kind"];
const MODEL_KEYS: &[&str] = &["model", "ctx_size", "ctx", "threads", "gpu_layers", "pin"];
const SESSION_KEYS: &[&str] = &[
    "policy",
    "spec_draft_n_max",
    "reward_temperature",
    "carry",
    "router",
];
const TARGET_KEYS: &[&str] = &["model", "system_prompt"];

/// What a pool file says.
#[derive(Clone, Debug)]
pub struct PoolFile {
    /// The target, if the file names one.
    pub target: Option<TargetConfig>,
    /// How a session chooses among the drafters; defaults where the file is silent.
    pub session: SessionParams,
    /// How much memory the drafters may take; no limits where the file is silent.
    pub residency: ResidencyParams,
    /// The drafters, in the order of the file.
    pub drafters: Vec<DrafterSpec>,
    /// The file of the router, if the file names one.
    pub router: Option<PathBuf>,
    source: Source,
    /// Where each drafter's model is named, 0 for one without.
    model_lines: Vec<usize>,
    target_line: usize,
}

/// The target of a pool file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetConfig {
    /// The model file.
    pub model: PathBuf,
    /// The system prompt of conversations that bring none.
    pub system_prompt: Option<String>,
}

impl PoolFile {
    /// Reads the pool file at `path` and checks that the models it names are there.
    ///
    /// # Errors
    /// Those of [`Self::read`], [`Self::check_target`] and [`Self::check_drafter`].
    pub fn load(path: &Path) -> Result<Self> {
        let file = Self::read(path)?;
        file.check_target()?;
        for index in 0..file.drafters.len() {
            file.check_drafter(index)?;
        }
        Ok(file)
    }

    /// Reads the pool file at `path`; the models it names may be missing.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] or [`ErrorKind::Io`] for the file itself; those of
    /// [`Self::parse`].
    pub fn read(path: &Path) -> Result<Self> {
        let unreadable = |what: &dyn std::fmt::Display| {
            Error::new(
                ErrorKind::Config,
                format!("cannot read the pool file {}: {what}", path.display()),
            )
        };
        let mut bytes = Vec::new();
        std::fs::File::open(path)
            .and_then(|file| file.take(MAX_BYTES + 1).read_to_end(&mut bytes))
            .map_err(|error| unreadable(&error))?;
        if bytes.len() as u64 > MAX_BYTES {
            return Err(unreadable(&"it is larger than 1 MiB"));
        }
        let text = String::from_utf8(bytes).map_err(|error| {
            Error::new(
                ErrorKind::Config,
                format!(
                    "{}: not UTF-8 at byte {}; a pool file is TOML",
                    path.display(),
                    error.utf8_error().valid_up_to()
                ),
            )
        })?;
        Self::parse(&text, path)
    }

    /// Reads `text`, the content of the pool file at `path`; model files are taken relative to
    /// that path and may be missing.
    ///
    /// # Errors
    /// [`ErrorKind::Config`] with file, line and field for a text that is not TOML, an unknown
    /// key, a value of the wrong type or out of range, a missing field, or a name used twice.
    pub fn parse(text: &str, path: &Path) -> Result<Self> {
        let source = Source::new(path, text);
        let mut root = Section::root(&source, text)?;
        root.check_keys(&["target", "session", "residency", "drafter"])?;

        let mut file = Self {
            target: None,
            session: SessionParams::default(),
            residency: ResidencyParams::default(),
            drafters: Vec::new(),
            router: None,
            source: source.clone(),
            model_lines: Vec::new(),
            target_line: 0,
        };
        if let Some(target) = root.table("target")? {
            file.read_target(target)?;
        }
        for (index, drafter) in root.tables("drafter")?.into_iter().enumerate() {
            file.read_drafter(drafter, index)?;
        }
        if let Some(session) = root.table("session")? {
            file.read_session(session)?;
        }
        if let Some(residency) = root.table("residency")? {
            residency::read(&mut file.residency, residency)?;
        }
        Ok(file)
    }

    /// The pool file itself.
    pub fn path(&self) -> &Path {
        self.source.path()
    }

    /// Checks that the target's model is there, if the file names a target.
    ///
    /// # Errors
    /// [`ErrorKind::Config`] naming the line and the path.
    pub fn check_target(&self) -> Result<()> {
        let Some(target) = &self.target else {
            return Ok(());
        };
        self.check_model("target", &target.model, self.target_line)
    }

    /// Checks that the model of the `index`-th drafter is there, if that drafter has one.
    ///
    /// # Errors
    /// [`ErrorKind::Config`] naming the line, the drafter and the path.
    pub fn check_drafter(&self, index: usize) -> Result<()> {
        let drafter = self.drafters.get(index).zip(self.model_lines.get(index));
        let Some((drafter, &line)) = drafter else {
            return Ok(());
        };
        let Some(path) = drafter.source.path() else {
            return Ok(());
        };
        self.check_model(&format!("drafter `{}`", drafter.name), path, line)
    }

    fn check_model(&self, label: &str, path: &Path, line: usize) -> Result<()> {
        let wrong = match std::fs::metadata(path) {
            Ok(found) if found.is_file() => return Ok(()),
            Ok(_) => "is not a file".to_owned(),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => "does not exist".into(),
            Err(error) => format!("cannot be opened: {error}"),
        };
        Err(self
            .source
            .error(line, format!("{label}: model {} {wrong}", path.display())))
    }

    fn read_target(&mut self, mut section: Section<'_>) -> Result<()> {
        section.label("target");
        section.check_keys(TARGET_KEYS)?;
        let (model, line) = self.read_path(&mut section)?;
        self.target_line = line;
        self.target = Some(TargetConfig {
            model,
            system_prompt: section.take("system_prompt")?.map(|(text, _)| text),
        });
        Ok(())
    }

    fn read_session(&mut self, mut section: Section<'_>) -> Result<()> {
        section.label("session");
        let policy = Parameters::<PolicyParams>::new();
        section.check_keys(&section::joined(SESSION_KEYS, policy.keys()))?;
        if let Some((n_max, line)) = section.take("spec_draft_n_max")? {
            if n_max == 0 {
                return Err(section.error(line, "spec_draft_n_max is 0; it must be at least 1"));
            }
            self.session.n_max = n_max;
        }
        if let Some((temperature, line)) = section.take("reward_temperature")? {
            Aligner::new(temperature)
                .map_err(|error| section.error(line, format!("reward_temperature: {error}")))?;
            self.session.reward_temperature = temperature;
        }
        if let Some((discount, line)) = section.take("carry")? {
            self.session.carry = Some(discount);
            check_carry(self.session.carry).map_err(|error| section.error(line, error))?;
        }
        self.router = match section.take::<PathBuf>("router")? {
            Some((path, line)) => {
                Some(self.beside(&path, ("router", "a router file"), line, &section)?)
            }
            None => None,
        };
        self.session.policy_params = policy.read(&mut section, PolicyParams::validate)?;
        if let Some((name, line)) = section.take::<String>("policy")? {
            let names: Vec<String> = self.drafters.iter().map(|d| d.name.clone()).collect();
            let spec: PolicySpec = name.parse().map_err(|error| section.error(line, error))?;
            spec.build(&self.session.policy_params, &names)
                .map_err(|error| section.error(line, error))?;
            self.session.policy = spec;
        }
        Ok(())
    }

    fn read_drafter(&mut self, mut section: Section<'_>, index: usize) -> Result<()> {
        section.label(format!("drafter {}", index + 1));
        let (name, name_line) = section.require::<String>("name", "the drafter's name")?;
        check_drafter_name(&name).map_err(|error| section.error(name_line, error))?;
        section.label(format!("drafter `{name}`"));
        if self.drafters.iter().any(|other| other.name == name) {
            return Err(section.error(name_line, "another drafter has this name already"));
        }
        let kinds = [DrafterKind::Model, DrafterKind::Eagle3, DrafterKind::Ngram];
        let known = kinds.map(|kind| format!("\"{kind}\"")).join(" or ");
        let (kind, kind_line) = section.require::<String>("kind", &known)?;
        let Some(kind) = kinds.into_iter().find(|known| known.name() == kind) else {
            let message = match kind.as_str() {
                "nextn" | "mtp" => format!(
                    "kind \"{kind}\": a target's own multi-token-prediction layers are not \
                     supported as a drafter; it must be {known}"
                ),
                _ => format!("unknown kind \"{kind}\"; it must be {known}"),
            };
            return Err(section.error(kind_line, message));
        };

        let ngram = Parameters::<NgramParams>::new();
        let keys_of = |kind: DrafterKind| match kind {
            DrafterKind::Model | DrafterKind::Eagle3 => section::joined(DRAFTER_KEYS, MODEL_KEYS),
            DrafterKind::Ngram => section::joined(DRAFTER_KEYS, ngram.keys()),
        };
        let keys = keys_of(kind);
        let has = |keys: &[String], key: &str| keys.iter().any(|known| known == key);
        for other in kinds.into_iter().filter(|&other| other != kind) {
            let others = keys_of(other);
            if let Some((key, line)) = section.find(|key| !has(&keys, key) && has(&others, key)) {
                let message = format!(
                    "`{key}` is a key of kind = \"{other}\", this drafter is a \"{kind}\"; known \
                     keys: {}",
                    keys.join(", ")
                );
                return Err(section.error(line, message));
            }
        }
        section.check_keys(&keys)?;

        let mut model_line = 0;
        let source = match kind {
            DrafterKind::Model | DrafterKind::Eagle3 => {
                let (path, line) = self.read_path(&mut section)?;
                model_line = line;
                let n_ctx = self.read_ctx(&mut section, &name)?;
                let threads = section.take_positive("threads")?;
                let gpu_layers = section.take("gpu_layers")?.map(|(layers, _)| layers);
                if kind == DrafterKind::Eagle3 {
                    DrafterSource::Eagle3 {
                        path,
                        n_ctx,
                        threads,
                        gpu_layers,
                    }
                } else {
                    DrafterSource::Model {
                        path,
                        n_ctx,
                        threads,
                        gpu_layers,
                    }
                }
            }
            DrafterKind::Ngram => {
                DrafterSource::Ngram(ngram.read(&mut section, NgramParams::validate)?)
            }
        };
        self.model_lines.push(model_line);
        self.drafters.push(DrafterSpec { name, source });
        Ok(())
    }

    /// A drafter's context and whether it is pinned.
    fn read_ctx(&mut self, section: &mut Section<'_>, name: &str) -> Result<Option<usize>> {
        if section.take("pin")?.is_some_and(|(pin, _)| pin) {
            self.residency.pins.push(name.to_owned());
        }
        let long = section.take_positive("ctx_size")?;
        Ok(long.or(section.take_positive("ctx")?))
    }

    fn read_path(&self, section: &mut Section<'_>) -> Result<(PathBuf, usize)> {
        let (path, line) = section.require::<PathBuf>("model", "the path of a GGUF file")?;
        let path = self.beside(&path, ("model", "a GGUF file"), line, section)?;
        Ok((path, line))
    }

    /// `path`, the value of `key`, relative to this file.
    fn beside(
        &self,
        path: &Path,
        (key, what): (&str, &str),
        line: usize,
        section: &Section<'_>,
    ) -> Result<PathBuf> {
        if path.as_os_str().is_empty() {
            let message = format!("{key} is empty; it must be the path of {what}");
            return Err(section.error(line, message));
        }
        let folder = self.source.path().parent().unwrap_or(Path::new(""));
        Ok(folder.join(path))
    }
}

/// Checks that `name` can name a drafter: it must stand unquoted in `fixed:NAME` and in lists.
///
/// # Errors
/// [`ErrorKind::InvalidArgument`] saying what a name is made of.
pub fn check_drafter_name(name: &str) -> Result<()> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if !name.is_empty() && name.chars().all(allowed) {
        return Ok(());
    }
    Err(Error::invalid(format!(
        "\"{}\" cannot name a drafter; a name is made of letters a-z and A-Z, digits, `-`, `_` \
         and `.`, and has at least one",
        name.escape_debug()
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: &str = r#"
[target]
model = "cache/target.gguf"
system_prompt = "Be brief."

[session]
policy = "fixed:code"
reward = "be"
beta = 1
spec_draft_n_max = 3
reward_temperature = 0.5

[[drafter]]
name = "code"
kind = "model"
model = "cache/drafters/code.gguf"
ctx_size = 2048
threads = 1
gpu_layers = 99

[[drafter]]
name = "ngram"
kind = "ngram"
min_n = 3
"#;

    fn parse(text: &str) -> Result<PoolFile> {
        PoolFile::parse(text, Path::new("models/pool.toml"))
    }

    fn message(text: &str) -> String {
        let error = parse(text).expect_err("a mistake");
        assert_eq!(error.kind(), ErrorKind::Config, "{error}");
        error.to_string()
    }

    /// The message for a model drafter with `lines` added, which begin at line 5.
    fn drafter_message(lines: &str) -> String {
        message(&format!(
            "[[drafter]]\nname = \"code\"\nkind = \"model\"\nmodel = \"a.gguf\"\n{lines}"
        ))
    }

    fn session_message(lines: &str) -> String {
        message(&format!("[session]\n{lines}"))
    }

    #[test]
    fn a_whole_file_is_read_with_paths_relative_to_it() {
        let file = parse(WHOLE).expect("no mistake");
        let target = file.target.expect("a target");
        assert_eq!(target.model, Path::new("models/cache/target.gguf"));
        assert_eq!(target.system_prompt.as_deref(), Some("Be brief."));
        assert_eq!(file.session.policy, PolicySpec::Fixed("code".into()));
        assert_eq!(file.session.policy_params.beta, Some(1.0));
        assert_eq!(file.session.policy_params.reward, crate::bandit::Reward::Be);
        assert_eq!(file.session.n_max, 3);
        assert_eq!(file.session.reward_temperature, 0.5);
        let code = DrafterSource::Model {
            path: "models/cache/drafters/code.gguf".into(),
            n_ctx: Some(2048),
            threads: Some(1),
            gpu_layers: Some(99),
        };
        assert_eq!(file.drafters[0].source, code);
        let ngram = NgramParams { min_n: 3, max_n: 5 };
        assert_eq!(file.drafters[1].source, DrafterSource::Ngram(ngram));
    }

    #[test]
    fn an_empty_file_is_a_pool_of_defaults_without_drafters() {
        let file = parse("").expect("no mistake");
        assert_eq!(file.session, SessionParams::default());
        assert!(file.target.is_none() && file.drafters.is_empty());
    }

    #[test]
    fn an_absolute_path_stays_as_it_is() {
        let file = parse("[target]\nmodel = \"/m/t.gguf\"").expect("no mistake");
        assert_eq!(file.target.expect("a target").model, Path::new("/m/t.gguf"));
    }

    #[test]
    fn a_text_that_is_not_toml_is_reported_with_its_line() {
        let text = message("[target]\nmodel = \n");
        assert!(text.starts_with("models/pool.toml:2: "), "{text}");
        let text = message("[target]\nmodel = \"a\"\nmodel = \"b\"\n");
        assert!(
            text.starts_with("models/pool.toml:3: duplicate key"),
            "{text}"
        );
    }

    #[test]
    fn an_unknown_key_is_named_with_its_line_its_drafter_and_the_known_ones() {
        assert_eq!(
            drafter_message("contex = 5"),
            "models/pool.toml:5: drafter `code`: unknown key `contex`; known keys: name, kind, \
             model, ctx_size, ctx, threads, gpu_layers, pin"
        );
        assert!(message("[tarjet]").contains("pool.toml:1: unknown key `tarjet`"));
        assert!(message("[target]\npath = \"a\"").contains("2: target: unknown key `path`"));
        let text = session_message("policy = \"off\"\ngamma = 1");
        assert!(text.contains("3: session: unknown key `gamma`"), "{text}");
        assert!(
            text.contains("beta") && text.contains("reward_temperature"),
            "{text}"
        );
    }

    #[test]
    fn of_several_unknown_keys_the_first_in_the_file_is_named() {
        assert!(
            drafter_message("zeta = 1\nalpha = 2")
                .contains(":5: drafter `code`: unknown key `zeta`")
        );
    }

    #[test]
    fn a_key_of_the_other_kind_is_told_apart_from_an_unknown_one() {
        let text = drafter_message("min_n = 2");
        let expected = ":5: drafter `code`: `min_n` is a key of kind = \"ngram\"";
        assert!(text.contains(expected), "{text}");
        let text = message("[[drafter]]\nname = \"n\"\nkind = \"ngram\"\nctx_size = 9");
        assert!(
            text.contains(":4: drafter `n`: `ctx_size` is a key of kind = \"model\""),
            "{text}"
        );
    }

    #[test]
    fn a_value_of_the_wrong_type_is_named_with_what_would_be_right() {
        let text = drafter_message("\nthreads = \"two\"");
        let expected =
            ":6: drafter `code`: threads: invalid type: string \"two\", expected a whole number";
        assert!(text.contains(expected), "{text}");
        let text = drafter_message("ctx_size = -1");
        assert!(
            text.contains(":5: drafter `code`: ctx_size: invalid value: integer `-1`"),
            "{text}"
        );
        let text = session_message("reward = \"bd\"\nbeta = \"high\"");
        assert!(text.contains(":3: session: beta: invalid type"), "{text}");
        let text = session_message("reward = \"speed\"");
        assert!(
            text.contains(":2: session: reward: unknown variant `speed`, expected `bd` or `be`"),
            "{text}"
        );
        assert!(message("target = 3").contains("write [target]"));
        assert!(message("[drafter]\nname = \"a\"").contains("write [[drafter]]"));
        assert!(message("drafter = [1]").contains("write [[drafter]]"));
    }

    #[test]
    fn a_missing_field_is_named_at_its_table() {
        assert!(message("\n[target]").contains(":2: target: `model` is missing"));
        assert!(message("\n\n[[drafter]]").contains(":3: drafter 1: `name` is missing"));
        let text = message("[[drafter]]\nname = \"a\"");
        let expected =
            ":1: drafter `a`: `kind` is missing; it must be \"model\" or \"eagle3\" or \"ngram\"";
        assert!(text.contains(expected), "{text}");
        let text = message("[[drafter]]\nname = \"a\"\nkind = \"model\"");
        assert!(
            text.contains("drafter `a`: `model` is missing; it must be the path"),
            "{text}"
        );
    }

    #[test]
    fn values_out_of_range_are_refused_at_their_line() {
        assert!(drafter_message("threads = 0").contains(":5: drafter `code`: threads is 0"));
        assert!(drafter_message("ctx_size = 0").contains(":5: drafter `code`: ctx_size is 0"));
        assert!(session_message("beta = -1").contains(":2: session: beta is -1"));
        assert!(
            session_message("spec_draft_n_max = 0").contains(":2: session: spec_draft_n_max is 0")
        );
        let text = session_message("reward_temperature = nan");
        assert!(text.contains(":2: session: reward_temperature: "), "{text}");
        let text = message("[[drafter]]\nname = \"n\"\nkind = \"ngram\"\nmin_n = 6");
        assert!(
            text.contains(":4: drafter `n`: min_n is 6 and max_n 5"),
            "{text}"
        );
        let text = message("[[drafter]]\nname = \"n\"\nkind = \"magic\"");
        assert!(
            text.contains(":3: drafter `n`: unknown kind \"magic\""),
            "{text}"
        );
    }

    #[test]
    fn every_parameter_of_the_policies_is_a_key_of_the_session() {
        let text = "[session]\npolicy = \"sw-ucb\"\nwindow = 20\ndiscount = 0.9\n\
                    exploration = 0.3\nhorizon = 40\nexplore_rounds = 2\nepsilon = 0.2\n\
                    retention = 0.9\ncounterfactual = 3\ncarry = 0.25\n";
        let session = parse(text).expect("no mistake").session;
        let expected = PolicyParams {
            window: 20,
            discount: 0.9,
            exploration: 0.3,
            horizon: Some(40),
            explore_rounds: 2,
            epsilon: 0.2,
            retention: 0.9,
            counterfactual: 3,
            ..PolicyParams::default()
        };
        assert_eq!(session.policy, PolicySpec::SwUcb);
        assert_eq!(session.policy_params, expected);
        assert_eq!(session.carry, Some(0.25));
        let text = session_message("carry = 1.5");
        assert!(text.contains(":2: session: carry is 1.5"), "{text}");
        let text = session_message("window = 3\nexplore_rounds = 0");
        assert!(text.contains(":3: session: explore_rounds is 0"), "{text}");
        let text = session_message("window = 3\nepsilon = 2");
        assert!(text.contains(":3: session: epsilon is 2"), "{text}");
    }

    #[test]
    fn the_routers_file_is_named_relative_to_the_pool_file() {
        let file = parse("[session]\nrouter = \"routers/r.json\"").expect("no mistake");
        let router = file.router.expect("a router");
        assert_eq!(router, Path::new("models/routers/r.json"));
        assert_eq!(parse("[session]").expect("no mistake").router, None);
        let text = session_message("beta = 0.1\nrouter = \"\"");
        assert!(text.contains(":3: session: router is empty"), "{text}");
        assert!(session_message("router = 3").contains(":2: session: router: "));
    }

    #[test]
    fn n_gram_bounds_are_checked_together() {
        let text = "[[drafter]]\nname = \"n\"\nkind = \"ngram\"\nmin_n = 6\nmax_n = 8";
        parse(text).expect("6 to 8 is right though 6 is above the default max_n");
    }

    #[test]
    fn names_must_be_usable_in_a_policy_and_differ() {
        for name in ["", "a b", "a,b", "a:b", "ü"] {
            let text = message(&format!("[[drafter]]\nname = \"{name}\"\nkind = \"ngram\""));
            assert!(text.contains(":2: drafter 1: "), "{text}");
            assert!(text.contains("cannot name a drafter"), "{text}");
        }
        let twice = "[[drafter]]\nname = \"a\"\nkind = \"ngram\"\n".repeat(2);
        assert!(message(&twice).contains(":5: drafter `a`: another drafter has this name"));
    }

    #[test]
    fn a_policy_is_checked_against_the_drafters() {
        assert!(session_message("policy = \"ucb\"").contains(":2: session: unknown policy `ucb`"));
        let text =
            message("[session]\npolicy = \"fixed:b\"\n[[drafter]]\nname = \"a\"\nkind = \"ngram\"");
        assert!(
            text.contains(":2: session: policy `fixed:b` names no drafter"),
            "{text}"
        );
    }

    #[test]
    fn a_model_that_is_not_there_is_named_with_the_line_that_asks_for_it() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("pool.toml");
        let write = |text: &str| std::fs::write(&path, text).expect("writable");
        let message = || PoolFile::load(&path).expect_err("a mistake").to_string();

        write("[target]\nmodel = \"no.gguf\"");
        let text = message();
        assert!(text.contains("pool.toml:2: target: model "), "{text}");
        assert!(text.contains("no.gguf does not exist"), "{text}");
        PoolFile::read(&path).expect("reading alone looks for no model");

        write("[[drafter]]\nname = \"a\"\nkind = \"model\"\nmodel = \".\"");
        let text = message();
        assert!(text.contains("pool.toml:4: drafter `a`: model "), "{text}");
        assert!(text.contains("is not a file"), "{text}");
    }

    #[test]
    fn a_missing_pool_file_and_one_that_is_no_text_are_told_apart() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("pool.toml");
        let error = PoolFile::load(&path).expect_err("missing");
        assert_eq!(error.kind(), ErrorKind::Config);
        std::fs::write(&path, b"# ok\n\xff").expect("writable");
        let text = PoolFile::load(&path).expect_err("not text").to_string();
        assert!(text.contains("not UTF-8 at byte 5"), "{text}");
    }
}
