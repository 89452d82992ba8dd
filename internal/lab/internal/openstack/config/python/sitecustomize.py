"""What the lab changes in the programs of OpenStack: nothing that their users see, but what they spend on questions that
have one answer here. Python imports this module before any other."""

import functools
import gc
import importlib.abc
import importlib.util
import select
import sys
import time

# A program has some hundred thousand objects that stay. By itself Python walks through them again and again as it reads
# its modules and answers requests, to find next to no garbage.
gc.set_threshold(50000, 20, 20)

# Before it is replaced by a cooperative one, which knows no poll.
POLL, POLLIN = select.poll, select.POLLIN

# For how many seconds an answer is remembered that may become another one.
REMEMBERED = 10

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
        if spec is None:
            return None
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
    them, repeats the question for the objects inside each question for a collection, and is composed each time."""
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

    # What a column is called and holds comes with each answer, and is the same each time.
    connections.FieldDescriptorPacket = functools.lru_cache(1 << 14)(connections.FieldDescriptorPacket)
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


@change("neutron.plugins.ml2.ovo_rpc")
def agents(ovo_rpc):
    """Neutron reads each object that has changed once more, to tell its agents, of which there are none."""
    ovo_rpc._ObjectChangeHandler.handle_event = lambda self, resource, event, trigger, payload: None


@change("neutron.services.segments.plugin")
def inventories(plugin):
    """No network of the lab is routed in segments, for which Nova would have to know how many addresses are left."""
    plugin.NovaSegmentNotifier._get_ipv4_subnets_number_and_segment_id = lambda self, port, context: (0, None)


@change("nova.network.neutron")
def segments(neutron):
    """How a network is made never changes. Nova asks for it at each port of a server, several times."""
    class_ = neutron.API
    ask = class_._get_physnet_tunneled_info
    known = {}

    def remembered(self, context, client, network):
        if network not in known:
            known[network] = ask(self, context, client, network)
        return known[network]

    class_._get_physnet_tunneled_info = remembered


@change("nova.network.security_group_api")
def groups(security_group_api):
    """The answer about a server has its security groups, for which Nova asks Neutron twice. Heat looks each second, and
    not at those."""
    ask = security_group_api.get_instances_security_groups_bindings
    known = {}

    def remembered(context, servers, detailed=False):
        key = context.project_id, detailed, tuple(server["id"] for server in servers)
        now = time.monotonic()
        if key not in known or known[key][0] < now:
            for old in [old for old, (until, _) in known.items() if until < now]:
                del known[old]
            known[key] = now + REMEMBERED, ask(context, servers, detailed)
        return known[key][1]

    security_group_api.get_instances_security_groups_bindings = remembered


@change("oslo_service.service")
def children(service):
    """A program that has a process for each backend, as that of Cinder's volumes, looks a hundred times a second whether
    one has ended: a hundredth of a processor for as long as the lab is there. Once a second is soon enough."""
    start = service.ProcessLauncher.__init__

    @functools.wraps(start)
    def with_pause(self, conf, wait_interval=1, **kwargs):
        start(self, conf, wait_interval, **kwargs)

    service.ProcessLauncher.__init__ = with_pause


@change("octavia.db.repositories")
def relations(repositories):
    """Octavia's models have SQLAlchemy warn of them at length, in each process that Octavia forks for a question anew."""
    import warnings

    from sqlalchemy import exc

    warnings.simplefilter("ignore", exc.SAWarning)
