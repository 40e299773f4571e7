"""Pages that people read: elements that escape what they hold, one look, pictures, and what notebooks show.

`elements` is the builder: whatever is put into an element is text, and never markup. `colours` and
`stylesheet` are how everything looks, on paper, on a phone, in light and dark. `page_parts` are those of a
page (cards, tiles, findings, tables), `charts` its pictures in SVG, `trying` a form that adds up points,
`pages` the whole file, with the policy that lets nothing else in, `fitting` how much of it there is room for,
and `fragments` what notebooks show of a result.
"""
