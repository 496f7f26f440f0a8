"""What upper layers do for those below them is there."""

import pytest

from linkwork.model.providers import PROVIDERS, provider


@pytest.mark.parametrize("purpose", PROVIDERS)
def test_every_purpose_has_a_function(purpose):
    assert callable(provider(purpose))
