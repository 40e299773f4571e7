"""Which domain to publish on: combinations of the options of a menu, by what their classifiers are worth.

`search` looks at all combinations, or at those that a beam reaches, and gives the best first: `option_terms`
is what each option adds to a row's score, `leaf_costs` what combinations cost; `strata_search` also looks at
a classifier for each value of a column. `votes` chooses one privately; `picture` draws what there was to
choose from. `advise` puts these together: a `space` is a table as a menu sees it, a `walk` goes from the
most accurate choice down, choices are `measured` until one keeps the limits, and the `results` are `Advice`.
"""
