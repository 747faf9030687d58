"""Where a number stands before what it counts, in a template and in what is said."""

import re

NOUNS = (
    "answers|bytes|cells|changes|characters|classes|columns|digits|entries|exercises|features|files|gradients|groups|"
    "heads|keys|layers|lessons|letters|levels|merges|minutes|models|multiplications|numbers|others|pages|pairs|"
    "parameters|places|points|positions|products|queries|questions|rows|runs|scores|seconds|sentences|sets|sheets|"
    "steps|stops|times|tokens|values|vectors|votes|weights|windows|words"
)
ENDS = "is|are|was|were|has|have|gets?|goes|gives|puts|takes|keeps|sees|adds?|brings|runs|swap|share|the|and|or|to|of"
VERBS = "are|were|have|differ|give|get|go|look|put|reach|occur|flip|fit"
SEVERAL = rf"(?:(?!(?:{ENDS})\b)[a-z/’-]+ ){{0,2}}(?:{NOUNS})\b(?! (?:as|d_q|the code)\b)"  # not “{n} times as many”
AGREE = rf"(?:[a-z-]+ ){{0,3}}(?:{VERBS})\b"
ONE = r"(?<![\w.,%/×÷·−–^=(])(?<!token )1"
COUNTED = re.compile(rf"(?<!√)\{{(\w+)\}} {SEVERAL}|\{{(\w+)\}} of (?:the )?\{{\w+\}} {AGREE}")
WRONG = re.compile(rf"{ONE} {SEVERAL}|{ONE} of (?:the )?[\d,]+ {AGREE}")  # “1 tokens”, “1 of 12 entries differ”
