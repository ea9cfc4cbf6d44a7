"""A run and its page, served in this process."""

import pytest
from served_page import Served


@pytest.fixture
def served():
    one = Served()
    yield one
    one.close()
    assert one.runner.check_identities() == []
