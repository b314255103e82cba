//! A router, connected to a session's target and pool.

use crate::error::{Error, ErrorKind, Result};
use crate::router::{Embedding, Router};
use crate::types::{ArmId, TokenId};

/// A router with the target's embedding and the arm that each of its labels names.
pub(super) struct Routing {
    router: Router,
    embedding: Box<dyn Embedding>,
    arms: Vec<ArmId>,
}

impl Routing {
    /// Finds the labels of `router` among the drafters' `names`, in the order of their arms.
    ///
    /// # Errors
    /// [`ErrorKind::Config`] for a label that names no drafter.
    pub(super) fn new(
        router: Router,
        embedding: Box<dyn Embedding>,
        names: &[String],
    ) -> Result<Self> {
        let arm = |label: &str| {
            let place = names.iter().position(|name| name == label).map(ArmId);
            place.ok_or_else(|| {
                Error::new(
                    ErrorKind::Config,
                    format!(
                        "label `{label}` of the router names no drafter; the drafters are {}; fit \
                         a router for them with `metasd router fit --labels`",
                        names.join(", ")
                    ),
                )
            })
        };
        let labels = router.labels().iter();
        let arms = labels
            .map(|label| arm(&label.name))
            .collect::<Result<_>>()?;
        Ok(Self {
            router,
            embedding,
            arms,
        })
    }

    /// The arms that the router knows, the one that suits `prompt` best first.
    ///
    /// # Errors
    /// Those of [`Router::rank`].
    pub(super) fn rank(&mut self, prompt: &[TokenId]) -> Result<Vec<ArmId>> {
        let places = self.router.rank(prompt, &mut *self.embedding)?;
        Ok(places.into_iter().map(|place| self.arms[place]).collect())
    }
}
