from everclust.core.precompile import compile_all


def test_every_kernel_is_named_when_it_is_done(capsys):
    compile_all()
    names = ["assign", "gather", "find_clusters", "match_groups", "vote_weights", "vote_coarsely", "vote"]
    names += ["tell_nodes", "count_arrivals", "group_newcomers", "assign_coarsely"]
    assert capsys.readouterr().out.split() == names
