//! `metasd devices`.

use std::process::ExitCode;

use metasd::Result;
use metasd::llama::{Device, devices};
use metasd::pool::ByteSize;

use super::output::Output;

/// Lists the devices of this machine that this build can use.
///
/// # Errors
/// None; what cannot be written is in the exit code.
pub fn run() -> Result<ExitCode> {
    let mut output = Output::default();
    output.line(&table(&devices()));
    Ok(output.finish(ExitCode::SUCCESS))
}

fn table(devices: &[Device]) -> String {
    let rows = devices.iter().map(|device| {
        let size = |bytes: u64| ByteSize(bytes).to_string();
        [
            device.name.clone(),
            device.backend.clone(),
            size(device.free),
            size(device.total),
            device.description.clone(),
        ]
    });
    let head = ["name", "backend", "free", "total", "description"].map(str::to_owned);
    let rows: Vec<[String; 5]> = [head].into_iter().chain(rows).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max();
    let widths: [usize; 5] = std::array::from_fn(|column| width(column).unwrap_or(0));
    let line = |row: &[String; 5]| {
        format!(
            "{:name$}  {:backend$}  {:>free$}  {:>total$}  {}",
            row[0],
            row[1],
            row[2],
            row[3],
            row[4],
            name = widths[0],
            backend = widths[1],
            free = widths[2],
            total = widths[3],
        )
    };
    rows.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_shown_in_columns() {
        let device = Device {
            name: "CUDA0".to_owned(),
            description: "NVIDIA H200".to_owned(),
            backend: "CUDA".to_owned(),
            is_cpu: false,
            free: 130 << 30,
            total: 139 << 30,
        };
        assert_eq!(
            table(&[device]),
            "name   backend       free      total  description\n\
             CUDA0  CUDA     130.0 GiB  139.0 GiB  NVIDIA H200"
        );
    }
}
