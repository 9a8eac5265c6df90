import pytest

from everclust.core.precompile import THERE, compile_here, compile_there


@pytest.mark.parametrize("clusters", THERE)
def test_every_kernel_is_named_when_it_is_done(clusters, capsys):
    compile_there(clusters)
    assert tuple(capsys.readouterr().out.split()) == THERE[clusters]


@pytest.mark.parametrize("clusters", THERE)
def test_what_is_compiled_here_is_not_named(clusters, capsys):
    compile_here(clusters)
    assert capsys.readouterr().out == ""
