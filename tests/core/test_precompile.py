from everclust.core.precompile import compile_all


def test_every_kernel_is_named_when_it_is_done(capsys):
    compile_all()
    names = ["assign", "find_pairs", "strengths", "cluster_linked", "vote_weights"]
    names += ["vote_coarsely", "vote", "group_newcomers", "assign_coarsely"]
    assert capsys.readouterr().out.split() == names
