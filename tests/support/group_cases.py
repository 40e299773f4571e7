"""What several tests of groups look at."""


def as_dict(groups):
    return {
        tuple(groups.key(g)[name] for name in groups.by): groups.histogram(g) for g in range(groups.n_groups)
    }
