"""A gRPC server on C-core that compresses its replies, and reflects; messages are bytes to it.

c_core.py PORT [OPTION=NUMBER]...
"""
import sys
import time
from concurrent import futures

import grpc
from google.protobuf import descriptor_pb2 as d


def schema():
    """One file, with a method of each kind."""
    field = d.FieldDescriptorProto
    text = d.DescriptorProto(name="Text")
    text.field.add(name="text", number=1, type=field.TYPE_STRING, label=field.LABEL_OPTIONAL)
    file = d.FileDescriptorProto(name="echo.proto", package="echo", syntax="proto3", message_type=[text])
    service = file.service.add(name="Echo")
    for name, client, server in [
        ("Unary", False, False),
        ("Many", False, True),
        ("Last", True, False),
        ("Each", True, True),
    ]:
        service.method.add(
            name=name,
            input_type=".echo.Text",
            output_type=".echo.Text",
            client_streaming=client,
            server_streaming=server,
        )
    return file.SerializeToString()


def nested(number, payload):
    """A field that holds bytes, as protobuf writes it."""
    length = len(payload)
    size = bytearray()
    while length > 127:
        size.append(length & 127 | 128)
        length >>= 7
    size.append(length)
    return bytes([number << 3 | 2]) + bytes(size) + payload


def reflect(questions, _context):
    for question in questions:
        if question[:1] == bytes([7 << 3 | 2]):
            yield nested(6, nested(1, nested(1, b"echo.Echo")))
        else:
            yield nested(4, nested(1, schema()))


def unary(request, context):
    told = dict(context.invocation_metadata())
    time.sleep(float(told.get("x-sleep", "0")))
    if "x-code" in told:
        context.abort(grpc.StatusCode[told["x-code"]], "as you wish: 100 % \u00e4")
    return request


def many(request, _context):
    for _ in range(300):
        yield request


def last(requests, _context):
    reply = b""
    for reply in requests:
        pass
    return reply


def each(requests, _context):
    yield from requests


def main():
    port, options = sys.argv[1], [option.split("=") for option in sys.argv[2:]]
    server = grpc.server(
        futures.ThreadPoolExecutor(8),
        options=[(name, int(value)) for name, value in options],
        compression=grpc.Compression.Gzip,
    )
    methods = {
        "Unary": grpc.unary_unary_rpc_method_handler(unary),
        "Many": grpc.unary_stream_rpc_method_handler(many),
        "Last": grpc.stream_unary_rpc_method_handler(last),
        "Each": grpc.stream_stream_rpc_method_handler(each),
    }
    reflection = {"ServerReflectionInfo": grpc.stream_stream_rpc_method_handler(reflect)}
    server.add_generic_rpc_handlers(
        (
            grpc.method_handlers_generic_handler("echo.Echo", methods),
            grpc.method_handlers_generic_handler(
                "grpc.reflection.v1alpha.ServerReflection", reflection
            ),
        )
    )
    server.add_insecure_port("127.0.0.1:" + port)
    server.start()
    server.wait_for_termination(600)


main()
