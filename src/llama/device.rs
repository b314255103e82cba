//! The devices that a build finds on this machine.

use llama_cpp_2::{LlamaBackendDevice, LlamaBackendDeviceType, list_llama_ggml_backend_devices};

use super::backend;
use crate::error::{Error, Result};
use crate::ffi;

/// A device that models can run on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Device {
    /// Its name, such as `CUDA0`.
    pub name: String,
    /// What it is, such as `NVIDIA H200`.
    pub description: String,
    /// The backend that drives it, such as `CUDA`.
    pub backend: String,
    /// Whether it is the CPU, which every layer that is not offloaded runs on.
    pub is_cpu: bool,
    /// Bytes of its memory that are free.
    pub free: u64,
    /// Bytes of its memory.
    pub total: u64,
}

/// The devices of this machine, the CPU among them, in the backends' order.
pub fn devices() -> Vec<Device> {
    all().iter().map(Device::of).collect()
}

/// Whether layers can be offloaded: whether there is a GPU and this build has a backend for it.
pub fn has_gpu() -> bool {
    all().iter().any(is_gpu)
}

/// Whether there is a GPU with memory of its own: not one that shares the CPU's, as integrated ones
/// and Apple's do.
pub fn has_device_memory() -> bool {
    all().iter().any(|device| {
        matches!(device.device_type, LlamaBackendDeviceType::Gpu) && device.backend != "MTL"
    })
}

impl Device {
    fn of(device: &LlamaBackendDevice) -> Self {
        Self {
            name: device.name.clone(),
            description: device.description.clone(),
            backend: device.backend.clone(),
            is_cpu: matches!(device.device_type, LlamaBackendDeviceType::Cpu),
            free: device.memory_free as u64,
            total: device.memory_total as u64,
        }
    }
}

fn all() -> Vec<LlamaBackendDevice> {
    backend::init();
    list_llama_ggml_backend_devices()
}

fn is_gpu(device: &LlamaBackendDevice) -> bool {
    matches!(
        device.device_type,
        LlamaBackendDeviceType::Gpu | LlamaBackendDeviceType::IntegratedGpu
    )
}

/// The devices that a model is offloaded to; none for the CPU alone.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DeviceChoice {
    indices: Vec<usize>,
}

impl DeviceChoice {
    /// The devices named in `names`, separated by commas, or `none`.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for a name that no GPU of
    /// this machine has, with those there are.
    pub fn parse(names: &str) -> Result<Self> {
        if names == "none" {
            return Ok(Self {
                indices: Vec::new(),
            });
        }
        let all = all();
        let find = |name: &str| {
            let mut gpus = all.iter().filter(|device| is_gpu(device));
            gpus.find(|device| device.name == name)
                .map(|device| device.index)
                .ok_or_else(|| Error::invalid(unknown(name, &all)))
        };
        let indices = names.split(',').map(|name| find(name.trim()));
        Ok(Self {
            indices: indices.collect::<Result<_>>()?,
        })
    }

    /// ggml's numbers of the devices.
    pub(super) fn indices(&self) -> &[usize] {
        &self.indices
    }

    /// The list that llama.cpp takes, which ends with a null.
    pub(super) fn raw(&self) -> Vec<ffi::ggml_backend_dev_t> {
        let device = |&index: &usize| {
            // SAFETY: the registry only grows, so an index that it had it still has.
            unsafe { ffi::ggml_backend_dev_get(index) }
        };
        let end = [std::ptr::null_mut()];
        self.indices.iter().map(device).chain(end).collect()
    }
}

fn unknown(name: &str, all: &[LlamaBackendDevice]) -> String {
    let gpus: Vec<&str> = all
        .iter()
        .filter(|device| is_gpu(device))
        .map(|device| device.name.as_str())
        .collect();
    let there = match gpus.as_slice() {
        [] => "this build finds no GPU here, so that `none` is the only choice".to_owned(),
        gpus => format!("there are {}, and `none` for the CPU", gpus.join(", ")),
    };
    format!("no device `{name}`: {there}; `metasd devices` lists all")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    #[test]
    fn the_cpu_is_a_device_with_memory_and_no_choice() {
        let cpu = devices().into_iter().find(|device| device.is_cpu);
        assert!(cpu.expect("a CPU").total > 0);
        let error = DeviceChoice::parse("CPU").expect_err("no GPU");
        assert_eq!(error.kind(), ErrorKind::InvalidArgument);
        assert!(error.to_string().contains("metasd devices"), "{error}");
    }

    #[test]
    fn none_is_the_cpu_alone() {
        let choice = DeviceChoice::parse("none").expect("always there");
        assert!(choice.indices().is_empty());
        assert_eq!(choice.raw().len(), 1);
    }
}
