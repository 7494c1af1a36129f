"""What was recognised becomes what is typed: ordered pure rules, each one a setting.

    text -> fillers -> spoken commands -> numbers -> replacements -> casing -> leading space -> trailing text

Rules know no clock, no window and no model; what they need of the world comes in a `Situation`.
"""

from dictation.rewrite.chain import RewriteOptions, Rewritten, Situation, rewrite
from dictation.rewrite.replacements import Replacement, RuleError

__all__ = ["Replacement", "RewriteOptions", "Rewritten", "RuleError", "Situation", "rewrite"]
