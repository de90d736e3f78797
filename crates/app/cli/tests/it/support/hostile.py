"""A gRPC server that writes to its client's terminal, or tries to: its names, its words, its status.

hostile.py PORT
"""
import sys
from concurrent import futures

import grpc
from google.protobuf import descriptor_pb2 as d

# A title, a colour, a second line, C1's CSI, what turns text around, what can't be seen, tags.
TEXT = "\x1b]0;pwn\x07 \x1b[31m \r\nline \x9b2J \u202e \u200b \ufeff \U000e0041"


def schema():
    field = d.FieldDescriptorProto
    message = d.DescriptorProto(name="M")
    message.field.add(name="f" + TEXT, number=1, type=field.TYPE_STRING, label=field.LABEL_OPTIONAL)
    file = d.FileDescriptorProto(name="t.proto", package="t", syntax="proto3", message_type=[message])
    service = file.service.add(name="S")
    for name in ["U", "m" + TEXT]:
        service.method.add(name=name, input_type=".t.M", output_type=".t.M")
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
            yield nested(6, nested(1, nested(1, b"t.S")))
        elif question.endswith(b"t.Refused"):
            yield nested(7, bytes([1 << 3, 13]) + nested(2, TEXT.encode()))
        else:
            yield nested(4, nested(1, schema()))


def unary(_request, context):
    context.abort(grpc.StatusCode.INTERNAL, TEXT)


def main():
    server = grpc.server(futures.ThreadPoolExecutor(8))
    methods = {"U": grpc.unary_unary_rpc_method_handler(unary)}
    reflection = {"ServerReflectionInfo": grpc.stream_stream_rpc_method_handler(reflect)}
    server.add_generic_rpc_handlers(
        (
            grpc.method_handlers_generic_handler("t.S", methods),
            grpc.method_handlers_generic_handler("grpc.reflection.v1.ServerReflection", reflection),
        )
    )
    server.add_insecure_port("127.0.0.1:" + sys.argv[1])
    server.start()
    server.wait_for_termination(600)


main()
