"""`EverClustEstimator` and `EverClustModel`: Spark ML's `fit` and `transform`, for pipelines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyspark.ml import Estimator, Model
from pyspark.ml.param.shared import HasFeaturesCol, HasPredictionCol
from pyspark.ml.util import (
    DefaultParamsReadable,
    DefaultParamsReader,
    DefaultParamsWritable,
    DefaultParamsWriter,
    MLReadable,
    MLReader,
    MLWritable,
    MLWriter,
)

from ...estimators.everclust import EverClust
from .learning import fit
from .model_bytes import from_bytes, to_bytes
from .scoring import predict

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from ...estimators.idat import IDAT


class EverClustEstimator(
    Estimator, HasFeaturesCol, HasPredictionCol, DefaultParamsReadable, DefaultParamsWritable
):
    """EverClust as an estimator of Spark ML; `fit` returns an `EverClustModel`.

    Parameters
    ----------
    featuresCol : str, default="features"
        Column of vectors or arrays, as `VectorAssembler` makes it.
    predictionCol : str, default="prediction"
        Column that `transform` adds.
    """

    def __init__(self, *, featuresCol: str = "features", predictionCol: str = "prediction") -> None:
        super().__init__()
        self._set(featuresCol=featuresCol, predictionCol=predictionCol)

    def _fit(self, dataset: DataFrame) -> EverClustModel:
        found = EverClustModel(fit(dataset, self.getFeaturesCol(), EverClust()))
        return self._copyValues(found)


class EverClustModel(Model, HasFeaturesCol, HasPredictionCol, MLReadable, MLWritable):
    """A fitted model as a transformer of Spark ML.

    Parameters
    ----------
    model : EverClust or IDAT
        It stays accessible as the attribute `model`.
    """

    def __init__(self, model: EverClust | IDAT) -> None:
        super().__init__()
        self.model = model

    def _transform(self, dataset: DataFrame) -> DataFrame:
        return predict(dataset, self.model, self.getFeaturesCol(), output=self.getPredictionCol())

    def write(self) -> MLWriter:
        """A writer, for `save`.

        Returns
        -------
        writer : pyspark.ml.util.MLWriter
        """
        return _Writer(self)

    @classmethod
    def read(cls) -> MLReader:
        """A reader, for `load`.

        Returns
        -------
        reader : pyspark.ml.util.MLReader
        """
        return _Reader()


class _Writer(MLWriter):
    def __init__(self, instance: EverClustModel) -> None:
        super().__init__()
        self.instance = instance

    def saveImpl(self, path: str) -> None:  # noqa: N802
        DefaultParamsWriter.saveMetadata(self.instance, path, self.sparkSession)
        data = [(bytearray(to_bytes(self.instance.model)),)]
        self.sparkSession.createDataFrame(data, "model binary").write.parquet(f"{path}/model")


class _Reader(MLReader):
    def load(self, path: str) -> Any:
        metadata = DefaultParamsReader.loadMetadata(path, self.sparkSession)
        row = self.sparkSession.read.parquet(f"{path}/model").head()
        found = EverClustModel(from_bytes(bytes(row.model)))
        found._resetUid(metadata["uid"])
        DefaultParamsReader.getAndSetParams(found, metadata)
        return found
