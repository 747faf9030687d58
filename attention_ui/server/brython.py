"""Brython, Python in the browser: the files of its installed package, with some of its mistakes mended."""

from importlib.resources import files
from importlib.resources.abc import Traversable

ASKED = (
    "$B.rich_comp(op,x_value,extr_value)",  # in max and min
    '$B.rich_comp("__lt__",a,b)',  # in sort
    "$B.rich_comp('__eq__',a,b)",
    "$B.rich_comp('__eq__',x,y)",  # in `in` and count, and where lists are compared
    "$B.rich_comp('__eq__',$.x,self[i])",  # in index
    '$B.rich_comp("__eq__",$.self[i],$.x)',  # in remove
)
# What stands in brython.js of version 3.15.0, and what should.
MENDED = (
    # A comparison may return an object that stands for no, as a tensor does; Brython takes every object for a yes.
    *((asked, f"$B.$bool({asked})") for asked in ASKED),
    # x < y < z is x < y and y < z.
    (
        "return comps.join(' && ')",
        "return comps.reduceRight((rest, first) => `($B.$bool(locals.$test = ${first}) ? ${rest} : locals.$test)`)",
    ),
    # Of two objects of one class, the left one compares.
    (
        "if($B.get_mro(y.ob_type).indexOf(x.ob_type)>-1)",
        "if(y.ob_type !== x.ob_type && $B.get_mro(y.ob_type).indexOf(x.ob_type)>-1)",
    ),
    # 2.0 ** True, and True ** 2.0
    (
        "function conv_num(x){if(typeof x=='number'){return x}",
        "function conv_num(x){if(typeof x=='number' || typeof x=='boolean'){return Number(x)}",
    ),
    # () * n, and (1,) * -n.
    ("if(self.length==0 ||other < 0){return cls.tp_new(cls)}", "if(self.length==0 ||other < 0){other=0}"),
    # What was called like the variable of a comprehension is there again when that is through, or has failed.
    (
        "for(var name of save_locals){js+=prefix+`var save_",
        "for(var name of bindings){if(! save_locals.has(name)){"
        "js+=prefix+`var save_${name} = ${comp.locals_name}.${name}\\n`}}"
        "for(var name of save_locals){js+=prefix+`var save_",
    ),
    (
        "js+=prefix+`delete ${comp.locals_name}.${comp_name}\\n`",
        "js+=prefix+`if (save_${comp_name} === undefined) {delete ${comp.locals_name}.${comp_name}} "
        "else {${comp.locals_name}.${comp_name} = save_${comp_name}}\\n`",
    ),
    (
        "prefix+`throw err\\n`\ndedent()\njs+=prefix+`}\\n`+\n(has_await",
        "prefix+`throw err\\n`\ndedent()\njs+=prefix+`} finally {\\n`+\n(has_await",
    ),
    ("js+=prefix+`return result_${id}\\n`", "js+=prefix+`}\\n`+prefix+`return result_${id}\\n`"),
)


def package_file(name: str) -> Traversable:
    """A file of the installed package."""
    return files("brython") / "data" / name


def interpreter() -> str:
    """The script that runs Python. Raises ValueError where the package is not the version whose mistakes are known."""
    script = package_file("brython.js").read_text(encoding="utf-8")
    for wrong, right in MENDED:
        if wrong not in script:
            raise ValueError(f"brython.js: expected the text of version 3.15.0, found none of {wrong}; see MENDED")
        script = script.replace(wrong, right)
    return script
