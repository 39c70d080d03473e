"""Students who call somebody."""

import gc
import socket
import urllib.request


def a_server_of_this_machine(target):
    """Ends: refused"""
    socket.create_connection(("127.0.0.1", target["port"]), 1)


def a_server_of_this_machine_by_udp(target):
    """Ends: refused"""
    socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", target["port"]))


def a_page_of_the_web(target):
    """Ends: refused"""
    urllib.request.urlopen(f"http://127.0.0.1:{target['port']}/", timeout=1)


def the_name_service(target):
    """Ends: refused"""
    socket.getaddrinfo("example.org", 80)


def wait_for_calls(target):
    """Ends: refused"""
    socket.create_server(("127.0.0.1", 0))


def a_unix_socket(target):
    """Ends: refused"""
    socket.socket(socket.AF_UNIX).connect(target["stream"])


def a_unix_socket_without_a_path(target):
    """Ends: refused"""
    socket.socket(socket.AF_UNIX).connect(target["abstract"])


def a_datagram_socket_from_a_pair(target):
    """A pair of datagram sockets could write to any other one: it needs no connect.

    Ends: refused
    """
    one, _ = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    one.sendto(b"here", target["datagram"])


def a_datagram_socket_from_a_raw_pair(target):
    """Ends: refused"""
    one, _ = socket.socketpair(socket.AF_UNIX, socket.SOCK_RAW)
    one.sendto(b"here", target["datagram"])


def a_packet_socket_from_a_pair(target):
    """Ends: refused"""
    one, _ = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    one.sendto(b"here", target["datagram"])


def its_stream_pair_with_an_address(target):
    """Ends: refused"""
    one, _ = socket.socketpair()
    one.sendto(b"here", target["datagram"])


def its_channel_with_an_address(target):
    """Ends: refused"""
    _channel().sendto(b"here", target["datagram"])


def the_kernel(target):
    """Ends: refused"""
    socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)


def the_cable(target):
    """Ends: refused"""
    socket.socket(socket.AF_PACKET, socket.SOCK_RAW)


def a_virtual_machine(target):
    """Ends: refused"""
    socket.socket(40, socket.SOCK_STREAM)


def a_pair_of_another_family(target):
    """Ends: refused"""
    socket.socketpair(socket.AF_INET)


def _channel():
    return next(thing for thing in gc.get_objects() if isinstance(thing, socket.socket))
