//! llama.cpp's options of one hyphen and several letters, such as `-md`, which clap would read as
//! several short options: they are replaced by the long ones before it sees them.

use std::ffi::OsString;

use clap::Command;

const LONG_NAMES: &[(&str, &str)] = &[
    ("-md", "--model-draft"),
    ("-ngl", "--n-gpu-layers"),
    ("-ngld", "--n-gpu-layers-draft"),
    ("-cd", "--ctx-size-draft"),
    ("-td", "--threads-draft"),
    ("-sys", "--system-prompt"),
    ("-no-cnv", "--no-conversation"),
];

/// `arguments`, the program's name first, in the form that clap reads. What is an option's value,
/// and everything after `--`, stays as it is.
pub fn normalised(
    arguments: impl IntoIterator<Item = OsString>,
    command: &Command,
) -> Vec<OsString> {
    let options = Options::of(command);
    let mut result = Vec::new();
    let mut is_value = true;
    let mut is_open = true;
    for argument in arguments {
        let known = if is_value || !is_open {
            is_value = false;
            None
        } else {
            argument.to_str()
        };
        let Some(text) = known else {
            result.push(argument);
            continue;
        };
        is_open = text != "--";
        let replaced = with_long_name(text);
        is_value = options.wants_value(replaced.as_deref().unwrap_or(text));
        result.push(replaced.map_or_else(|| argument.clone(), OsString::from));
    }
    result
}

fn with_long_name(argument: &str) -> Option<String> {
    let (name, value) = match argument.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (argument, None),
    };
    let (_, long) = LONG_NAMES.iter().find(|(short, _)| *short == name)?;
    Some(match value {
        Some(value) => format!("{long}={value}"),
        None => (*long).to_owned(),
    })
}

/// The options of all commands that take a value.
#[derive(Debug, Default)]
struct Options {
    long: Vec<String>,
    short: Vec<char>,
}

impl Options {
    fn of(command: &Command) -> Self {
        // Only a built command knows which of its options take a value.
        let mut command = command.clone();
        command.build();
        let mut options = Self::default();
        options.add(&command);
        options
    }

    fn add(&mut self, command: &Command) {
        for option in command.get_opts() {
            let long = option.get_long().into_iter();
            let aliases = option.get_all_aliases().unwrap_or_default();
            self.long.extend(long.chain(aliases).map(str::to_owned));
            self.short.extend(option.get_short());
        }
        for command in command.get_subcommands() {
            self.add(command);
        }
    }

    /// Whether the argument after `argument` is its value.
    fn wants_value(&self, argument: &str) -> bool {
        if let Some(long) = argument.strip_prefix("--") {
            return self.long.iter().any(|known| known == long);
        }
        let Some(shorts) = argument.strip_prefix('-') else {
            return false;
        };
        // In a cluster the first option with a value takes what is left of it.
        let takes_value = shorts.find(|c| self.short.contains(&c));
        takes_value.is_some_and(|at| shorts[at..].chars().nth(1).is_none())
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::cli::args::Cli;

    fn normalise(arguments: &str) -> String {
        let arguments = arguments.split(' ').map(OsString::from);
        let result = normalised(arguments, &Cli::command());
        let result: Vec<_> = result.iter().map(|a| a.to_string_lossy()).collect();
        result.join(" ")
    }

    #[test]
    fn llama_cpps_names_become_long_ones() {
        assert_eq!(
            normalise("metasd run -md a.gguf -ngl 5 -ngld=6 -td 1 -no-cnv -sys x"),
            "metasd run --model-draft a.gguf --n-gpu-layers 5 --n-gpu-layers-draft=6 \
             --threads-draft 1 --no-conversation --system-prompt x"
        );
        assert_eq!(
            normalise("metasd run -md=a=b"),
            "metasd run --model-draft=a=b"
        );
    }

    #[test]
    fn values_of_options_stay_as_they_are() {
        for line in [
            "metasd run -p -md",
            "metasd run --prompt -ngl",
            "metasd run -vp -md",
            "metasd run --stop -td -r -sys",
            "metasd run --spec-draft-model -md",
            "metasd run -- -md",
        ] {
            assert_eq!(normalise(line), line);
        }
    }

    #[test]
    fn what_follows_a_value_is_an_option_again() {
        assert_eq!(
            normalise("metasd run -p -md -md a"),
            "metasd run -p -md --model-draft a"
        );
        assert_eq!(
            normalise("metasd run -pfoo -md a"),
            "metasd run -pfoo --model-draft a"
        );
        assert_eq!(
            normalise("metasd run --prompt=foo -md a"),
            "metasd run --prompt=foo --model-draft a"
        );
        assert_eq!(
            normalise("metasd run -vq -md a"),
            "metasd run -vq --model-draft a"
        );
    }

    #[test]
    fn every_long_name_exists() {
        let mut options = Vec::new();
        for command in Cli::command().get_subcommands() {
            for argument in command.get_arguments() {
                options.extend(argument.get_long().map(|long| format!("--{long}")));
            }
        }
        for (short, long) in LONG_NAMES {
            assert!(
                options.iter().any(|option| option == long),
                "{short}: {long}"
            );
        }
    }

    #[test]
    fn an_option_takes_a_value_in_every_command_or_in_none() {
        let mut with = Vec::new();
        let mut without = Vec::new();
        let top = Cli::command();
        let commands = top
            .get_subcommands()
            .flat_map(|c| c.get_subcommands().chain([c]));
        for argument in commands.flat_map(Command::get_arguments) {
            let kind = if argument.get_action().takes_values() {
                &mut with
            } else {
                &mut without
            };
            kind.extend(argument.get_short());
        }
        assert!(
            with.iter().all(|short| !without.contains(short)),
            "{with:?} {without:?}"
        );
    }
}
