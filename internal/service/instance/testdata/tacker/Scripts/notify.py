# A class of a package, which is never run.
class Notify:
    def instantiate_end(self):
        raise NotImplementedError
