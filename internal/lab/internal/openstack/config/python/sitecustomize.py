"""What the lab changes in the programs of OpenStack: nothing that their users see, but what they spend on questions that
have one answer here. Python imports this module before any other."""

import functools
import gc
import importlib.abc
import importlib.util
import select
import sys

# A program has some hundred thousand objects that stay. By itself Python walks through them again and again as it reads
# its modules and answers requests, to find next to no garbage.
gc.set_threshold(50000, 20, 20)

# Before it is replaced by a cooperative one, which knows no poll.
POLL, POLLIN = select.poll, select.POLLIN

CHANGES = {}


def change(module):
    """Registers what is done once a module has been read."""
    def register(function):
        CHANGES[module] = function
        return function
    return register


class Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        function = CHANGES.pop(name, None)
        if function is None:
            return None
        spec = importlib.util.find_spec(name)
        read = spec.loader.exec_module

        def exec_module(module):
            read(module)
            function(module)

        spec.loader.exec_module = exec_module
        return spec


sys.meta_path.insert(0, Finder())


@change("sqlalchemy.orm.strategies")
def collections(strategies):
    """Collections that come with an object are read by the keys of the objects. A subquery, which Neutron has for most of
    them, repeats the question for the objects inside each question for a collection, and is put together anew each time."""
    known = strategies.relationships.RelationshipProperty._all_strategies[strategies.relationships.RelationshipProperty]
    known[(("lazy", "subquery"),)] = strategies.SelectInLoader


@change("oslo_db.sqlalchemy.engines")
def ping(engines):
    """A connection is tried before each transaction by asking whether the server has closed it, and not by a query."""
    query = engines._connect_ping_listener

    def listener(connection, branch):
        if not branch and closed(connection.connection.dbapi_connection):
            query(connection, branch)

    engines._connect_ping_listener = listener


def closed(connection):
    """Tells whether a connection without a query has something to read, which is its end."""
    sock = getattr(connection, "_sock", None)
    if sock is None:
        return True
    poll = POLL()
    poll.register(sock.fileno(), POLLIN)
    return bool(poll.poll(0))


@change("pymysql.connections")
def transactions(connections):
    """A transaction in which nothing was asked since the last one needs no end: SQLAlchemy rolls each connection back that
    it is given back, after the commit too."""
    class_ = connections.Connection
    query = class_.query

    @functools.wraps(query)
    def remember(self, *args, **kwargs):
        self.lab_asked = True
        return query(self, *args, **kwargs)

    def unless_nothing_was_asked(end):
        @functools.wraps(end)
        def wrapped(self):
            if getattr(self, "lab_asked", True):
                end(self)
                self.lab_asked = False
        return wrapped

    class_.query = remember
    class_.commit = unless_nothing_was_asked(class_.commit)
    class_.rollback = unless_nothing_was_asked(class_.rollback)


@change("oslo_policy.policy")
def rules(policy):
    """The rules are those of the programs, and no file changes them. By itself each check goes through all of them to see
    whether they are there, and looks for such files."""
    class_ = policy.Enforcer
    load = class_.load_rules

    @functools.wraps(load)
    def load_rules(self, force_reload=False):
        loaded = getattr(self, "lab_loaded", None)
        if not force_reload and loaded and loaded[0] is self.rules and loaded[1] == len(self.registered_rules):
            return
        load(self, force_reload)
        self.lab_loaded = (self.rules, len(self.registered_rules))

    class_.load_rules = load_rules
