"""What the values of a column are put into: options, domains that were declared, and menus of options.

An `option` is a map from raw values to finitely many (`places` says which bin holds one); `declarations` has
one a column, from a mapping, a JSON file (`json_files`) or a few words (`bin_words`). A `menu` has several a
column, of which `ready_made` makes one from public facts where nobody has written any. `identifying` says
which columns name people and can only be left out, `missing` which texts may stand for a null; `skeleton` is
a domain to begin with.
"""

from nbcfast.domains.declarations import Declarations as Declarations
from nbcfast.domains.declarations import Declared, declared
from nbcfast.domains.identifying import names_people
from nbcfast.domains.menu import Menu
from nbcfast.domains.option import Option
from nbcfast.domains.ready_made import ready_made
from nbcfast.domains.skeleton import skeleton

__all__ = ["Declared", "Menu", "Option", "declared", "names_people", "ready_made", "skeleton"]
