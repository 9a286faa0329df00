import json, sys
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest

# The points of a request as a decoder that is not ours reads them: one JSON list.
request = ExportMetricsServiceRequest()
request.ParseFromString(sys.stdin.buffer.read())


def attributes(of):
    return {pair.key: pair.value.string_value for pair in of}


def point(metric, kind, data, it):
    read = {
        "name": metric.name,
        "unit": metric.unit,
        "kind": {"exponential_histogram": "exponential"}.get(kind, kind),
        "isMonotonic": getattr(data, "is_monotonic", False),
        "labels": attributes(it.attributes),
        "startMs": it.start_time_unix_nano // 1000000,
        "atMs": it.time_unix_nano // 1000000,
    }
    temporality = getattr(data, "aggregation_temporality", 0)
    if temporality > 0:
        read["temporality"] = {1: "delta", 2: "cumulative"}[temporality]
    if kind in ("gauge", "sum"):
        return {**read, "value": it.as_double}
    read = {**read, "count": it.count, "sum": it.sum}
    if kind == "histogram":
        return {**read, "bounds": list(it.explicit_bounds), "counts": list(it.bucket_counts)}
    positive = {"offset": it.positive.offset, "counts": list(it.positive.bucket_counts)}
    return {**read, "scale": it.scale, "zeros": it.zero_count, **positive}


points = []
for resource in request.resource_metrics:
    for scope in resource.scope_metrics:
        for metric in scope.metrics:
            kind = metric.WhichOneof("data")
            data = getattr(metric, kind)
            for it in data.data_points:
                points.append({**point(metric, kind, data, it), "resource": attributes(resource.resource.attributes)})
json.dump(points, sys.stdout)
