import json, sys
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

# The spans of a request as a decoder that is not ours reads them: one JSON object.
request = ExportTraceServiceRequest()
request.ParseFromString(sys.stdin.buffer.read())


def value(of):
    return getattr(of, of.WhichOneof("value"))


def attributes(of):
    return {pair.key: value(pair.value) for pair in of}


def span(of):
    return {
        "trace": of.trace_id.hex(),
        "id": of.span_id.hex(),
        "parent": of.parent_span_id.hex(),
        "name": of.name,
        "kind": of.kind,
        "start": str(of.start_time_unix_nano),
        "end": str(of.end_time_unix_nano),
        "status": of.status.code,
        "message": of.status.message,
        "flags": of.flags,
        "attributes": attributes(of.attributes),
        "links": [
            {"trace": link.trace_id.hex(), "id": link.span_id.hex(), "attributes": attributes(link.attributes)}
            for link in of.links
        ],
    }


json.dump(
    [
        {
            "resource": attributes(resource.resource.attributes),
            "scopes": [
                {"name": it.scope.name, "version": it.scope.version, "spans": [span(s) for s in it.spans]}
                for it in resource.scope_spans
            ],
        }
        for resource in request.resource_spans
    ],
    sys.stdout,
)
