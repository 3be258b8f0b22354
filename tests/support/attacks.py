"""Names that run something if a shell ever reads them as code, and the shells to try them with."""

import shutil

IN_SUBSCRIPT = "a[$(touch X)]"
ATTACKS = [
    "$(touch X)", "`touch X`", "'; touch X; '", '"; touch X; "', "x'\"; touch X; \"'", "a\ntouch X\nb", "a\nEOF\ntouch X\n",
    IN_SUBSCRIPT, "\\'; touch X; #", '\\"; touch X; #', ") ; touch X; (", "1)); touch X; : $((1", "${IFS}touch X",
    "-n", "--help", "a b  c", "*", "~", "it's", "x\n", "$PARETOPICK_NUMBER", "{level}", "", "\t", "&", "ä\N{PILE OF POO}",
]  # fmt: skip
"""Names of options that run something if a shell ever reads them as code, or do not arrive as they are."""


def shells() -> list[str]:
    return ["/bin/sh", *filter(None, [shutil.which("bash"), shutil.which("busybox")])][:2]
