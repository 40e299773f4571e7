"""What every room stands on: errors, numbers, threads, joint tables, new files.

`errors`: what is raised beside ValueError and TypeError; `validation`: arguments one by one; `choices`:
what several methods let a publisher choose; `numbers`: exact ones, from arguments and as texts; `products`:
of many integers; `chances`: epsilon and shares in words. `spelling`: how arguments are named to whoever
gave them. `dtypes` and `untyped`: names for annotations. `threads`: rows in chunks; `joint`: several
columns looked up with one index; `files`: written whole or not at all; `pickling`: of mappings that are
read only; `json_numbers`: integers of files of JSON; `sql_text`: names and values as SQL writes them;
`stopping`: what Ctrl-C says; `processor`: which of its vectors are asked for.
"""
