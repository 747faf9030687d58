"""Where a number stands before what it counts, in a template and in what is said."""

import re

NOUNS = """answers bytes cells changes characters classes columns digits entries exercises features files gradients groups
heads keys layers lessons letters levels merges minutes models multiplications numbers others pages pairs parameters
places points positions products queries questions rows scores seconds sentences sets sheets stops tokens values
vectors votes weights windows words steps runs times""".split()
ENDS = "is are was were has have gets get goes gives puts takes keeps sees adds add the and or to of in on at with these as"
SEVERAL = rf"(?:(?!(?:{'|'.join(ENDS.split())})\b)[a-z/’-]+ ){{0,2}}(?:{'|'.join(NOUNS)})\b(?! (?:as|once)\b)"
COUNTED = re.compile(rf"\{{(\w+)\}} {SEVERAL}")  # {count} new tokens
ONE_OF_MANY = re.compile(rf"(?<![\w.,%/×÷·−–^=(])1 {SEVERAL}")  # 1 new tokens
PLURAL_VERBS = "are|were|have|differ|give|get|go|look|put|reach|share|occur|flip|fit"
COUNTED_OF = re.compile(rf"\{{(\w+)\}} of (?:the )?\{{\w+\}} (?:[a-z-]+ ){{0,3}}(?:{PLURAL_VERBS})\b")  # {n} of {m} differ
ONE_DIFFER = re.compile(rf"(?<![\w.,%/×÷·−–^=(])1 of (?:the )?[\d,]+ (?:[a-z-]+ ){{0,3}}(?:{PLURAL_VERBS})\b")
