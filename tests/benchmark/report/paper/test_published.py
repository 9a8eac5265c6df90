"""What the paper prints, as it is stored."""

from everclust.benchmark.report.paper.published import published, published_cell, published_mark


def test_a_cell_is_a_mean_and_a_standard_deviation():
    assert published_cell("nonstationary_ari_ami", "iris", "IDAT", "ARI") == (0.565, 0.135)
    assert published_cell("stationary_nodes_clusters", "iris", "IDAT", "nodes") == (8.8, 1.5)


def test_there_is_no_cell_where_the_paper_has_no_number():
    assert published_cell("stationary_ari_ami", "iris", "IDAT", "ARI") is None
    assert published_cell("stationary_nodes_clusters", "iris", "TC", "nodes") is None
    assert published_cell("stationary_nodes_clusters", "skin", "TC", "clusters") is None
    assert published_cell("nonstationary_ari_ami", "own data", "IDAT", "ARI") is None


def test_the_reason_for_a_missing_number_is_kept():
    assert published_mark("stationary_nodes_clusters", "skin", "TC", "clusters") == "OOM"
    assert published_mark("nonstationary_ari_ami", "skin", "GNG", "ARI") == "N/A"
    assert published_mark("nonstationary_ari_ami", "skin", "IDAT", "ARI") is None


def test_every_table_has_the_24_data_sets():
    tables = {name: rows for name, rows in published().items() if name != "average_cluster_error"}
    assert {len(rows) for rows in tables.values()} == {24}
    assert len(tables) == 4
