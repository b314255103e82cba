//! `[residency]`: how much memory the drafters may take.

use std::time::Duration;

use super::section::Section;
use crate::error::Result;
use crate::pool::{ByteSize, ResidencyParams};

const KEYS: &[&str] = &[
    "vram_budget",
    "ram_budget",
    "max_resident",
    "swap",
    "load_timeout",
];

/// Reads `section` into `params`, whose pins are the drafters' own.
///
/// # Errors
/// [`ErrorKind::Config`](crate::ErrorKind::Config) with file, line and field.
pub(super) fn read(params: &mut ResidencyParams, mut section: Section<'_>) -> Result<()> {
    section.label("residency");
    section.check_keys(KEYS)?;
    let mut line = 1;
    for (key, budget) in [
        ("ram_budget", &mut params.ram_budget),
        ("vram_budget", &mut params.vram_budget),
    ] {
        if let Some((bytes, at)) = section.take::<ByteSize>(key)? {
            *budget = Some(bytes);
            line = at;
        }
    }
    params.max_resident = section.take_positive("max_resident")?;
    if let Some((swap, _)) = section.take("swap")? {
        params.swap = swap;
    }
    if let Some((seconds, line)) = section.take::<f64>("load_timeout")? {
        params.load_timeout = Duration::try_from_secs_f64(seconds)
            .ok()
            .filter(|timeout| !timeout.is_zero())
            .ok_or_else(|| {
                section.error(line, "load_timeout must be a number of seconds above 0")
            })?;
    }
    (params.validate()).map_err(|error| section.error(line, error))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::config::PoolFile;
    use crate::pool::SwapMode;

    fn read(lines: &str) -> Result<ResidencyParams> {
        let text = format!("[residency]\n{lines}");
        PoolFile::parse(&text, Path::new("pool.toml")).map(|file| file.residency)
    }

    fn message(lines: &str) -> String {
        read(lines).expect_err("a mistake").to_string()
    }

    #[test]
    fn a_whole_section_is_read() {
        let params = read(
            "vram_budget = \"1.5G\"\nram_budget = 0\nmax_resident = 3\nswap = \"sync\"\n\
             load_timeout = 2.5",
        )
        .expect("no mistake");
        assert_eq!(params.vram_budget, Some(ByteSize(3 << 29)));
        assert_eq!(params.ram_budget, Some(ByteSize(0)));
        assert_eq!(params.max_resident, Some(3));
        assert_eq!(params.swap, SwapMode::Sync);
        assert_eq!(params.load_timeout, Duration::from_millis(2500));
    }

    #[test]
    fn a_silent_file_sets_no_limits() {
        assert!(!read("").expect("no mistake").is_limited());
        assert!(
            !PoolFile::parse("", Path::new("p"))
                .expect("empty")
                .residency
                .is_limited()
        );
    }

    #[test]
    fn mistakes_are_told_with_their_line_and_what_would_be_right() {
        let vram = message("swap = \"sync\"\nvram_budget = \"lots\"");
        assert!(
            vram.contains("pool.toml:3: residency: vram_budget"),
            "{vram}"
        );
        assert!(vram.contains("512M or 2G"), "{vram}");
        assert!(message("vram_budget = 0").contains("pool.toml:2: residency: vram_budget is 0"));
        assert!(message("vram_budget = -5").contains("a size such as"));
        assert!(message("vram_budget = true").contains("a size such as"));
        assert!(message("max_resident = 0").contains("max_resident is 0"));
        assert!(message("ram_budget = \"1G\"").contains("give vram_budget"));
        assert!(message("swap = \"never\"").contains("swap: unknown variant"));
        for timeout in ["0", "-1.0", "nan"] {
            let message = message(&format!("load_timeout = {timeout}"));
            assert!(
                message.contains("pool.toml:2: residency: load_timeout"),
                "{message}"
            );
        }
        assert!(message("budget = 1").contains("unknown key `budget`"));
    }

    #[test]
    fn pins_and_contexts_are_the_drafters_own() {
        let text = "[[drafter]]\nname = \"a\"\nkind = \"model\"\nmodel = \"a.gguf\"\npin = true\n\
                    ctx = 64\n[[drafter]]\nname = \"b\"\nkind = \"model\"\nmodel = \"b.gguf\"\n\
                    pin = false\n";
        let file = PoolFile::parse(text, Path::new("pool.toml")).expect("no mistake");
        assert_eq!(file.residency.pins, ["a"]);
        let crate::pool::DrafterSource::Model { n_ctx, .. } = file.drafters[0].source else {
            panic!("not a model");
        };
        assert_eq!(n_ctx, Some(64));
        let ngram = "[[drafter]]\nname = \"n\"\nkind = \"ngram\"\npin = true\n";
        let error = PoolFile::parse(ngram, Path::new("pool.toml")).expect_err("it takes nothing");
        assert!(
            error
                .to_string()
                .contains("`pin` is a key of kind = \"model\""),
            "{error}"
        );
    }
}
